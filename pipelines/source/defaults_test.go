package source

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// A pipeline that writes a default as the reference says it is the same as one that leaves
// the field out.
func TestDefaultsOfTheReference(t *testing.T) {
	parallel := &pipelines.Pipeline{Parallel: true}
	parallel.TakeJobs()
	wait, fixes := pipelines.CI{}.Most()
	// Those that a pipeline does not hold are filled in where they are read.
	read := []string{
		fmt.Sprintf("jobs: %d", parallel.Jobs), fmt.Sprintf(`ci: wait: "%.0fm"`, wait.Minutes()), fmt.Sprintf("ci: fixes: %d", fixes),
		`transcripts: keep: "14d"`, `sandbox: file: "1GB"`, `sandbox: disk: "4GB"`, `finish: "remove"`, `base: update: "before-ready"`, `split: review: "both"`,
	}
	page := testenv.Read(t, referencePage)
	const phases = "\nphases: [{name: \"one\", goal: \"x\"}]"
	literal := regexp.MustCompile("(?m)^\\| `([a-z_.]+)` \\| [^|]* \\| `?(\"[^\"]*\"|[0-9]+|true|false)`? \\|")
	held := 0
	for section, place := range map[string]string{
		"Pipeline": "%s" + phases, "Budget": "budget: %s" + phases, "Defaults": "defaults: %s" + phases,
		"Retry": "defaults: retry: %s" + phases, "Phase": "phases: [{name: \"one\", goal: \"x\"} & %s]",
	} {
		_, rows, _ := strings.Cut(page, "\n## "+section+"\n")
		rows, _, _ = strings.Cut(rows, "\n## ")
		for _, m := range literal.FindAllStringSubmatch(rows, -1) {
			said := strings.ReplaceAll(m[1], ".", ": ") + ": " + m[2]
			if slices.Contains(read, said) {
				continue
			}
			held++
			without, with := resolve(t, fmt.Sprintf(place, "{}")), resolve(t, fmt.Sprintf(place, "{"+said+"}"))
			without.Origins, with.Origins = nil, nil
			if diff := cmp.Diff(without, with); diff != "" {
				t.Errorf("%s: it says %s (-left out +written):\n%s", section, said, diff)
			}
		}
	}
	if held < 20 {
		t.Errorf("only %d defaults were held", held)
	}
}
