package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
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
	testenv.Same(t, "the files", want, got)
}

// What a record may name as its language, there are words for.
func TestLanguages(t *testing.T) {
	for _, language := range metadata.Languages() {
		testenv.Is(t, language+" has the words of", prompts.Words(language).Language, language)
	}
}
