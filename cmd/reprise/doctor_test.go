package main

import (
	"bytes"
	"testing"

	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// What comes from outside cannot forge a line or colour one.
func TestShowChecks(t *testing.T) {
	var b bytes.Buffer
	showChecks(terminal.NewReport(&b, terminal.Options{}), []doctor.Check{
		{Name: "git", Status: doctor.Fine, Found: "version 2"}, {Name: "workflow", Status: doctor.Hint, Found: "a\n✗ b\x1b[31m", Do: "do\nthis"}, {Name: "token", Status: doctor.Missing, Found: "none"},
	})
	want := "✓ git       version 2\n! workflow  a ✗ b␛[31m\n    → do this\n✗ token     none\n\n1 thing would stop a run; 1 hint.\n"
	testenv.Same(t, "shown", want, b.String())
	for _, tt := range []struct {
		missing, hints int
		want           string
	}{{0, 0, "Nothing is missing."}, {0, 2, "Nothing is missing; 2 hints."}, {2, 0, "2 things would stop a run."}} {
		if got := inSum(tt.missing, tt.hints); got != tt.want {
			t.Errorf("%d, %d: %s", tt.missing, tt.hints, got)
		}
	}
}
