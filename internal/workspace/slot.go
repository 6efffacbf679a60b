package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/sandbox"
)

// slot is a folder with the home of checks, and the copies of the tree in which they run. The runs of a repository take the
// first one that is free: compilers go by the paths of both, so the next run finds what they have built of the base.
type slot struct {
	dir  string
	of   string   // the branch whose code may write the home
	lock *os.File // nil: the folder is that of one run
}

// IsSlot reports whether a folder among those of runs is a slot. No run has such a name.
func IsSlot(name string) bool { return strings.HasPrefix(name, "@") }

// takeSlot takes a free slot for work in a tree of the run, or gives the folder of that tree where one run has all to
// itself. What a killed process has left at work in that and in other free ones is ended.
func (w *Workspace) takeSlot(tree *git.Repo) (s slot, err error) {
	if tree == nil {
		return slot{dir: filepath.Dir(w.Repo.Dir())}, nil
	}
	if w.tree.DryRun {
		return slot{dir: filepath.Dir(tree.Tree())}, nil
	}
	for n := 1; ; n++ {
		s = slot{dir: filepath.Join(filepath.Dir(filepath.Dir(w.Repo.Dir())), fmt.Sprintf("@%d", n)), of: cmp.Or(w.Run.BaseBranch, w.Run.BaseCommit)}
		if err = os.MkdirAll(s.dir, 0o700); err == nil {
			s.lock, err = folders.TakeLock(context.Background(), s.dir)
		}
		if held := new(folders.Held); !errors.As(err, &held) {
			break
		}
	}
	if err != nil {
		return s, err
	}
	left := endInSlot(s.dir)
	var others []string
	if tree == w.Git().Repo { // before there are parts, which may need any of them
		others, _ = filepath.Glob(filepath.Join(git.EscapeGlob(filepath.Dir(s.dir)), "@*")) // the pattern is well formed
	}
	for _, other := range others {
		if lock, err := folders.TakeLock(context.Background(), other); err == nil { // nobody has it
			left += endInSlot(other)
			_ = folders.FreeLock(lock) // closed in any case
		}
	}
	if left > 0 {
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+leftAtWork(left, s.dir))
	}
	if sandbox.CutOff(s.homes()) {
		err = s.forget()
	}
	if len(w.Plan.Setup) == 0 {
		err = errors.Join(err, s.clear(""), s.keep(""))
	}
	return s, errors.Join(err, os.WriteFile(filepath.Join(s.dir, "by"), []byte(tree.Tree()), 0o600), tree.CopyIn(s.dir))
}

// endInSlot ends what a run that was killed has left at work in a slot that is taken, its checks and a setup in its tree, and
// removes what it has left there but the home.
func endInSlot(dir string) int {
	n := endInCopies(dir)
	by, err := os.ReadFile(filepath.Join(dir, "by"))
	if err == nil && folders.Holder(filepath.Dir(string(by))) == 0 { // else that run has ended them itself
		n += sandbox.EndLeftovers(string(by))
	}
	all, _ := os.ReadDir(dir) // what cannot be read is found when it is used
	for _, e := range all {
		if !slices.Contains([]string{"homes", "lock", "of", "by"}, e.Name()) {
			_ = folders.RemoveAll(filepath.Join(dir, e.Name())) // as above
		}
	}
	return n
}

// homes is the folder for the home of checks.
func (s slot) homes() string { return filepath.Join(s.dir, "homes") }

// mark begins the names of the temporary folders of checks.
func (s slot) mark() string { return TempMark(filepath.Join(s.dir, treeDir)) }

// holds says whether the home is what a setup with this digest has left, and checks of the branch.
func (s slot) holds(digest string) bool {
	was, err := os.ReadFile(filepath.Join(s.dir, "of"))
	return s.lock == nil || err == nil && string(was) == s.of+"\n"+digest
}

// clear empties the home but where it holds what it is to hold.
func (s slot) clear(digest string) error {
	if s.lock != nil && s.holds(digest) {
		return nil
	}
	return errors.Join(s.forget(), folders.RemoveAll(filepath.Join(s.homes(), sandbox.CleanHome)))
}

// forget has the home hold nothing that is known.
func (s slot) forget() error { return ignoreMissing(os.Remove(filepath.Join(s.dir, "of"))) }

// keep notes what the home holds.
func (s slot) keep(digest string) error {
	if s.lock == nil {
		return nil
	}
	return os.WriteFile(filepath.Join(s.dir, "of"), []byte(s.of+"\n"+digest), 0o600)
}

// free lets other runs have the slot.
func (s slot) free() error {
	if s.lock == nil {
		return nil
	}
	return folders.FreeLock(s.lock)
}
