package doctor

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// writable looks at whether the repository takes commits.
func writable(src *git.Source) []Check {
	for _, dir := range []string{src.CommonDir, filepath.Join(src.CommonDir, "objects"), filepath.Join(src.CommonDir, "refs")} {
		if err := unix.Access(dir, unix.W_OK|unix.X_OK); err != nil {
			return []Check{lacking("repository", fmt.Sprintf("nothing can be written in %s (%v), so a run could commit nothing", dir, err), "change its rights or its owner")}
		}
	}
	return nil
}

// lost finds runs of this repository whose folders have got to commits that
// are not in it any more.
func lost(ctx context.Context, env environ.Env, src *git.Source) []Check {
	one, err := workspace.HomeFolder(env, src, "any")
	if err != nil {
		return nil // the check of the folder says so
	}
	runs, err := os.ReadDir(filepath.Dir(one))
	if err != nil {
		return nil // there is none yet
	}
	var checks []Check
	for _, run := range runs {
		root := filepath.Join(filepath.Dir(one), run.Name())
		commit, err := src.Lost(ctx, root, env.Branch(run.Name()))
		switch {
		case err != nil:
			checks = append(checks, hinted("folder", fmt.Sprintf("%s: %v", root, err), ""))
		case commit != "":
			checks = append(checks, hinted("folder", fmt.Sprintf("%s had got to commit %.12s, which is not in this repository any more", root, commit), "the next start makes the folder anew"))
		}
	}
	return checks
}
