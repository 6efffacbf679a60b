package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/internal/git/commits"
	"github.com/reprise-ci/reprise/internal/git/folder"
	"github.com/reprise-ci/reprise/internal/git/program"
)

// revision is a commit that can be made on any parent.
type revision struct {
	message string
	time    time.Time
	ops     []op

	// first is the first parent, where that is not the one that the changes are made
	// to, which is the second then; "" otherwise.
	first   string
	tree    string   // the commit whose files it has before the ops; "" for its parent
	parents []string // besides the one before
}

// op is one change of a tree: M (set path to data if inline, else to the blob
// id), D (delete path), R (rename path to to).
type op struct {
	kind byte
	path string
	to   string
	mode string
	was  string // mode in the tip; "" or zeros if it has none; of what is staged
	id   string // always set for M
	data []byte

	inline bool
}

// build makes the revisions, one after the other, on parent, moves a ref of
// the run to the last and returns its hash. With force the ref may leave commits
// behind.
func (br *runBranch) build(ctx context.Context, ref, parent string, revs []revision, force bool) (string, error) {
	for _, rev := range revs {
		var err error
		if parent, err = br.makeCommit(ctx, rev, parent); err != nil {
			return "", err
		}
	}
	if !force {
		if at, err := br.readLocal(); err != nil || at != br.localTip {
			return "", errors.Join(err, fmt.Errorf("%s is at %q, and was at %q", ref, at, br.localTip))
		}
	}
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	return parent, br.moveRef(ref, parent)
}

func (br *runBranch) makeCommit(ctx context.Context, rev revision, parent string) (string, error) {
	c := commits.Commit{Parents: append([]string{parent}, rev.parents...), From: cmp.Or(rev.tree, parent), Who: br.identity(), Time: rev.time, Message: rev.message}
	if rev.first != "" {
		c.Parents, c.From = append([]string{rev.first}, c.Parents...), parent
	}
	for _, o := range rev.ops {
		c.Ops = append(c.Ops, commits.Op{Kind: o.kind, Path: o.path, To: o.to, Mode: o.mode, ID: o.id, Data: o.data, Inline: o.inline})
	}
	return commits.Maker{Folder: br.objects(), Format: br.src.format, LookUp: br.lookUpCommitted, Git: br.gitStdin}.Make(ctx, c)
}

// moveRef has a ref of the run name a commit, in the way of git: sweep removes the lock
// of a process that was killed.
func (br *runBranch) moveRef(ref, commit string) error {
	name := br.home(ref)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return err
	}
	lock, err := os.OpenFile(name+".lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o666)
	if err != nil {
		return err
	}
	_, err = lock.WriteString(commit + "\n")
	if err = errors.Join(err, lock.Close()); err == nil {
		err = os.Rename(lock.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(lock.Name()))
	}
	return nil
}

// identity is who commits.
func (br *runBranch) identity() string {
	name, email := br.opt.Name, br.opt.Email
	if name == "" && email == "" && br.src.UserName != "" && br.src.UserEmail != "" {
		name, email = br.src.UserName, br.src.UserEmail
	}
	return program.Identity(name, email)
}

// opsBetween are the ops that make one commit of another. Deletions come first, since a file
// may take the name of a folder that goes.
func (br *runBranch) opsBetween(ctx context.Context, from, to string) ([]op, error) {
	all, err := br.differ(ctx, from, to)
	return opsOf(all), err
}

func opsOf(all []folder.Difference) []op {
	var gone, set []op
	for _, d := range all {
		if d.Is.ID == "" {
			gone = append(gone, op{kind: 'D', path: d.Path, was: d.Was.Mode})
		} else {
			set = append(set, op{kind: 'M', path: d.Path, mode: d.Is.Mode, was: d.Was.Mode, id: d.Is.ID})
		}
	}
	return append(gone, set...)
}
