package eval

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// evaluates makes the test program an evaluation that a test kills.
const evaluates = "evaluate-until-killed"

// TestMain makes the test program evaluate CUE when it is started again for that, as the
// hidden command does for reprise.
func TestMain(m *testing.M) {
	switch {
	case slices.Equal(os.Args[1:], []string{workspace.EvaluateCommand}):
		os.Exit(source.Child(os.Stdin, os.Stdout))
	case len(os.Args) == 3 && os.Args[1] == evaluates:
		os.Exit(evaluateUntilKilled(os.Args[2]))
	}
	testenv.Main(m)
}

// folder makes a folder with files, by their paths.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		testenv.Must(t, testenv.PutText(filepath.Join(dir, filepath.FromSlash(name)), text))
	}
	return dir
}
