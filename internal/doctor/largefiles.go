package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// largeFiles looks at the git-lfs of a repository that uses Git LFS: whether it is set up,
// and starts where a run has it convert files, in the sandbox.
func largeFiles(ctx context.Context, env environ.Env, src *git.Source) []Check {
	const name = "Git LFS"
	large, err := src.UsesLFS(ctx)
	switch {
	case err != nil:
		return []Check{hinted(name, err.Error(), "")}
	case !large:
		return nil
	case src.LFS() == "":
		return []Check{hinted(name, "it is not set up here: agents and checks see pointers instead of the files that it keeps, and cannot change these", "install git-lfs, and run git lfs install")}
	}
	if err := startsHeld(ctx, env, src.LFS()); err != nil {
		if saysSo(ctx, env, []string{src.LFS(), "version"}, plainEnv(env)) != nil {
			return []Check{lacking(name, fmt.Sprintf("%s does not work: %v", src.LFS(), err), "install it again, or run git lfs uninstall to do without it")}
		}
		return []Check{lacking(name, fmt.Sprintf("%s does not work in the sandbox: %v", src.LFS(), err), "install it where programs of the system are, or start without a sandbox (--sandbox off)")}
	}
	return []Check{well(name, src.LFS()+": agents and checks have the files that it keeps, and what they change is uploaded with the push")}
}

// startsHeld has git-lfs say its version in the sandbox, if the system has one.
func startsHeld(ctx context.Context, env environ.Env, program string) error {
	helper, err := workspace.SandboxHelper()
	if err != nil {
		return err
	}
	write, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(write) }() // a temporary folder; the system removes what is left
	hold := sandbox.Converters(sandbox.BestEffort, helper, env.Environ)
	argv, vars, err := hold([]string{program, "version"}, plainEnv(env), nil, write)
	if err != nil {
		return err
	}
	return saysSo(ctx, env, argv, vars)
}

// saysSo runs a program that says its version, and gives what it says if it fails.
func saysSo(ctx context.Context, env environ.Env, argv, vars []string) error {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.WaitDelay = os.TempDir(), vars, time.Second
	out, err := c.CombinedOutput()
	if err != nil {
		return errors.New(cmp.Or(text.Cut(text.Flat(env.Finder().Mask(string(out))), 300), err.Error()))
	}
	return nil
}

// plainEnv is what a program sees that is only asked for its version: no key and no token.
func plainEnv(env environ.Env) (vars []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		vars = append(vars, name+"="+env.Getenv(name))
	}
	return vars
}
