package terminal

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// In a terminal, too, nothing that reprise says about a Japanese run is in
// English. Command lines are code, codes and names are names.
func TestShownInJapanese(t *testing.T) {
	skip := regexp.MustCompile(`reprise [a-z]+ --issue.*|/[a-z]+ on |--[a-z-]+`)
	for name, p := range progresstest.Plays(t, "ja") {
		back, err := phases.PlanRollback(p.Course, phases.Rollback{To: p.Run.Phases[0].Name, Step: metadata.Execute, Reason: "やり直す", At: progresstest.Nine, Trigger: metadata.Manual})
		record, wrong := json.Marshal(p.Run)
		if wrong != nil {
			t.Fatal(wrong)
		}
		said := strings.Join(strings.Fields(strings.NewReplacer(`\n`, " ", "_", " ").Replace(string(record))), " ") // what others say in it, in whatever language
		var b bytes.Buffer
		written := "" // it has words of its own
		ShowStatus(&b, p.Course, Options{})
		ShowHistory(&b, p.Run, Options{})
		if err == nil {
			written = string(phases.WrittenReason(back))
			ShowRollback(&b, p.Plan, back, true, Options{})
		}
		for line := range strings.Lines(b.String()) {
			if strings.HasPrefix(line, "          ") || strings.Contains(written, strings.TrimSpace(line)) {
				continue // what a check has printed
			}
			for part := range strings.SplitSeq(skip.ReplaceAllString(line, "、"), ": ") {
				for part := range strings.SplitSeq(part, "; ") {
					if found := testenv.English(part); !strings.Contains(said, strings.Join(strings.Fields(found), " ")) {
						t.Errorf("%s: %q in %s", name, found, line)
					}
				}
			}
		}
	}
}
