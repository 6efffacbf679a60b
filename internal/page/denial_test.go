package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// A command that has no effect on a run that goes on was not put off: nobody is told that
// it will be taken, or that another job is at work. Where one is, that is said.
func TestNotPutOff(t *testing.T) {
	for known, want := range map[bool]string{true: "This command cannot be carried out: the run has not stopped", false: "A job works on this issue: another one, or the one that answers: the run has not stopped"} {
		d := Denial{Code: metadata.AlreadyRunning, By: "ada", What: "/retry", Why: metadata.Because("retry_running"), Known: known}
		got := RefusalReply("<!-- x -->", "en", d)
		if !strings.Contains(got, want) {
			t.Errorf("known %v: it lacks %q:\n%s", known, want, got)
		}
		if later := strings.Contains(got, "the job at work takes your command"); later == known {
			t.Errorf("known %v: says that it is taken later: %v\n%s", known, later, got)
		}
	}
}
