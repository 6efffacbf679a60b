package eval

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// makeRepository makes the repository that a case begins with, in a folder that is not
// there yet: one branch, main, and nothing that came after its commit.
func makeRepository(ctx context.Context, environ []string, c Case, prompts, dir string) error {
	making := dir + ".making" // so that a folder of the right name is whole
	if err := errors.Join(folders.RemoveAll(making), os.MkdirAll(making, 0o755)); err != nil {
		return err
	}
	g := repository{dir: making, environ: environ}
	if _, err := g.git(ctx, "init", "--quiet", "--initial-branch=main"); err != nil {
		return err
	}
	if err := c.fill(ctx, g); err != nil {
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
	if _, err := g.git(ctx, "checkout", "--quiet", "--orphan", "planted"); err != nil {
		return err
	}
	if err := g.commit(ctx, "Start"); err != nil {
		return err
	}
	if _, err := g.git(ctx, "branch", "--quiet", "-M", "main"); err != nil {
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
	if _, err := g.git(ctx, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", c.Repo, commit); err != nil {
		return err
	}
	_, err := g.git(ctx, "reset", "--quiet", "--hard", "FETCH_HEAD")
	return err
}

// plant puts the mistakes in.
func (c Case) plant(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
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
