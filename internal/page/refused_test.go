package page

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/metadata"
)

// A command with an argument that the run does not have is one all the same: the reply says what is wrong, and what
// there is instead.
func TestAWrongArgumentIsStillACommand(t *testing.T) {
	d := command.Denial{Code: metadata.NothingDone, By: "ada", What: "/rollback", Known: true, Why: metadata.Because("no_such_phase", "phase", "desing", "phases", []string{"design", "code"})}
	said := RefusalReply("<!-- m -->", "en", d)
	if !strings.Contains(said, `there is no phase "desing" in this run; its phases are design, code`) {
		t.Errorf("the reply is\n%s", said)
	}
}
