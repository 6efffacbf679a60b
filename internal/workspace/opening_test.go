package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// openWith opens a run of an issue in a file, in a repository of its own.
func openWith(t *testing.T, b Backend) error {
	t.Helper()
	dir := t.TempDir()
	repo, file := filepath.Join(dir, "a repo"), filepath.Join(dir, "7.md")
	for _, args := range [][]string{{"init", "-q", "-b", "main", repo}, {"-C", repo, "commit", "-q", "--allow-empty", "-m", "begin"}} {
		if _, err := testenv.Git(dir, args...); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(file, []byte("# Greet\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	b.Find = git.Find
	o := Options{Repo: repo}
	o.File = file
	env := environ.Env{Environ: append(os.Environ(), "REPRISE_HOME="+filepath.Join(dir, "home")), Now: time.Now}
	env.SecretFinder = env.Finder()
	_, err := Open(WithBackend(t.Context(), b), env, o)
	return err
}

// What is wrong with the definition of a new run is told when its branch is there, and leaves
// no folder.
func TestWronglyDefined(t *testing.T) {
	t.Parallel()
	noPipeline := errors.New("there is no such pipeline")
	root := ""
	err := openWith(t, Backend{
		Define: func(context.Context, *git.Source, issue.Issue, Choice) (Definition, error) {
			return Definition{}, noPipeline
		},
		Open: func(ctx context.Context, o git.Options) (Checkout, error) {
			root = o.Root
			return git.Open(ctx, o)
		},
	})
	if _, none := os.Stat(root); !errors.Is(err, noPipeline) || !errors.Is(none, os.ErrNotExist) {
		t.Errorf("the error is %v, and of the folder %v", err, none)
	}
}
