package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// changes are those that Changes returns, without Alias and LinkedFrom.
func (r *Repo) changes(ctx context.Context) ([]Change, error) {
	if err := r.standing.Still(); err != nil {
		return nil, err
	}
	r.unlock()
	changes, err := r.compare(ctx)
	if err != nil {
		return nil, r.whyNot(err)
	}
	slices.SortFunc(changes, func(a, b Change) int { return cmp.Compare(a.Path, b.Path) })
	return changes, nil
}

// whyNot says why the tree cannot be compared: what git says of one that is gone helps nobody.
func (r *Repo) whyNot(err error) error {
	if _, gone := os.Lstat(r.treePath); errors.Is(gone, fs.ErrNotExist) {
		return fmt.Errorf("something has removed the work tree %s: the next start makes it again", r.treePath)
	}
	return fmt.Errorf("compare the work tree: %w", err)
}

// unchanged says whether a file has the bytes of a blob of the tip: git lists it all the same if .gitattributes came
// later, with other line ends. What cannot be read counts as changed: the attempt to commit says why.
func (r *Repo) unchanged(p string, is, was Type, blob string) bool {
	if is != was || is != File && is != Executable {
		return false
	}
	data, err := r.readState(p)
	return err == nil && blobID(data) == blob
}

// compare gives what became of known files, and what is new: in the state folder whatever is ignored.
func (r *Repo) compare(ctx context.Context) (changes []Change, err error) {
	// "dirty" keeps git from running itself in repositories inside the tree.
	out, err := r.git(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
	if err != nil {
		return nil, err
	}
	all, err := statusRecords(out)
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(one op) bool { return one.mode == "" && Under(one.path, r.opt.State) })
	if out, err = r.git(ctx, "ls-files", "-o", "-z", "--", ":(top,literal)"+r.opt.State); err != nil {
		return nil, err
	}
	for _, p := range records(out) {
		all = append(all, op{path: strings.TrimSuffix(p, "/")})
	}
	for _, one := range all {
		c := Change{Path: one.path, Was: typeOfMode(one.mode)}
		if c.Type, c.Size = r.look(c.Path); one.mode == "" {
			c.Was = None
		}
		if c.Was == None || !r.unchanged(c.Path, c.Type, c.Was, one.id) {
			changes = append(changes, c)
		}
	}
	for _, p := range r.modules { // git does not look into what stands for a commit
		_, own := r.top.Lstat(path.Join(p, ".git"))
		if left, err := fs.ReadDir(r.top.FS(), p); own != nil && err == nil && len(left) > 0 {
			changes = append(changes, Change{Path: p, Type: Repository, Was: Repository})
		}
	}
	return r.behindLoops(ctx, changes)
}

// behindLoops adds what is gone behind new links: git passes over that where the link leads to itself.
func (r *Repo) behindLoops(ctx context.Context, changes []Change) ([]Change, error) {
	known, links := map[string]bool{}, []string(nil)
	for _, c := range changes {
		if known[c.Path] = true; c.Type == Symlink && c.Was == None {
			links = append(links, c.Path)
		}
	}
	if len(links) == 0 {
		return changes, nil
	}
	files, err := r.files(ctx)
	for _, f := range files {
		if underAny(f.Path, links) && !known[f.Path] {
			changes = append(changes, Change{Path: f.Path, Was: typeOfMode(f.Mode)})
		}
	}
	return changes, err
}

// statusRecords reads paths unlike the index, with mode and id there, which a new path lacks.
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

// Change is one path of the work tree that is not as in the tip.
type Change struct {
	Path string // from the top of the repository; may hold any byte but zero
	Type Type   // what is there now; None if it is gone
	Was  Type   // what the tip has; None if it is new
	Size int64  // of what is there now, in bytes

	// Alias is a path of the tip or of an earlier change that some file systems take for this new one, or for a
	// folder above it; "" if there is none.
	Alias string
	// Filter would have to convert the file on its way in, and is not run.
	Filter string
	// LinkedFrom are the symbolic links of the tip that lead to this path.
	LinkedFrom []string
	// Large says that Git LFS keeps the file and it cannot be committed: without git-lfs, every file that is no
	// pointer; with it, one over a pointer whose content is missing here, or a pointer to unknown content.
	Large bool
}

// Type is what a path is.
type Type string

// The types of path. Repository is a submodule or other repository in the tree; Other a pipe, socket or device.
const (
	None       Type = ""
	File       Type = "file"
	Executable Type = "executable"
	Symlink    Type = "symlink"
	Repository Type = "repository"
	Other      Type = "other"
)

func typeOf(info fs.FileInfo) Type {
	switch {
	case info.Mode().IsRegular() && info.Mode()&0o100 != 0:
		return Executable
	case info.Mode().IsRegular():
		return File
	case info.Mode()&fs.ModeSymlink != 0:
		return Symlink
	}
	return Other
}

func typeOfMode(mode string) Type {
	switch mode {
	case "100644":
		return File
	case "100755":
		return Executable
	case "120000":
		return Symlink
	case submodule:
		return Repository
	}
	return Other
}

// caseCollisions fills in Change.Alias and Change.LinkedFrom.
func (r *Repo) caseCollisions(ctx context.Context, changes []Change) error {
	if len(changes) == 0 {
		return nil
	}
	state, err := r.stateFiles(ctx)
	files, wrong := r.files(ctx)
	if err := errors.Join(err, wrong); err != nil {
		return fmt.Errorf("list the files of the tip: %w", err)
	}
	names := slices.Collect(maps.Keys(state))
	var links []entry
	for _, f := range files {
		names = append(names, f.Path)
		if f.Mode == "120000" {
			links = append(links, f)
		}
	}
	aliases(changes, names)
	return r.linkedFrom(ctx, changes, links)
}

func (r *Repo) linkedFrom(ctx context.Context, changes []Change, links []entry) error {
	targets, err := r.reads().targets(ctx, links)
	if err != nil {
		return fmt.Errorf("read the symbolic links of the tip: %w", err)
	}
	for i, c := range changes {
		for _, link := range links {
			if targets.lead(link.Path, func(target string) bool { return Under(c.Path, target) }) {
				changes[i].LinkedFrom = append(changes[i].LinkedFrom, link.Path)
			}
		}
	}
	return nil
}

func aliases(changes []Change, names []string) {
	gone := map[string]bool{}
	var added []string
	for _, c := range changes {
		switch None {
		case c.Type:
			gone[c.Path] = true
		case c.Was:
			added = append(added, c.Path)
		}
	}
	same := folders.Aliases(added, names, gone)
	for i, c := range changes {
		changes[i].Alias = same[c.Path]
	}
}
