package git

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// maxDiff is how much text of a difference is returned, in bytes.
const maxDiff = 8 << 20

// Diff returns how the commit of a stage (nil: the tip) differs from another, without the state folder and what is or
// lies under exclude. The text is cut at 8 MB, and says so; counts are whole. The tree, which may change, is not read.
func (r *Repo) Diff(ctx context.Context, from string, s *Stage, exclude ...string) (text string, stat metadata.Diff, err error) {
	var env []string
	with := r.tip
	if len(s.changes()) > 0 {
		env, with = []string{"GIT_INDEX_FILE=" + r.staged.Index()}, "--cached"
	}
	exclude = append(slices.Clip(exclude), r.opt.State)
	if stat, err = r.count(ctx, env, from, with, exclude); err != nil {
		return "", stat, err
	}
	out, err := r.gitCall(ctx, call{Env: env, Args: comparing([]string{"diff", "--patch"}, []string{from, with}, exclude), Limit: maxDiff + 1})
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
	out, err := r.gitCall(ctx, call{Env: env, Args: comparing([]string{"diff", "--numstat", "-z"}, []string{from, with}, exclude)})
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
	index, err := r.copyIndex(filepath.Join(r.staged.Dir, "index-patch"))
	env := append(r.staged.environ(), index...)
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
