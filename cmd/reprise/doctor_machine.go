package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/secrets"
)

// leastGit is the first version of git that can say where a repository is in
// the form that is asked for, and that takes settings from its environment.
const leastGit = "2.31"

var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// programTime is the longest that a program may take to say its version.
const programTime = 5 * time.Second

// saysVersion asks a program for its version. It sees no key and no token, and
// not the repository.
func (d *doctor) saysVersion(ctx context.Context, program string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	c := exec.CommandContext(ctx, program, "--version")
	c.Dir, c.WaitDelay = os.TempDir(), time.Second
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "LANG"} {
		c.Env = append(c.Env, name+"="+d.env.getenv(name))
	}
	out, err := c.Output()
	switch v := versionNumber.FindString(string(out)); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it did not say its version within %s", programTime)
	case v != "":
		return v, nil
	case err != nil:
		return "", err
	}
	return "", errors.New("it says no version")
}

// values looks at the secrets of the environment.
func (d *doctor) values(context.Context) []check {
	names := secrets.Short(d.env.secrets())
	if len(names) == 0 {
		return nil
	}
	return []check{hinted("secrets", fmt.Sprintf("%s: shorter than %d characters, so the value is not looked for", strings.Join(names, ", "), secrets.MinLength), "give the variable another name if it holds no secret")}
}

// git looks at the git program.
func (d *doctor) git(ctx context.Context) []check {
	path, err := exec.LookPath("git")
	if err != nil {
		return []check{lacking("git", "there is no program git in PATH", "install git "+leastGit+" or newer")}
	}
	v, err := d.saysVersion(ctx, path)
	switch {
	case err != nil:
		return []check{lacking("git", path+": "+err.Error(), "install git "+leastGit+" or newer")}
	case behind(v, leastGit):
		return []check{lacking("git", "version "+v+" is too old", "install git "+leastGit+" or newer")}
	}
	return []check{well("git", "version "+v)}
}

// behind compares versions such as 2.39.5 by their first two numbers.
func behind(v, least string) bool {
	a, b := firstNumbers(v), firstNumbers(least)
	return a[0] < b[0] || a[0] == b[0] && a[1] < b[1]
}

// firstNumbers are the first two numbers of a version; what is no number is 0.
func firstNumbers(v string) (n [2]int) {
	for i, part := range strings.SplitN(v, ".", 3) {
		if i < len(n) {
			n[i], _ = strconv.Atoi(part) // made of digits
		}
	}
	return n
}

// Free space below which a run is likely to end, and below which it may.
const (
	leastSpace = 100 << 20
	goodSpace  = 1 << 30
)

// folder looks at where runs live: it has to be a place to write, with room.
func (d *doctor) folder(context.Context) []check {
	const name = "folder"
	src := d.src
	if src == nil {
		src = &git.Source{Dir: "none"}
	}
	where, err := rootOf(d.env, src, d.is.ID)
	if err != nil {
		return []check{lacking(name, err.Error(), "")}
	}
	there, err := nearest(where)
	if err != nil {
		return []check{lacking(name, err.Error(), "name another folder in REPRISE_HOME")}
	}
	if err := unix.Access(there, unix.W_OK|unix.X_OK); err != nil {
		return []check{lacking(name, "nothing can be written in "+there, "change its rights, or name another folder in REPRISE_HOME")}
	}
	var s unix.Statfs_t
	if err := unix.Statfs(there, &s); err != nil {
		return []check{hinted(name, fmt.Sprintf("free space of %s: %v", there, err), "")}
	}
	return []check{space(name, there, uint64(s.Bavail)*uint64(s.Bsize))}
}

func space(name, there string, free uint64) check {
	found := fmt.Sprintf("%s, %.1f GB free", there, float64(free)/1e9)
	switch {
	case free < leastSpace:
		return lacking(name, found, "make room, or name another folder in REPRISE_HOME")
	case free < goodSpace:
		return hinted(name, found, "a run needs room for a work tree and for what agents build in it")
	}
	return well(name, found)
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

// sandbox tries whether the sandbox holds, with a file that a program in it
// must not be able to read.
func (d *doctor) sandbox(ctx context.Context) []check {
	const name = "sandbox"
	root, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return []check{lacking(name, err.Error(), "name a folder for temporary files in TMPDIR")}
	}
	defer func() { _ = os.RemoveAll(root) }() // a temporary folder; the system removes what is left
	self, err := ownFile()
	if err != nil {
		return []check{lacking(name, err.Error(), "")}
	}
	box := agents.Sandbox{}
	if d.plan != nil {
		box = leaving(d.plan.Sandbox)
	}
	box.Helper, box.State = []string{self, sandboxCommand, "--"}, filepath.Join(root, "homes")
	opts, _, err := agents.Options{Environ: d.env.environ}.Contain(agents.Required, box)
	if err != nil {
		return []check{hinted(name, err.Error(), "without one, agents and checks can reach all that you can; the action wants one, unless its input says otherwise")}
	}
	held, err := holds(ctx, opts, root)
	switch {
	case err != nil:
		return []check{lacking(name, "it cannot be entered: "+err.Error(), "do without, with --sandbox off")}
	case !held:
		return []check{lacking(name, "it does not hold: a program in it read a file that it must not", "use another machine, or do without, with --sandbox off")}
	}
	return keeping(opts)
}

// keeping says what the sandbox of this machine holds, and what not.
func keeping(opts agents.Options) []check {
	held, _ := opts.Held() // they are contained
	box := well("sandbox", fmt.Sprintf("in force (Landlock %d): keeps programs from files, memory and environment of others", held.Landlock))
	if held.Signals {
		box.Found += ", from signals to them"
	}
	if held.Sockets {
		box.Found += " and from services with a socket file"
	}
	if !held.Own {
		box.Found += " (programs have none of their own, unless the pipeline says `sandbox: sockets: true`)"
	}
	limits := well("limits", held.Limits.String())
	if held.Open != "" {
		limits = hinted(limits.Name, limits.Found+"; but "+"the number of processes has none: "+held.Open, "run reprise as a user that is not root, or let it make control groups")
		held.Open = ""
	}
	if lacks := held.Lacks(); len(lacks) > 0 {
		box = hinted(box.Name, box.Found+"; but "+strings.Join(lacks, "; "), "give reprise a machine, or at least a user, with nothing else to reach")
	}
	open := well("not held", "the network; memory of the machine; modes and owners of files that the user may change")
	if os.Geteuid() == 0 {
		open = hinted(open.Name, open.Found+"; and for root, what only root may read in /etc", "run reprise as a user that is not root")
	}
	return []check{box, limits, open}
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
		err = errors.New(oneLine(entered.Output))
	}
	if err != nil {
		return false, err
	}
	r, err := try("cat ../apart")
	return !r.Pass, err
}
