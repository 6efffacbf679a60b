package doctor

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"golang.org/x/mod/semver"
	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// leastGit is the first version of git that can say where a repository is in
// the form that is asked for, and that takes settings from its environment.
const leastGit = "2.31"

// values looks at the secrets of the environment.
func values(env environ.Env) []Check {
	names := secrets.Short(env.Secrets())
	if len(names) == 0 {
		return nil
	}
	return []Check{hinted("secrets", fmt.Sprintf("%s: shorter than %d characters, so the value is not looked for", strings.Join(names, ", "), secrets.MinLength), "give the variable another name if it holds no secret")}
}

// gitProgram looks at the git program.
func gitProgram(ctx context.Context, env environ.Env) []Check {
	path, err := exec.LookPath("git")
	if err != nil {
		return []Check{lacking("git", "there is no program git in PATH", "install git "+leastGit+" or newer")}
	}
	v, err := saysVersion(ctx, env, path)
	switch {
	case err != nil:
		return []Check{lacking("git", path+": "+err.Error(), "install git "+leastGit+" or newer")}
	case olderThan(v, leastGit):
		return []Check{lacking("git", "version "+v+" is too old", "install git "+leastGit+" or newer")}
	}
	return []Check{well("git", "version "+v)}
}

// Free space below which a run is likely to end, and below which it may.
const (
	leastSpace = 100 << 20
	goodSpace  = 1 << 30
)

// folder looks at where runs live: it has to be a place to write, with room.
func folder(env environ.Env, src *git.Source, id string) []Check {
	const name = "folder"
	where, err := workspace.HomeFolder(env, src, id)
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
	var s unix.Statfs_t
	if err := unix.Statfs(there, &s); err != nil {
		return []Check{hinted(name, fmt.Sprintf("free space of %s: %v", there, err), "")}
	}
	return []Check{space(name, there, uint64(s.Bavail)*uint64(s.Bsize))}
}

func space(name, there string, free uint64) Check {
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

var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// programTime is the longest that a program may take to say its version.
const programTime = 20 * time.Second

// saysVersion asks a program for its version. It sees no key and no token, and
// not the repository.
func saysVersion(ctx context.Context, env environ.Env, program string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	c := exec.CommandContext(ctx, program, "--version")
	c.Dir, c.Env, c.WaitDelay = os.TempDir(), plainEnv(env), time.Second
	out, err := c.Output()
	switch v := versionNumber.FindString(string(out)); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it did not say its version within %s: %w", programTime, ctx.Err())
	case v != "":
		return v, nil
	case err != nil:
		return "", err
	}
	return "", errors.New("it says no version")
}

// olderThan compares versions such as 2.39.5 by their first two numbers.
func olderThan(v, least string) bool {
	return semver.Compare(series(v), series(least)) < 0
}

// series gives the first two numbers of a version, as v2.39; nothing for what is
// no version.
func series(v string) string { return semver.MajorMinor("v" + v) }
