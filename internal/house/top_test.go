package house_test

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// topLevel is all that lies at the top of the repository, besides files that
// hosts and tools look for there.
var topLevel = []string{
	"README.md", "README.ja.md", "CONTRIBUTING.md", "LICENSE", "SECURITY.md", "CODE_OF_CONDUCT.md", "CHANGELOG.md", "action.yml", "go.mod", "go.sum",
	"cmd", "docs", "examples", "internal", "metadata", "phases", "pipelines", "prompts",
}

func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !slices.Contains(topLevel, e.Name()) {
			t.Errorf("%s lies at the top: move it below internal, docs or examples", e.Name())
		}
	}
}
