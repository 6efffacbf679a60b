package git

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/git/lfs"
)

// staged finds the pointers that ops would commit.
func (l *largeFiles) staged(ctx context.Context, ops []op) ([]lfs.Pointer, error) {
	if slices.ContainsFunc(ops, func(o op) bool { return path.Base(o.path) == ".gitattributes" }) {
		l.used = true
	}
	if !l.inLFS() {
		return nil, nil
	}
	return l.among(ctx, ops)
}

// each gives what new pointers stand for to f: that is what is uploaded.
func (l *largeFiles) each(pointers []lfs.Pointer, f func(Staged) error) error {
	for _, p := range pointers {
		if !l.isNewObject(p) {
			continue
		}
		if p.Size > maxJudged {
			return fmt.Errorf("%s has %d bytes, at most %d can be looked through", p.Path, p.Size, maxJudged)
		}
		data, err := p.Read(l.lfsDir("store"))
		if err != nil {
			return err
		}
		s := stagedOf(p.Path, p.Mode, p.Was)
		s.Data = data
		if err := f(s); err != nil {
			return err
		}
	}
	return nil
}

// keep puts what pointers stand for into the user's repository, before a
// commit names it.
func (l *largeFiles) keep(pointers []lfs.Pointer) error {
	if l.opt.DryRun {
		return nil // nobody else gets the commit
	}
	for _, p := range pointers {
		if !l.isNewObject(p) {
			continue
		}
		if err := p.Copy(l.lfsDir("store"), l.src.lfs.Storage); err != nil {
			return fmt.Errorf("keep %s: %w", p.Path, err)
		}
	}
	return nil
}

// isNewObject reports whether a pointer was made of a file in the tree that the
// user's repository does not have.
func (l *largeFiles) isNewObject(p lfs.Pointer) bool {
	return p.Made(l.lfsDir("store"), l.src.lfs.Storage)
}
