package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// DiffStat is the size of a difference. Binary files count as files only.
type DiffStat struct {
	Files   int
	Added   int // lines
	Deleted int // lines
}

// maxDiff is how much text of a difference is returned, in bytes.
const maxDiff = 8 << 20

// Diff returns how the work tree as it is now, new files included, differs from
// a commit, leaving out paths that are or lie under exclude. The text is cut at
// 8 MB, and says so; the counts are always whole.
func (r *Repo) Diff(ctx context.Context, from string, exclude ...string) (string, DiffStat, error) {
	text, stat, err := r.diff(ctx, from, exclude)
	if err != nil {
		return "", DiffStat{}, fmt.Errorf("compare with %s: %w", short(from), err)
	}
	return text, stat, nil
}

func (r *Repo) diff(ctx context.Context, from string, exclude []string) (string, DiffStat, error) {
	if err := r.need(ctx, from); err != nil {
		return "", DiffStat{}, err
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return "", DiffStat{}, err
	}
	changes = slices.DeleteFunc(changes, func(c Change) bool { return underAny(c.Path, exclude) })
	if len(changes) > 0 {
		return r.diffFrom(ctx, from, exclude, changes)
	}
	if d := r.compared; d == nil || d.tip != r.tip || d.from != from || !slices.Equal(d.exclude, exclude) {
		text, stat, err := r.diffFrom(ctx, from, exclude, nil)
		if err != nil {
			return "", DiffStat{}, err
		}
		r.compared = &comparison{from: from, tip: r.tip, exclude: slices.Clone(exclude), text: text, stat: stat}
	}
	return r.compared.text, r.compared.stat, nil
}

// comparison is how the tip differs from another commit.
type comparison struct {
	from, tip string
	exclude   []string
	text      string
	stat      DiffStat
}

// follow takes the comparison along to a commit on its tip, if the ops that lead
// there are all about what it leaves out.
func (c *comparison) follow(ops []op, tip string) {
	if !slices.ContainsFunc(ops, func(o op) bool {
		return !underAny(o.path, c.exclude) || o.to != "" && !underAny(o.to, c.exclude)
	}) {
		c.tip = tip
	}
}

func underAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return under(p, strings.TrimSuffix(dir, "/")) })
}

// diffFrom compares the tip, with changes on top of it, with a commit.
func (r *Repo) diffFrom(ctx context.Context, from string, exclude []string, changes []Change) (string, DiffStat, error) {
	snap, err := r.snapshot(ctx, changes, nil)
	if err != nil {
		return "", DiffStat{}, err
	}
	defer snap.remove()
	args := append(diffArgs(), "--numstat", "--patch", "--find-renames", from)
	if len(changes) == 0 {
		args = append(args, r.tip)
	} else {
		args = append(args, "--cached")
	}
	args = append(args, "--", ".")
	for _, p := range exclude {
		args = append(args, ":(top,exclude,literal)"+strings.TrimSuffix(p, "/"))
	}
	out, err := r.gitCall(ctx, call{args: args, env: snap.env, limit: maxDiff + 1})
	if err != nil {
		return "", DiffStat{}, err
	}
	stat, patch := splitStat(out)
	text := string(patch)
	if len(out) > maxDiff {
		text = text[:strings.LastIndexByte(text, '\n')+1] + "... the rest is left out: the difference is larger than 8 MB\n"
	}
	return text, stat, nil
}

// diffArgs begin every comparison: no program that a file or a configuration
// could name is run.
func diffArgs() []string {
	return []string{"diff", "--no-ext-diff", "--no-textconv", "--no-color", "--src-prefix=a/", "--dst-prefix=b/", "--ignore-submodules=none"}
}

// splitStat takes the counts that --numstat puts before the patch.
func splitStat(out []byte) (DiffStat, []byte) {
	var stat DiffStat
	for len(out) > 0 && out[0] != '\n' {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		f := strings.SplitN(string(line), "\t", 3)
		if len(f) < 3 {
			break
		}
		added, _ := strconv.Atoi(f[0]) // "-" for a binary file
		deleted, _ := strconv.Atoi(f[1])
		stat = DiffStat{stat.Files + 1, stat.Added + added, stat.Deleted + deleted}
		out = rest
	}
	return stat, bytes.TrimPrefix(out, []byte("\n"))
}

// ErrTooLarge is returned when a patch does not fit.
var ErrTooLarge = errors.New("the patch is too large")

// Patch returns everything uncommitted, new and binary files included, in a
// form that git apply takes, of at most limit bytes. The largest files are left
// out, and named at the top, if they would not fit; if what is left is still
// too large the error is ErrTooLarge. Nothing uncommitted gives no bytes.
func (r *Repo) Patch(ctx context.Context, limit int64) ([]byte, error) {
	changes, err := r.changes(ctx)
	if err != nil || len(changes) == 0 {
		return nil, err
	}
	keep, left := fit(changes, limit)
	snap, err := r.snapshot(ctx, keep, unconverted()) // what Git LFS would keep is kept nowhere else
	if err != nil {
		return nil, fmt.Errorf("make a patch: %w", err)
	}
	defer snap.remove()
	var b bytes.Buffer
	for _, c := range left {
		fmt.Fprintf(&b, "# left out: %q, %s, %d bytes\n", c.Path, c.Type, c.Size)
	}
	out, err := r.gitCall(ctx, call{
		env: snap.env, limit: limit + 1,
		args: append(diffArgs(), "--cached", "--binary", "--no-renames", r.tip),
	})
	if err != nil {
		return nil, fmt.Errorf("make a patch: %w", err)
	}
	b.Write(out)
	if int64(b.Len()) > limit {
		return nil, ErrTooLarge
	}
	return b.Bytes(), nil
}

// fit leaves out what cannot be in a patch, and the largest files until the
// rest together has at most limit bytes.
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

// snapshot is the work tree as an index of its own, whose objects go to a place
// of their own.
type snapshot struct {
	env    []string
	remove func()
}

func (r *Repo) snapshot(ctx context.Context, changes []Change, how []string) (snapshot, error) {
	none := snapshot{remove: func() {}}
	if len(changes) == 0 {
		return none, nil
	}
	if err := r.syncIndex(ctx); err != nil {
		return none, err
	}
	dir, err := os.MkdirTemp(r.dir, "snapshot-")
	if err != nil {
		return none, err
	}
	s := snapshot{
		remove: func() { os.RemoveAll(dir) },
		env: []string{
			"GIT_INDEX_FILE=" + filepath.Join(dir, "index"),
			"GIT_OBJECT_DIRECTORY=" + filepath.Join(dir, "objects"),
			"GIT_ALTERNATE_OBJECT_DIRECTORIES=" + quote(r.objects()),
		},
	}
	err = os.Mkdir(filepath.Join(dir, "objects"), 0o755)
	if err == nil {
		err = copyFile(filepath.Join(dir, "index"), r.home("index"))
	}
	if err == nil {
		err = r.updateIndex(ctx, s.env, how, sortChanges(changes))
	}
	if err != nil {
		s.remove()
		return none, err
	}
	return s, nil
}

// sortChanges says what an index has to do to show the changes. Repositories,
// pipes and devices are left out.
func sortChanges(changes []Change) code {
	var c code
	for _, ch := range changes {
		switch {
		case ch.Kind == Deleted:
			c.drop = append(c.drop, ch.Path)
		case ch.Type != Repository && ch.Type != Other:
			c.take = append(c.take, ch.Path)
		}
	}
	return c
}

func copyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}
