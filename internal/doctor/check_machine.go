package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// leastGit is the first version of git that can say where a repository is in
// the form that is asked for, and that takes settings from its environment.
const leastGit = "2.31"

func (x *examination) git(ctx context.Context) []Check {
	path, err := exec.LookPath("git")
	if err != nil {
		return []Check{lacking("git", "there is no program git in PATH", "install git "+leastGit+" or newer")}
	}
	v, err := saysVersion(ctx, x.env, path)
	switch {
	case err != nil:
		return []Check{lacking("git", path+": "+err.Error(), "install git "+leastGit+" or newer")}
	case olderThan(v, leastGit):
		return []Check{lacking("git", "version "+v+" is too old", "install git "+leastGit+" or newer")}
	}
	return []Check{well("git", "version "+v)}
}

// folder looks at where runs live: it has to be a place to write.
func (x *examination) folder(src *git.Source) []Check {
	const name = "folder"
	where, err := workspace.HomeFolder(x.env, src, x.is.ID)
	if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	there, err := nearest(where)
	if err != nil {
		return []Check{lacking(name, err.Error(), "name another folder in REPRISE_HOME")}
	}
	if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
		return []Check{lacking(name, "nothing can be written in "+there, "change its rights, or name another folder in REPRISE_HOME")}
	}
	return []Check{well(name, there)}
}

// nearest is the folder itself or the first above it that is there.
func nearest(dir string) (string, error) {
	for {
		info, err := os.Stat(dir)
		switch {
		case err == nil && !info.IsDir():
			return "", fmt.Errorf("%s is no folder", dir)
		case err == nil:
			return dir, nil
		case !errors.Is(err, fs.ErrNotExist) || filepath.Dir(dir) == dir:
			return "", err
		}
		dir = filepath.Dir(dir)
	}
}

var versionNumber = text.Pattern(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// programTime is the longest that a program may take to say its version.
const programTime = 20 * time.Second

// saysVersion asks a program for its version.
func saysVersion(ctx context.Context, env environ.Env, program string) (string, error) {
	said, err := says(ctx, env, []string{program, "--version"}, plainEnv(env))
	switch v := versionNumber().FindString(said); {
	case v != "":
		return v, nil
	case err != nil:
		return "", err
	}
	return "", errors.New("it says no version")
}

// says runs a program that says its version, and gives what it says.
func says(ctx context.Context, env environ.Env, argv, vars []string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	c := exec.CommandContext(ctx, argv[0], argv[1:]...)
	c.Dir, c.Env, c.WaitDelay = os.TempDir(), vars, time.Second
	out, err := c.Output()
	if ctx.Err() != nil {
		return "", fmt.Errorf("it did not say its version within %s: %w", programTime, ctx.Err())
	}
	if failed, is := errors.AsType[*exec.ExitError](err); is {
		err = errors.New(cmp.Or(text.Cut(text.Flat(env.Finder().Mask(string(failed.Stderr))), 300), err.Error()))
	}
	return string(out), err
}

// plainEnv is what a program sees that is only asked for its version: no key and no token.
func plainEnv(env environ.Env) (vars []string) {
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		vars = append(vars, name+"="+env.Getenv(name))
	}
	return vars
}

// olderThan compares versions such as 2.39.5 by their first two numbers.
func olderThan(v, least string) bool {
	return semver.Compare(series(v), series(least)) < 0
}

// series gives the first two numbers of a version, as v2.39; nothing for what is
// no version.
func series(v string) string { return semver.MajorMinor("v" + v) }

// sandbox tries whether the sandbox holds, with a file that a program in it
// must not be able to read.
func (x *examination) sandbox(ctx context.Context) []Check {
	const name = "sandbox"
	root, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return []Check{lacking(name, err.Error(), "name a folder for temporary files in TMPDIR")}
	}
	defer os.RemoveAll(root) // a temporary folder; the system removes what is left
	helper, err := workspace.SandboxHelper()
	if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	box := sandbox.Sandbox{}
	if x.plan != nil {
		box = workspace.SandboxOf(x.plan)
	}
	box.Helper, box.State = helper, filepath.Join(root, "homes")
	opts, _, err := agents.Options{Environ: x.env.Environ}.Contain(sandbox.Required, box)
	if err != nil {
		return []Check{hinted(name, err.Error(), "without one, agents and checks can reach all that you can; the action wants one, unless its input says otherwise")}
	}
	held, err := holds(ctx, opts, root)
	switch {
	case err != nil:
		return []Check{lacking(name, "it cannot be entered: "+err.Error(), "do without, with --sandbox off")}
	case !held:
		return []Check{lacking(name, "it does not hold: a program in it read a file that it must not", "use another machine, or do without, with --sandbox off")}
	}
	return keeping(opts)
}

// keeping says what the sandbox of this machine holds, and what not.
func keeping(opts agents.Options) []Check {
	held := *opts.Confinement().Held // they are contained
	box := well("sandbox", fmt.Sprintf("in force (Landlock %d): keeps programs from files, memory and environment of others", held.Landlock))
	if !held.Own {
		box.Found += "; programs have no socket files of their own, unless the pipeline says `sandbox: sockets: true`"
	}
	if held.Together == sandbox.Namespaces {
		box.Found += "; a call has namespaces of its own: all that it starts ends with it"
	}
	if lacks := held.Lacks(); len(lacks) > 0 {
		box = hinted(box.Name, box.Found+"; but "+strings.Join(lacks, "; "), "run reprise on a machine, or as a user that is not root, with nothing else to reach, who may make user namespaces and control groups: see user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns in sysctl")
	}
	box.Found += ". It does not keep them from the network where the pipeline leaves it open, from memory of the machine, and from modes and owners of files that the user may change"
	if os.Geteuid() == 0 {
		box = hinted(box.Name, box.Found+"; nor, for root, from what only root may read in /etc", text.Join("; ", box.Do, "run reprise as a user that is not root"))
	}
	return []Check{box, well("limits", held.Limits.String())}
}

// holds reports whether a file in root, which has nothing else, is out of reach
// for a program that may work in a folder beside it.
func holds(ctx context.Context, opts agents.Options, root string) (bool, error) {
	tree := filepath.Join(root, "tree")
	if err := errors.Join(os.Mkdir(tree, 0o755), os.WriteFile(filepath.Join(root, "apart"), []byte("apart"), 0o600)); err != nil {
		return false, err
	}
	try := func(script string) (metadata.CheckResult, error) {
		return opts.Check(ctx, tree, pipelines.Check{Name: "sandbox", Run: script, Timeout: pipelines.Duration(programTime)})
	}
	entered, err := try("echo here > file")
	if err == nil && !entered.Pass {
		err = errors.New(text.OneLine(entered.Output))
	}
	if err != nil {
		return false, err
	}
	r, err := try("cat ../apart")
	return !r.Pass, err
}
