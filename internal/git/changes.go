package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
)

// changes are those that Changes returns, without Alias and LinkedFrom.
func (t *tree) changes(ctx context.Context) ([]Change, error) {
	if err := t.standing.Still(); err != nil {
		return nil, err
	}
	t.unlock()
	if t.dirty {
		if err := t.syncIndex(ctx); err != nil {
			return nil, t.whyNot(err)
		}
	}
	found, err := t.codeChanges(ctx)
	if err != nil {
		return nil, t.whyNot(err)
	}
	changes, err := t.stateChanges()
	if err != nil {
		return nil, err
	}
	for _, c := range found {
		if !Under(c.Path, t.opt.State) { // the index need not know about that
			changes = append(changes, c)
		}
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// whyNot says why the tree cannot be compared: what git says of one that is gone helps nobody.
func (t *tree) whyNot(err error) error {
	if _, gone := os.Lstat(t.treePath); errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("something has removed the work tree %s: the next start makes it again", t.treePath)
	}
	return fmt.Errorf("compare the work tree: %w", err)
}

// stateChanges compares the state folder with what tip has there, without git
// and whatever is ignored.
func (t *tree) stateChanges() ([]Change, error) {
	var changes []Change
	seen := map[string]bool{}
	err := t.walkState(func(at folders.Place, info fs.FileInfo) error {
		p := at.Name
		seen[p] = true
		was, known := t.state[p]
		c := Change{Path: p, Kind: Added, Type: typeOf(info), Size: info.Size()}
		if path.Base(p) == ".git" {
			c.Type = Repository
		}
		if known {
			c.Was = typeOfMode(was.mode)
			if t.sameState(at, info, was) {
				return nil
			}
			c.Kind = changeKind(c.Was, c.Type)
		}
		changes = append(changes, c)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("look through %s: %w", t.opt.State, err)
	}
	for p, was := range t.state {
		if !seen[p] {
			changes = append(changes, Change{Path: p, Kind: Deleted, Was: typeOfMode(was.mode)})
		}
	}
	return changes, nil
}

// sameState says whether a file is as in the commit. What cannot be read is not: the
// attempt to commit it says why.
func (t *tree) sameState(at folders.Place, info fs.FileInfo, was entry) bool {
	if typeOf(info) != typeOfMode(was.mode) {
		return false
	}
	data, err := readStateAt(at)
	return err == nil && t.blobID(data) == was.id
}

// codeChanges gives the changes outside of the state folder. Where something is locked,
// the changes in it are not seen, so it is opened and looked at again.
func (t *tree) codeChanges(ctx context.Context) ([]Change, error) {
	changes, locked, err := t.compare(ctx)
	if locked {
		folders.Unlock(t.top, ".")
		changes, _, err = t.compare(ctx)
	}
	return changes, err
}

// compare asks what became of known files, and what is new. It says whether
// something could not be looked at because of its mode.
func (t *tree) compare(ctx context.Context) (changes []Change, locked bool, err error) {
	var said string
	out, err := t.gitCall(ctx, call{Args: statusArgs(), Said: &said})
	locked = strings.Contains(said+stderrOf(err), "Permission denied") // git speaks English here, see always
	if err != nil {
		return nil, locked, err
	}
	records, err := statusRecords(out)
	if err != nil {
		return nil, locked, err
	}
	for _, r := range records {
		c := Change{Path: r.path, Kind: Deleted, Was: typeOfMode(r.mode)}
		c.Type, c.Size = t.look(c.Path)
		switch {
		case r.mode == "":
			c.Kind, c.Was = Added, None
		case c.Type != None:
			c.Kind = changeKind(c.Was, c.Type)
		}
		if c.Kind == Added || !t.untouched(c, r.id) {
			changes = append(changes, c)
		}
	}
	if said != "" {
		if changes, err = t.behindLoops(ctx, changes); err != nil {
			return nil, locked, err
		}
	}
	return changes, locked || slices.ContainsFunc(changes, t.isLocked), nil
}

// behindLoops adds what is gone because a link that leads to itself stands in place of a
// folder: git passes over that with a remark.
func (t *tree) behindLoops(ctx context.Context, changes []Change) ([]Change, error) {
	files, err := t.files(ctx)
	if err != nil {
		return nil, err
	}
	known := map[string]bool{}
	for _, c := range changes {
		known[c.Path] = true
	}
	for _, f := range files.Files {
		if _, err := os.Lstat(filepath.Join(t.treePath, filepath.FromSlash(f.Path))); errors.Is(err, syscall.ELOOP) && !known[f.Path] {
			changes = append(changes, Change{Path: f.Path, Kind: Deleted, Was: typeOfMode(f.Mode)})
		}
	}
	return changes, nil
}

// untouched reports whether a file has the very bytes of a blob of the tip. Git
// takes it for changed all the same where it would commit it with other line
// ends, because .gitattributes came after it.
func (t *tree) untouched(c Change, was string) bool {
	if c.Type != c.Was || c.Type != File && c.Type != Executable {
		return false
	}
	data, err := t.readState(c.Path)
	return err == nil && t.blobID(data) == was
}

// isLocked reports whether what is at a changed path now cannot be read.
func (t *tree) isLocked(c Change) bool {
	info, err := t.top.Lstat(c.Path)
	return errors.Is(err, fs.ErrPermission) || err == nil && folders.Locked(info)
}

// statusArgs ask git for what statusRecords reads.
func statusArgs() []string {
	// "dirty" keeps git from running itself in repositories inside the tree.
	return []string{"status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty"}
}

// statusRecords reads what git said: of each path that is not as the index has it, what that has
// there; neither mode nor id if the path is new. Where only the index is not as the newest commit, there is none.
func statusRecords(out []byte) (all []op, err error) {
	for _, record := range records(out) {
		if name, ok := strings.CutPrefix(record, "? "); ok {
			all = append(all, op{path: strings.TrimSuffix(name, "/")})
			continue
		}
		f := strings.SplitN(record, " ", 9) // 1, how, submodule, modes and hashes, path
		if len(f) != 9 || f[0] != "1" || len(f[1]) != 2 {
			return nil, fmt.Errorf("git status answered %q", record)
		}
		if f[1][1] != '.' {
			all = append(all, op{path: f[8], mode: f[4], id: f[7]})
		}
	}
	return all, nil
}
