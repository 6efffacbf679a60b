package phases

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

func TestCancelRefuses(t *testing.T) {
	run, err := Cancel(freshRun(testPlan()), "enough", t0)
	testenv.Must(t, err)
	if _, err := Cancel(run, "enough", t0); !strings.Contains(refused(err), "cancelled already") {
		t.Errorf("a second cancel: %v", err)
	}
	run.Status, run.Stop = metadata.Completed, nil
	if _, err := Cancel(run, "enough", t0); !strings.Contains(refused(err), "completed") {
		t.Errorf("cancel of a completed run: %v", err)
	}
}

// Commands are numbered by their comments, whatever text stands in the cursor.
func TestTaken(t *testing.T) {
	run := freshRun(testPlan())
	if Taken(run, 1) {
		t.Error("a new run has taken a command")
	}
	run = Take(run, run, Command{Name: "run", Text: "/run --agent " + strings.Repeat("a", 400), Comment: 9, Why: "asked", At: t0})
	run = Take(run, run, Command{Name: "status", Why: "no comment of its own", At: t0})
	for id, want := range map[int64]bool{8: true, 9: true, 10: false, 90: false} {
		if Taken(run, id) != want {
			t.Errorf("comment %d: taken is %v", id, !want)
		}
	}
	if got := run.Decisions[len(run.Decisions)-2].Command; len(got) != mostCommand+len("…") || !strings.HasPrefix(got, "/run --agent aaa") {
		t.Errorf("the record has the command %q", got)
	}
}
