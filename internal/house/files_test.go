package house_test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// root is the top of the repository, seen from this folder.
const root = "../.."

// files gives the paths, from the top of the repository, of its own files for
// which keep is true. Recorded data and installed packages are not its own.
func files(t *testing.T, keep func(name string) bool) []string {
	t.Helper()
	var found []string
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && slices.Contains([]string{".git", "node_modules", "testdata", "dist"}, d.Name()):
			return filepath.SkipDir
		case !d.IsDir() && keep(name):
			found = append(found, name)
		}
		return nil
	})
	testenv.Must(t, err)
	if len(found) == 0 {
		t.Fatal("found no file to check: is this the repository?")
	}
	return found
}

// goFiles gives the Go files that end up in programs, for every system and
// with every build tag.
func goFiles(t *testing.T) []string {
	t.Helper()
	return files(t, func(name string) bool {
		return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
	})
}

// documents gives the Markdown files that are written for people; those of
// the prompts are written for agents.
func documents(t *testing.T) []string {
	t.Helper()
	return files(t, func(name string) bool {
		return path.Ext(name) == ".md" && !strings.HasPrefix(name, "prompts/")
	})
}

func read(t *testing.T, name string) string {
	t.Helper()
	return testenv.Read(t, filepath.Join(root, filepath.FromSlash(name)))
}

// scripts gives the paths, from the top of the repository, of the tests that
// are scripts.
func scripts(t *testing.T) []string {
	t.Helper()
	found, err := fs.Glob(os.DirFS(root), "internal/scripts/testdata/*/*.txtar")
	if err != nil || len(found) == 0 {
		t.Fatalf("found no script (%v): is this the repository?", err)
	}
	return found
}
