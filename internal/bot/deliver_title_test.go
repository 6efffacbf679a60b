package bot

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

func TestOf(t *testing.T) {
	with, plain := []string{"feat: a", "fix(api): b", "docs!: c", "chore(deps)!: d"}, []string{"Add a", "Mend b"}
	conventional := slices.Repeat(with, 3)
	run := func(pipeline, report string, labels ...string) metadata.Run {
		return metadata.Run{
			Pipeline: metadata.Pipeline{Name: pipeline}, Issue: metadata.Issue{Labels: labels},
			Phases: metadata.Phases{{Name: "plan", Status: metadata.PhaseCompleted, Report: json.RawMessage(report)}, {Name: "code", Report: json.RawMessage(`{"kind": "docs"}`)}},
		}
	}
	for name, tt := range map[string]struct {
		title    string
		run      metadata.Run
		subjects []string
		want     string
	}{
		"no commits":                 {"Say hello", run("fix", "{}"), nil, "Say hello"},
		"plain ones":                 {"Say hello", run("fix", "{}"), slices.Repeat(plain, 10), "Say hello"},
		"too few":                    {"Say hello", run("fix", "{}"), with, "Say hello"},
		"all":                        {"Say hello", run("fix", "{}"), conventional, "fix: Say hello"},
		"merges do not count":        {"Say hello", run("fix", "{}"), append(slices.Repeat([]string{"Merge pull request #7 from a/b"}, 20), conventional...), "fix: Say hello"},
		"four in five":               {"Say hello", run("fix", "{}"), append([]string{"Add a", "Mend b", "Mend c"}, conventional...), "fix: Say hello"},
		"fewer than four in five":    {"Say hello", run("fix", "{}"), append([]string{"Add a", "Mend b", "Mend c", "d"}, conventional...), "Say hello"},
		"older ones do not count":    {"Say hello", run("fix", "{}"), append(slices.Repeat(plain, 25), slices.Repeat(with, 100)...), "Say hello"},
		"it has a kind":              {"docs(cli): Say hello", run("fix", "{}"), conventional, "docs(cli): Say hello"},
		"a colon is no kind":         {"Note: say hello", run("fix", "{}"), conventional, "fix: Note: say hello"},
		"a report says it":           {"Say hello", run("full", `{"kind": "Refactoring"}`), conventional, "refactor: Say hello"},
		"a report of another shape":  {"Say hello", run("fix", `[1]`), conventional, "fix: Say hello"},
		"a kind that nobody knows":   {"Say hello", run("fix", `{"kind": "x: y"}`), conventional, "fix: Say hello"},
		"a kind that is no text":     {"Say hello", run("fix", `{"kind": 3}`), conventional, "fix: Say hello"},
		"a label":                    {"Say hello", run("full", "{}", "help", "Documentation"), conventional, "docs: Say hello"},
		"a label for the pipeline":   {"Say hello", run("own", "{}", "reprise:refactor"), conventional, "refactor: Say hello"},
		"the pipeline before labels": {"Say hello", run("test", "{}", "bug"), conventional, "test: Say hello"},
		"nothing says it":            {"Say hello", run("full", "{}"), conventional, "feat: Say hello"},
	} {
		if got := titleOf(tt.title, tt.run, tt.subjects); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}
