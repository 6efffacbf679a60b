package terminal

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
)

// What people have written for a phase is not told as the work of an agent of that name.
func TestGivenByAPerson(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	rec := &p.Run.Phases[0]
	p.Run.ExternalDocuments = map[string]string{rec.Name: "docs/spec.md"}
	p.Run.Attempts[rec.Written-1].Agent = metadata.Given
	var history, status strings.Builder
	ShowHistory(&history, p.Run, Options{})
	ShowStatus(&status, p.Course, Options{})
	for _, told := range []string{history.String(), status.String()} {
		if !strings.Contains(told, "given by a person: docs/spec.md") || strings.Contains(told, " given ") && !strings.Contains(told, "given by") {
			t.Errorf("it says:\n%s", told)
		}
	}
	if !strings.Contains(history.String(), "a person") {
		t.Errorf("the history says:\n%s", history.String())
	}
}
