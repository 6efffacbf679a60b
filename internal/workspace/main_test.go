package workspace

import (
	"os"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// TestMain makes the test program evaluate CUE when Evaluator starts it again, as
// the hidden command does for reprise.
func TestMain(m *testing.M) {
	if slices.Equal(os.Args[1:], []string{EvaluateCommand}) {
		os.Exit(source.Child(os.Stdin, os.Stdout))
	}
	testenv.InMemory()
	testenv.Main(m)
}
