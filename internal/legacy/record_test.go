package legacy

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func read(text string) (*olderRun, error) {
	old := &olderRun{Name: "old.json"}
	return old, old.parse([]byte(text))
}

// What cannot be kept is named and never repeated: it may be a secret.
func TestWhatIsNotTaken(t *testing.T) {
	data := testenv.Read(t, filepath.Join("testdata", "import", "done.json"))
	old, err := read(data)
	testenv.Must(t, err)
	if old.Repository != "octo/hello" || old.PRURL != "" || old.Phases["planning"].Retries != 0 || old.Cost.USD != 10.5 || old.Design.TestCodeStrategy != "BOTH_TEST" {
		t.Errorf("%+v", old.record)
	}
	var dropped []string
	for _, n := range old.Notes {
		if strings.Contains(n.Why, "hunter2") {
			t.Errorf("tells a secret: %s", n.Why)
		}
		dropped = append(dropped, n.What)
	}
	if diff := cmp.Diff([]string{"external_documents.notes", "model_config", "pr_url", "resume_token", "rollback_history"}, dropped); diff != "" {
		t.Errorf("dropped (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{"test_scenario": "The limits are missing.", "implementation": "evaluation decided that implementation has to be done again.", "testing": ""} {
		if _, why := old.sentBack(name); why != want {
			t.Errorf("%s is told %q, want %q", name, why, want)
		}
	}
}

func TestRefused(t *testing.T) {
	const phases = `"phases": {"planning": {"status": "completed"}}`
	for name, tt := range map[string]struct{ text, want string }{
		"cut off":     {`{"issue_number": "7", "phas`, "old.json:1:28: it ends in the middle: it was cut off"},
		"no object":   {"[]", "old.json:1:1: a list does not fit here; an object is expected"},
		"nothing":     {"{}", "old.json:1:1: issue_number: is missing\nold.json:1:1: phases: are missing: this is not a record of a run"},
		"one of ours": {`{"schema": 1, "issue_number": 7, ` + phases + `}`, "old.json:1:2: schema: this is a record of reprise already: continue it with run"},
		"a wrong status": {
			"{\n\"issue_number\": \"7\",\n\"phases\": {\"planning\": {\"status\": \"fine\"}}}",
			`old.json:3:25: phases.planning.status: "fine" is not one of pending, in_progress, completed, failed, skipped`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := read(tt.text); err == nil || err.Error() != tt.want {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	if old, err := read(`{"issue_number": 7, "phases": {"a": {"status": null, "retry_count": null}, "b": null}}`); err != nil || !slices.Equal([]string{string(old.Phases["a"].Status), string(old.Phases["b"].Status)}, []string{"pending", "pending"}) {
		t.Errorf("null is pending: %v", err)
	}
}
