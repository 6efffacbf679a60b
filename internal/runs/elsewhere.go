package runs

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
)

var repositoryName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+$`)

// Elsewhere gives every run of a repository on GitHub that is not cloned here: the
// newest commit of each of their branches, and of each record that is kept, is fetched into a folder of its own, which is
// removed again. Git asks for the right to in its usual way, but asks no person.
func Elsewhere(ctx context.Context, env environ.Env, name string) (all []Run, err error) {
	if !repositoryName.MatchString(name) {
		return nil, exit.Usagef("%q is no repository on GitHub: give OWNER/NAME", text.Flat(name))
	}
	dir, err := os.MkdirTemp("", "reprise-list-")
	if err != nil {
		return nil, err
	}
	defer func() { err = cmp.Or(err, folders.RemoveAll(dir)) }()
	from := strings.TrimRight(cmp.Or(env.Getenv("GITHUB_SERVER_URL"), "https://github.com"), "/") + "/" + name
	branches := env.Prefix() + "*"
	for _, args := range [][]string{
		{"init", "--quiet"},
		{"remote", "add", "origin", from}, // and a commit, as a repository has one
		{"-c", "user.name=reprise", "-c", "user.email=reprise@localhost", "-c", "commit.gpgSign=false", "commit", "--quiet", "--no-verify", "--allow-empty", "-m", "none"},
		{"fetch", "--quiet", "--depth=1", "--no-tags", "origin", "+refs/heads/" + branches + ":refs/remotes/origin/" + branches, "+" + git.KeptRefs + "*:" + git.KeptRefs + "*"},
	} {
		if err := gitIn(ctx, env, dir, args...); err != nil {
			return nil, fmt.Errorf("fetch the runs of %s: %w", name, err)
		}
	}
	src, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return Every(ctx, env, src)
}

// ListOf gives every run of the repository in a folder, or of one on GitHub if a name is
// given.
func ListOf(ctx context.Context, env environ.Env, dir, name string) ([]Run, error) {
	if name != "" {
		return Elsewhere(ctx, env, name)
	}
	src, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	return Every(ctx, env, src)
}

// gitIn runs git in a folder, whatever repository the environment names.
func gitIn(ctx context.Context, env environ.Env, dir string, args ...string) error {
	c := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
	for _, v := range env.Environ {
		if name, _, _ := strings.Cut(v, "="); name != "GIT_DIR" && name != "GIT_WORK_TREE" && name != "GIT_INDEX_FILE" {
			c.Env = append(c.Env, v)
		}
	}
	c.Env = append(c.Env, "GIT_TERMINAL_PROMPT=0")
	var said bytes.Buffer
	c.Stderr = &said
	if err := c.Run(); err != nil {
		return fmt.Errorf("git: %w: %s", err, text.Flat(said.String()))
	}
	return nil
}
