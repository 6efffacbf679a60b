package git

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"

	"github.com/google/renameio/v2"
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
		data, err := os.ReadFile(inObjects(l.lfsDir("store"), p.Oid))
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
		if err := keepObject(inObjects(l.lfsDir("store"), p.Oid), inObjects(l.src.lfs.Storage, p.Oid)); err != nil {
			return fmt.Errorf("keep %s: %w", p.Path, err)
		}
	}
	return nil
}

// isNewObject reports whether a pointer was made of a file in the tree that the
// user's repository does not have.
func (l *largeFiles) isNewObject(p lfs.Pointer) bool {
	_, made := os.Stat(inObjects(l.lfsDir("store"), p.Oid))
	_, known := os.Stat(inObjects(l.src.lfs.Storage, p.Oid))
	return made == nil && known != nil
}

// keepObject copies a file durably and in one step.
func keepObject(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := renameio.NewPendingFile(to, renameio.WithTempDir(filepath.Dir(to)), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer out.Cleanup()
	if _, err := io.Copy(out, in); err != nil {
		return err
	}
	return out.CloseAtomicallyReplace()
}
