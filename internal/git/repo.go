package git

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Repo is one run's branch and work tree. Its methods are not for concurrent
// use; only one Repo in all processes can be open on one root.
type Repo struct {
	*tree
	*comparer
	large        *largeFiles
	instructions *instructions
	upstream     *upstream

	lacks    []string // see Lacks
	leftover string
	fresh    string // commit that the tree was opened at, until somebody may work there; "" then
}

// Leftover returns the path of a patch of what a killed process had not
// committed, or "" if there was nothing. It lies in the root and stays there.
func (r *Repo) Leftover() string { return r.leftover }

// Warnings returns what a person should know although nothing stopped for it,
// each once.
func (r *Repo) Warnings() []string { return slices.Clone(r.texts) }

// Lacks says what the work tree lacks compared with a clone that a person
// makes, and what follows from that. A person should know it before anything is
// spent.
func (r *Repo) Lacks() []string { return slices.Clone(r.lacks) }

// Changes compares the work tree with the tip, in the order of the paths. New
// files that .gitignore hides are not listed, except in the state folder.
// Folders count only by their files. Instructions that Prepare has put there
// are removed first.
func (r *Repo) Changes(ctx context.Context) ([]Change, error) {
	changes, err := r.changes(ctx)
	if err == nil && len(r.instructions.overlaid) > 0 {
		changes, err = r.instructions.revert(ctx, changes)
	}
	if err == nil {
		err = r.caseCollisions(ctx, changes)
	}
	if err == nil {
		err = r.large.mark(ctx, changes)
	}
	return changes, err
}

// Hidden lists what is ignored in the work tree and was written since a time,
// in the order of the paths. The state folder is left out: there nothing is
// ignored.
func (r *Repo) Hidden(ctx context.Context, since time.Time) ([]Hidden, error) {
	return ignored{r.tree}.list(ctx, since)
}

// Content gives a digest of what the tip has outside of the state folder.
func (r *Repo) Content(ctx context.Context) (string, error) {
	sum := sha256.New()
	l, err := r.files(ctx)
	if err == nil {
		for _, f := range l {
			fmt.Fprintf(sum, "%s %s %q\n", f.Mode, f.ID, f.Path)
		}
	}
	return hex.EncodeToString(sum.Sum(nil)), err
}

// Paths lists the files that the tip has outside of the state folder.
func (r *Repo) Paths(ctx context.Context) (paths []string, err error) {
	l, err := r.files(ctx)
	for _, f := range l {
		paths = append(paths, f.Path)
	}
	return paths, err
}

// Held returns the beginning of the file that the tip has at path, at most n
// bytes: of one that Git LFS keeps, what it holds, if that is here.
func (r *Repo) Held(ctx context.Context, path string, n int) ([]byte, error) {
	return r.large.held(ctx, path, n)
}

// SetAside takes out of the work tree what the tip does not have, including
// ignored files, so that a program finds what a fresh clone of the commit has.
// What keep names stays. The state folder is left alone. The function it
// returns puts everything back, in place of what was written there meanwhile;
// after an interruption Prepare does so.
func (r *Repo) SetAside(ctx context.Context, keep func(path string) bool) (putBack func() error, err error) {
	r.fresh = ""
	all, err := r.others(ctx)
	if err == nil {
		putBack, err = r.aside().Take(all, func(p string) bool { return p == r.opt.State || keep != nil && keep(p) })
	}
	if err != nil {
		return nil, fmt.Errorf("set aside what is not in the commit: %w", err)
	}
	return putBack, nil
}

// others lists what the tip does not have, ignored or not: files, links and whole folders.
func (r *Repo) others(ctx context.Context) ([]string, error) {
	if err := r.syncIndex(ctx); err != nil {
		return nil, err
	}
	var said string
	list := func() ([]byte, error) {
		return r.gitCall(ctx, call{Args: []string{"ls-files", "-o", "-z", "--directory", "--no-empty-directory"}, Said: &said})
	}
	out, err := list()
	if strings.Contains(said, "Permission denied") { // git passes over what somebody locked
		folders.Unlock(r.top, ".")
		out, err = list()
	}
	return records(out), err
}

func (r *Repo) aside() asideFiles { return asideFiles{Root: r.root, Top: r.top} }

// Squash makes of the branch one commit on base, which is in its history. All that was
// there stays in the history of what Options.Keep names. The state
// folder stays in the commit that Options.Keep names, as after Commit.Shelve; c has a message
// and a time alone. An error leaves the branch as it was.
func (r *Repo) Squash(ctx context.Context, c Commit, base string) error {
	if err := checkMessage(c); err != nil {
		return err
	}
	kept, err := r.upstream.keepTip(ctx, c.Time)
	if err != nil {
		return err
	}
	if err := r.upstream.squash(ctx, c, base, kept); err != nil {
		return fmt.Errorf("squash %s: %w", r.opt.Branch, err)
	}
	return nil
}

// Close releases the root for other processes. What is in it stays, except what
// was staged and not committed.
func (r *Repo) Close() error {
	kept := os.RemoveAll(r.staged.Dir)
	for _, root := range []*os.Root{r.top, r.root} {
		if root != nil {
			root.Close()
		}
	}
	if r.lock == nil {
		return kept
	}
	held := r.lock
	r.lock = nil
	return errors.Join(kept, folders.FreeLock(held))
}
