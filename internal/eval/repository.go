package eval

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"

	"github.com/reprise-ci/reprise/internal/folders"
)

// archiveEnding is the ending of a text file that holds the files of a folder.
const archiveEnding = ".txtar"

// isArchive reports whether a file is called as one.
func isArchive(name string) bool { return filepath.Ext(name) == archiveEnding }

// isRepository reports whether a folder is the top of a git repository, and does not
// only lie in one.
func isRepository(dir string) bool {
	has := func(name string) bool {
		_, err := os.Stat(filepath.Join(dir, name))
		return err == nil
	}
	return has(".git") || has("objects") && has("HEAD") // a bare one
}

// unpack puts the files of a folder or an archive into a folder, over those that are
// there. No link in there leads out of it.
func unpack(from, dir string) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // nothing is written through it
	files := os.DirFS(from)
	if isArchive(from) {
		all, err := txtar.ParseFile(from)
		if err == nil {
			files, err = txtar.FS(all)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
	}
	return fs.WalkDir(files, ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.Name() == ".git":
			return fmt.Errorf("%s: files of a case cannot have a .git; name the repository itself", path.Join(from, name))
		case e.IsDir():
			return nil
		case !e.Type().IsRegular():
			return fmt.Errorf("%s is no regular file", path.Join(from, name))
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.RemoveAll(name); err != nil { // a folder or a link, if somebody put one there
			return err
		}
		return root.WriteFile(name, data, info.Mode().Perm()|0o600)
	})
}

// repository is a git repository that was made for a case.
type repository struct {
	dir     string
	environ []string // that of the process
}

// git runs a command of git in it. Nothing of the user's configuration starts a program,
// and the same files give the same commit.
func (g repository) git(ctx context.Context, args ...string) (string, error) {
	own := []string{"-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false", "-c", "commit.gpgSign=false", "-c", "core.autocrlf=false", "-c", "protocol.version=2", "-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "core.excludesFile=" + os.DevNull}
	cmd := exec.CommandContext(ctx, "git", append(own, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(apart(g.environ), "GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=reprise", "GIT_AUTHOR_EMAIL=reprise@localhost", "GIT_AUTHOR_DATE=2000-01-01T00:00:00Z",
		"GIT_COMMITTER_NAME=reprise", "GIT_COMMITTER_EMAIL=reprise@localhost", "GIT_COMMITTER_DATE=2000-01-01T00:00:00Z")
	var out, said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", fmt.Errorf("git %s: %w: %s", args[0], err, strings.TrimSpace(said.String()))
	}
	return out.String(), nil
}

// apart is an environment without what points git to another repository, as hooks have
// it.
func apart(environ []string) (out []string) {
	for _, kv := range environ {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "GIT_CONFIG_") && name != "GIT_CONFIG_PARAMETERS" || name == "GIT_EXEC_PATH" {
			out = append(out, kv)
		}
	}
	return out
}

// all runs commands of git in it, one after the other.
func (g repository) all(ctx context.Context, commands ...[]string) error {
	for _, args := range commands {
		if _, err := g.git(ctx, args...); err != nil {
			return err
		}
	}
	return nil
}

// commit commits all that is in the tree.
func (g repository) commit(ctx context.Context, subject string) error {
	return g.all(ctx, []string{"add", "--all"}, []string{"commit", "--quiet", "--no-verify", "--allow-empty", "-m", subject})
}

// forget removes the commits that no branch has.
func (g repository) forget(ctx context.Context) error {
	if err := g.all(ctx, []string{"update-ref", "-d", "ORIG_HEAD"}, []string{"reflog", "expire", "--expire=now", "--all"}, []string{"gc", "--quiet", "--prune=now"}); err != nil {
		return err
	}
	return os.RemoveAll(filepath.Join(g.dir, ".git", "FETCH_HEAD"))
}

// emptyRepository makes one without commits in a folder, in place of what was there.
func emptyRepository(ctx context.Context, environ []string, dir string) (repository, error) {
	g := repository{dir: dir, environ: environ}
	err := errors.Join(folders.RemoveAll(dir), os.MkdirAll(dir, 0o755))
	if err == nil {
		_, err = g.git(ctx, "init", "--quiet", "--initial-branch=main")
	}
	return g, err
}

// makeRepository makes the repository that a case begins with, in a folder that is not
// there yet: one branch, main, and nothing that came after its commit.
func makeRepository(ctx context.Context, environ []string, c Case, prompts, dir string) error {
	making := dir + ".making" // so that a folder of the right name is whole
	g, err := emptyRepository(ctx, environ, making)
	if err == nil {
		err = c.fill(ctx, g)
	}
	if err != nil {
		return err
	}
	if prompts != "" {
		if err := unpack(prompts, filepath.Join(making, ".github/reprise/prompts")); err != nil {
			return err
		}
		if err := g.commit(ctx, "Take the prompts of the variant"); err != nil {
			return err
		}
	}
	return os.Rename(making, dir)
}

// fill puts in what the case says, with the mistakes that it plants.
func (c Case) fill(ctx context.Context, g repository) error {
	files, fill := !isRepository(c.Repo), c.fetch
	if files {
		fill = func(context.Context, repository) error { return unpack(c.Repo, g.dir) }
	}
	err := fill(ctx, g)
	if err == nil && c.Step != nil {
		return freeze(ctx, c, g)
	}
	if err == nil {
		err = c.plant(g.dir)
	}
	switch {
	case err != nil:
		return err
	case files:
		return g.commit(ctx, "Start")
	case len(c.Mutation) == 0:
		return nil
	}
	// What was planted must not be read off the history.
	if _, err := g.git(ctx, "update-ref", "-d", "HEAD"); err != nil {
		return err
	}
	if err := g.commit(ctx, "Start"); err != nil {
		return err
	}
	return g.forget(ctx)
}

// fetch takes the commit of a repository, with those before it.
func (c Case) fetch(ctx context.Context, g repository) error {
	commit := "HEAD"
	if c.Commit != "" {
		full, err := repository{dir: c.Repo, environ: g.environ}.git(ctx, "rev-parse", "--verify", "--quiet", c.Commit+"^{commit}")
		if err != nil {
			return fmt.Errorf("there is no commit %s in %s", c.Commit, c.Repo)
		}
		commit = strings.TrimSpace(full)
	}
	return g.all(ctx, []string{"fetch", "--quiet", "--no-tags", "--no-recurse-submodules", c.Repo, commit}, []string{"reset", "--quiet", "--hard", "FETCH_HEAD"})
}

func (c Case) plant(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // nothing is written through it
	for _, m := range c.Mutation {
		data, err := root.ReadFile(filepath.FromSlash(m.File))
		if err != nil {
			return fmt.Errorf("mutation: %w", err)
		}
		if n := strings.Count(string(data), m.Find); n != 1 {
			return fmt.Errorf("mutation: %s has the text %q %d times; it has to be there exactly once", m.File, m.Find, n)
		}
		if err := root.WriteFile(filepath.FromSlash(m.File), []byte(strings.Replace(string(data), m.Find, m.Replace, 1)), 0o644); err != nil {
			return err
		}
	}
	return nil
}
