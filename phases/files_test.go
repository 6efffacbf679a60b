package phases

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// What checks printed stays in its block of code, whatever it is.
func TestChecksText(t *testing.T) {
	got := WrittenChecks("en", "code", []metadata.CheckResult{
		{Name: "unit", Run: "go test ./...", ExitCode: 1, Output: "\n  FAIL\n```\n# Not a heading\n"},
		{Name: "lint", Run: "go vet ./...", Pass: true},
	})
	want := "# Checks of code: fail\n\n## unit: exit code 1\n\n```\ngo test ./...\n```\n\nIt printed:\n\n````\n  FAIL\n```\n# Not a heading\n````\n" +
		"\n## lint: exit code 0\n\n```\ngo vet ./...\n```\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// What a record may name as its language, there are words for.
func TestLanguages(t *testing.T) {
	for _, language := range metadata.Languages() {
		if got := prompts.Words(language).Language; got != language {
			t.Errorf("%s has the words of %s", language, got)
		}
	}
}
