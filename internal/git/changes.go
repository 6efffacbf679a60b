package git

import (
	"bytes"
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
	"github.com/reprise-ci/reprise/metadata"
)

// changes are those that Changes returns, without Alias and LinkedFrom.
func (r *Repo) changes(ctx context.Context) ([]Change, error) {
	if err := r.standing.Still(); err != nil {
		return nil, err
	}
	r.unlock()
	pipes := folders.RemovePipes(r.root) // git would wait for some of them
	changes, err := r.compare(ctx)
	if err != nil {
		return nil, r.whyNot(err)
	}
	for _, p := range pipes {
		if i := slices.IndexFunc(changes, func(c Change) bool { return c.Path == p }); i >= 0 {
			changes[i].Type = Other
		} else if Under(p, r.opt.State) {
			changes = append(changes, Change{Path: p, Type: Other})
		}
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
	gone := map[string]string{}
	for _, one := range all {
		c := Change{Path: one.path, Was: typeOfMode(one.mode)}
		if c.Type, c.Size = r.look(c.Path); one.mode == "" {
			c.Was = None
		} else if c.Type == None {
			gone[c.Path] = one.id
		}
		if c.Was == None || !r.unchanged(c.Path, c.Type, c.Was, one.id) {
			changes = append(changes, c)
		}
	}
	hidden, err := r.movedOut(ctx, gone)
	if err != nil {
		return nil, err
	}
	changes = append(changes, hidden...)
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
	// Ignored says that git ignores the path, and that a file of the tip was moved there.
	Ignored bool
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
	names, gone := slices.Collect(maps.Keys(state)), map[string]bool{}
	var links []entry
	for _, f := range files {
		names = append(names, f.Path)
		if f.Mode == "120000" {
			links = append(links, f)
		}
	}
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

// maxDiff is how much text of a difference is returned, in bytes.
const maxDiff = 8 << 20

// Diff returns how the commit of a stage (nil: the tip) differs from another, without the state folder and what is or
// lies under exclude. The text is cut at 8 MB, and says so; counts are whole. The tree, which may change, is not read.
func (r *Repo) Diff(ctx context.Context, from string, s *Stage, exclude ...string) (text string, stat metadata.Diff, err error) {
	var env []string
	with := r.tip
	if len(s.changes()) > 0 {
		env, with = []string{"GIT_INDEX_FILE=" + r.staged("index")}, "--cached"
	}
	exclude = append(slices.Clip(exclude), r.opt.State)
	if stat, err = r.count(ctx, env, from, with, exclude); err != nil {
		return "", stat, err
	}
	out, err := r.reads()(ctx, call{Env: env, Args: comparing([]string{"diff", "--patch"}, []string{from, with}, exclude), Limit: maxDiff + 1, Lasting: lasting(from, with)})
	if text = string(out); len(out) > maxDiff {
		text = text[:strings.LastIndexByte(text[:maxDiff], '\n')+1] + "... the rest is left out: the difference is larger than 8 MB\n"
	}
	return text, stat, err
}

// Between counts how one commit differs from another, without paths that are or lie under exclude.
func (r *Repo) Between(ctx context.Context, from, to string, exclude ...string) (metadata.Diff, error) {
	return r.count(ctx, nil, from, to, exclude)
}

// count compares a commit with another one, or with the index that env names.
func (r *Repo) count(ctx context.Context, env []string, from, with string, exclude []string) (stat metadata.Diff, err error) {
	defer wrap(&err, "compare with %s", short(from))
	if err := r.need(ctx, from); err != nil {
		return stat, err
	}
	out, err := r.reads()(ctx, call{Env: env, Args: comparing([]string{"diff", "--numstat", "-z"}, []string{from, with}, exclude), Lasting: lasting(from, with)})
	if err != nil {
		return stat, err
	}
	all, err := parseCounts(out)
	for _, c := range all {
		stat.Files, stat.Added, stat.Deleted = stat.Files+1, stat.Added+c.Added, stat.Deleted+c.Deleted
	}
	stat.Lines = stat.Added + stat.Deleted
	return stat, err
}

// ErrTooLarge is returned when a patch does not fit.
var ErrTooLarge = errors.New("the patch is too large")

// Patch returns all that is uncommitted, new and binary files too but not Options.Scrap, for git apply, in at most
// limit bytes; none if there is nothing. The largest files are left out, and named at the top, if they do not fit;
// ErrTooLarge says that the rest does not, either.
func (r *Repo) Patch(ctx context.Context, limit int64) (_ []byte, err error) {
	defer wrap(&err, "make a patch")
	changes, err := r.changes(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	keep, left := fit(slices.DeleteFunc(changes, func(change Change) bool { return change.Path == r.opt.Scrap }), limit)
	env, err := r.copyIndex("index-patch")
	if err == nil { // what Git LFS would keep is kept nowhere else
		err = r.updateIndex(ctx, env, unconverted(), sortChanges(keep))
	}
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, c := range left {
		fmt.Fprintf(&b, "# left out: %q, %s, %d bytes\n", c.Path, c.Type, c.Size)
	}
	whole, err := r.whole(ctx)
	if err != nil {
		return nil, err
	}
	out, err := r.gitCall(ctx, call{Env: env, Limit: limit + 1, Args: append(diffArgs(), "--cached", "--binary", "--no-renames", whole)})
	if b.Write(out); err == nil && int64(b.Len()) > limit {
		err = ErrTooLarge
	}
	return b.Bytes(), err
}

// fit leaves out what cannot be in a patch, and the largest files until the rest has at most limit bytes.
func fit(changes []Change, limit int64) (keep, left []Change) {
	var size int64
	for _, c := range changes {
		if c.Type == Repository || c.Type == Other {
			left = append(left, c)
		} else {
			keep = append(keep, c)
			size += c.Size
		}
	}
	slices.SortStableFunc(keep, func(a, b Change) int { return cmp.Compare(a.Size, b.Size) })
	for size > limit && len(keep) > 0 {
		last := keep[len(keep)-1]
		keep, left = keep[:len(keep)-1], append(left, last)
		size -= last.Size
	}
	return keep, left
}

// CommitPatch is what one commit changed, as text.
type CommitPatch struct {
	Commit  string // full hash
	Trailer string // the value of the trailer that was asked for
	Text    string // as git diff prints it; binary files are named only
	Cut     bool   // the end of the text is missing
}

// mostPatch is how many bytes of patches are read of one branch.
const mostPatch = 32 << 20

// parsePatches divides what git log has printed where the mark begins a line.
func parsePatches(out []byte, mark string) (all []CommitPatch) {
	cut := len(out) > mostPatch
	for _, part := range bytes.Split(append([]byte("\n"), out...), []byte("\n"+mark))[1:] {
		title, text, _ := strings.Cut(string(part), "\n")
		commit, trailer, _ := strings.Cut(title, " ")
		if trailer = strings.TrimSpace(trailer); trailer != "" {
			all = append(all, CommitPatch{Commit: commit, Trailer: trailer, Text: strings.TrimPrefix(text, "\n")})
		}
	}
	if n := len(all); n > 0 {
		all[n-1].Cut = cut
	}
	return all
}

// diffArgs begin every comparison: no program that a file or a configuration could name is run.
func diffArgs() []string {
	return []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none"}
}

// comparing gives the arguments by which a command of git, with flags of its own, compares commits besides some paths.
func comparing(command, commits, exclude []string) []string {
	args := slices.Concat(command[:1], diffArgs()[1:], command[1:], []string{"--find-renames"}, commits, []string{"--", "."})
	for _, p := range exclude {
		args = append(args, ":(top,exclude,literal)"+strings.TrimSuffix(p, "/"))
	}
	return args
}

// sortChanges says what an index has to do to show the changes, without repositories, pipes and devices.
func sortChanges(changes []Change) (c code) {
	for _, ch := range changes {
		switch {
		case ch.Type == None:
			c.drop = append(c.drop, ch.Path)
		case ch.Type != Repository && ch.Type != Other:
			c.take = append(c.take, ch.Path)
		}
	}
	return c
}
