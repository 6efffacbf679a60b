package terminal

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
)

// The title of a group of the log is how the step ended; what an agent does is
// a group while it does it.
func TestGroupsCarryTheirResult(t *testing.T) {
	for name, verbose := range map[string]bool{"groups": false, "groups-verbose": true} {
		p := progresstest.Plays(t, "en")["middle"]
		var b strings.Builder
		open := false
		v := NewView(&b, Options{Plan: p.Plan, Verbose: verbose, Group: func(title string) {
			if open {
				b.WriteString("::endgroup::\n")
			}
			if open = title != ""; open {
				b.WriteString("::group::" + title + "\n")
			}
		}})
		for _, e := range p.Events {
			v.Report(e)
		}
		v.Close()
		if open {
			t.Error("a group is left open")
		}
		progresstest.Golden(t, "log-"+name+".txt", b.String())
	}
}
