// Package git is the run's branch and the tree the agent works in, through the
// git binary.
//
// A Source is the user's repository; it is read and never changed, except for
// the one branch that belongs to the run. A Repo is one run on it. It lives in
// a folder of its own, outside the user's repository:
//
//	Root/git    a git directory that only this package writes: config, refs, index
//	Root/tree   the work tree, with a throw-away .git for the agent to look around in
//	Root/lock   held by the one process that works on the run
//
// The agent may do to Root/tree, its .git included, whatever it likes. Git reads
// configuration, hooks and drivers only from Root/git, so nothing the agent
// leaves behind is ever run by this program, which may hold a token. Objects
// go straight to the user's object store, so nothing is copied.
//
// The state folder (such as .reprise/issue-7) is treated apart from code: its
// files are committed byte for byte, whatever .gitattributes says, and are seen even
// when .gitignore hides them.
package git

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Repo is one run's branch and tree. It is not for concurrent use; one in all processes can be open on a root.
type Repo struct {
	opt      Options
	src      *Source
	ref      string // refs/heads/BRANCH
	dir      string // the run's own git directory, through which alone git works on the run
	treePath string
	root     *os.Root         // of opt.Root
	beside   *os.Root         // of the place for copies
	top      *os.Root         // of the work tree
	standing folders.Standing // the run's folder and the tree, as they were opened
	lock     *os.File
	remote   *remote // nil: nothing is fetched or pushed

	texts    []string // see Warnings
	told     int      // how many of them it has returned
	lacks    []string // see Lacks
	leftover string

	// The commits of the run, here and elsewhere.
	localTip    string // what the ref of this run's folder holds; "" before the first commit
	tip         string
	isNew       bool
	shelf       string     // the commit that has the state folder, if the tip has none; "" otherwise
	kept        string     // see keptRecord
	keptKnown   bool       // it was asked for
	ownTip      string     // the same of Options.Own
	remoteTip   string     // what the remote's branch was last seen to hold; "" for no such branch
	checkoutTip string     // what the user's branch was last seen to hold; "" for no such branch
	unpushed    []revision // commits of this process that the remote has not

	filters []string // besides Git LFS, that .gitattributes of the tip gives files to
	modules []string // submodules of the tip, whose folders are empty

	listed struct { // see files
		of    string // the commit
		files []entry
	}

	overlaid map[string]string // fingerprints of what Prepare has put in the place of what the tip has

	// The files of the tip that Git LFS keeps.
	lfs         []setting       // of git-lfs, once they are known
	held        bool            // git-lfs starts in a sandbox
	converter   string          // how git starts git-lfs, without its arguments; "": not yet, or never
	largeUsed   bool            // files are given to Git LFS, or may be
	asPointers  map[string]bool // paths at which the tree has pointers, and so keeps them
	largeFailed error           // they did not come
}

// warn takes a warning, once.
func (r *Repo) warn(format string, args ...any) { r.warnOf(fmt.Sprintf(format, args...)) }

func (r *Repo) warnOf(text string) {
	if text != "" && !slices.Contains(r.texts, text) {
		r.texts = append(r.texts, text)
	}
}

// Leftover returns the path of a patch, in the root, of what a killed process had not committed; "" for none.
func (r *Repo) Leftover() string { return r.leftover }

// Warnings returns what a person should know although nothing stopped for it, each once.
func (r *Repo) Warnings() []string {
	news := r.texts[r.told:]
	r.told = len(r.texts)
	return news
}

// Lacks says what the work tree lacks against a person's clone, and what follows: to be known before money is spent.
func (r *Repo) Lacks() []string { return slices.Clone(r.lacks) }

// Changes compares the work tree with the tip, in the order of the paths, without folders and new ignored files
// outside the state folder. Instructions that Prepare has put there are removed first.
func (r *Repo) Changes(ctx context.Context) ([]Change, error) {
	changes, err := r.changes(ctx)
	if err == nil && len(r.overlaid) > 0 {
		changes, err = r.revert(ctx, changes)
	}
	if err == nil {
		err = r.caseCollisions(ctx, changes)
	}
	if err == nil {
		err = r.markLarge(ctx, changes)
	}
	return changes, err
}

// Paths lists the files that the tip has outside of the state folder.
func (r *Repo) Paths(ctx context.Context) (paths []string, err error) {
	l, err := r.files(ctx)
	for _, f := range l {
		paths = append(paths, f.Path)
	}
	return paths, err
}

// Known reports whether a file of the tip has that content.
func (r *Repo) Known(ctx context.Context, data []byte) (bool, error) {
	l, err := r.files(ctx)
	id := blobID(data)
	return slices.ContainsFunc(l, func(f entry) bool { return f.ID == id }), err
}

// Held returns the first n bytes of the tip's file at path: of one in Git LFS, of what it holds, if that is here.
func (r *Repo) Held(ctx context.Context, path string, n int) ([]byte, error) {
	data, err := r.ReadFile(ctx, r.tip, path)
	p, is := parsePointer(data)
	for _, storage := range []string{r.src.lfs.Storage, r.lfsDir("store")} {
		if err != nil || !is || !r.inLFS() || !p.in(storage) {
			continue
		}
		f, err := os.Open(largeFile(storage, p.oid))
		if err != nil {
			return nil, err
		}
		defer f.Close()
		return io.ReadAll(io.LimitReader(f, int64(n)))
	}
	return data[:min(n, len(data))], err
}

// Squash makes the branch one commit on base, which is in its history. All that was there, the state folder too, is
// in what Options.Keep names, as after Commit.Shelve. c has a message and a time alone. An error changes no branch.
func (r *Repo) Squash(ctx context.Context, c Commit, base string) (err error) {
	defer wrap(&err, "squash %s", r.opt.Branch)
	if err := checkMessage(c); err != nil {
		return err
	}
	kept, err := r.keepTip(ctx)
	if err != nil {
		return err
	}
	rev := revision{message: strings.TrimRight(c.Message, "\n") + "\n" + recordNote(kept), time: c.Time, tree: r.tip, ops: r.takeOff()}
	id, err := r.makeCommit(ctx, "refs/reprise/squash", rev, base)
	if err == nil && r.remote != nil { // the only push that takes a branch back, and only if nobody has pushed since
		err = r.send(ctx, id+":"+r.ref, "--force-with-lease="+r.ref+":"+r.tip)
	}
	if err != nil {
		return err
	}
	if r.remote != nil {
		r.remoteTip, r.unpushed = id, nil
	}
	r.shelf, r.tip = kept, id
	r.updateCheckout(ctx, id)
	return errors.Join(r.readTip(ctx), r.setLocal(ctx))
}

// CopyIn has the copies of the tree made in another folder than that of the run, until the repository is closed.
func (r *Repo) CopyIn(dir string) error {
	root, err := os.OpenRoot(dir)
	if err == nil {
		r.beside = root
	}
	return err
}

// Copies is the folder of the copies of the tree.
func (r *Repo) Copies() string { return filepath.Join(r.beside.Name(), "copies") }

// Close releases the root for other processes, and removes what was staged and not committed.
func (r *Repo) Close() error {
	kept := os.RemoveAll(r.staged())
	for _, root := range []*os.Root{r.top, r.root, r.beside} {
		if root != nil {
			root.Close() // once more is no harm
		}
	}
	if r.lock == nil {
		return kept
	}
	held := r.lock
	r.lock = nil
	return errors.Join(kept, folders.FreeLock(held))
}
