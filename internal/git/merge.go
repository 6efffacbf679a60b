package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// mergeAttributes keep files from deciding how they are merged: merge=union would hide a conflict.
const mergeAttributes = "!merge !conflict-marker-size"

// Names of the two sides, as the marks of a conflict have them.
const (
	ours   = "reprise/ours"
	theirs = "reprise/base"
)

// conflictMark begins each conflict, with the file's line ends, and the path where the two sides have different ones.
var conflictMark = text.Pattern(`(?m)^<<<<<<< ` + ours + `(:.*)?\r?$`)

// Marked reports whether a file has marks of a conflict.
func Marked(file []byte) bool { return conflictMark().Match(file) }

// MergeResult is the merge of two commits.
type MergeResult struct {
	Commit    string     // with its files, on no branch; where there are conflicts, files have marks
	Conflicts []Conflict // in the order of the paths
	Mixed     []string   // paths at which it has neither what the tip nor what the other commit has, or a new symbolic link; see detail
}

// Paths are those of the conflicts.
func (r MergeResult) Paths() (out []string) {
	for _, c := range r.Conflicts {
		out = append(out, c.Path)
	}
	return out
}

// Conflict is a path at which two commits conflict, with what each side has there.
type Conflict struct {
	Path  string
	Sides [3]Version // the base of both, ours, theirs

	aside string // where git put a file in whose place the other side has a folder; "" for any other conflict
}

// Version is what one side has at a path.
type Version struct {
	Mode   string // such as 100755 of a program; "" if it has nothing there
	Object string // "" if it has nothing there
	Data   []byte // see detail; nil of what is no file, or too large, or has a folder at the other side
}

// What is read of conflicts: the first MostConflicts, each version of at most mostVersion bytes.
const (
	MostConflicts = 50
	mostVersion   = 64 << 10
)

// errOldGit says that git cannot merge without a work tree.
var errOldGit = errors.New("git 2.38 or newer is needed to merge: install it, or merge by hand")

// mergeOf merges what another commit changed into a tip. Known is in both histories, which may be cut here.
func mergeOf(ctx context.Context, git reader, tip, other, known string) (MergeResult, error) {
	base, err := git.base(ctx, tip, other)
	if err != nil {
		return MergeResult{}, err
	}
	return mergeSince(ctx, git, tip, other, cmp.Or(base, known))
}

// mergeSince is mergeOf from a base that need not be in the history of either.
func mergeSince(ctx context.Context, git reader, tip, other, base string) (r MergeResult, err error) {
	root, err := commitAlone(ctx, git, base)
	if err != nil {
		return MergeResult{}, err
	}
	for _, side := range []struct{ name, commit string }{{ours, tip}, {theirs, other}} {
		id, err := commitAlone(ctx, git, side.commit, "-p", root)
		if err == nil {
			_, err = git.git(ctx, "update-ref", "refs/"+side.name, id)
		}
		if err != nil {
			return MergeResult{}, err
		}
	}
	out, err := git.git(ctx, "-c", "merge.conflictStyle=diff3", "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
	records := records(out)
	switch code := exitCode(err); {
	case code == 129: // its usage
		return MergeResult{}, errOldGit
	case err != nil && code != 1: // 1 says that there are conflicts
		return MergeResult{}, err
	case len(records) == 0:
		return MergeResult{}, fmt.Errorf("git merge-tree answered %q", out)
	}
	if r.Conflicts, err = parseConflicts(records[1:]); err == nil {
		r.Commit, err = commitAlone(ctx, git, records[0], "-p", root)
	}
	return r, err
}

// detail adds to the merge of a tip and another commit what files in conflict hold, and which paths are mixed.
func (r *MergeResult) detail(ctx context.Context, git reader, tip, other string) error {
	come, err := git.differ(ctx, tip, r.Commit)
	theirs, wrong := git.differ(ctx, other, r.Commit)
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	otherwise := map[string]bool{}
	for _, d := range theirs {
		otherwise[d.path] = true
	}
	for _, d := range come {
		if otherwise[d.path] || d.mode == "120000" {
			r.Mixed = append(r.Mixed, d.path)
		}
	}
	var all []*Version
	var ids []string
	for i := range r.Conflicts[:min(len(r.Conflicts), MostConflicts)] {
		c := &r.Conflicts[i]
		for side := range c.Sides {
			v := &c.Sides[side]
			if v.Object != "" && v.Mode != submodule && c.aside == "" { // the commit of a submodule is in no repository of ours
				all, ids = append(all, v), append(ids, v.Object)
			}
		}
	}
	sizes, err := git.sizes(ctx, ids)
	for i := range ids {
		if err == nil && sizes[i] > mostVersion {
			ids[i] = "-" // which names nothing
		}
	}
	found, wrong := git.objects(ctx, ids...)
	if err := errors.Join(err, wrong); err != nil {
		return fmt.Errorf("read what conflicts: %w", err)
	}
	for i, o := range found {
		all[i].Data = o.Data
	}
	return nil
}

// asideName is how git names a file where the other side has a folder.
var asideName = text.Pattern(`~reprise_(ours|base)(_[0-9]+)?$`)

// commitAlone makes a commit of the files of another one, or of a tree.
func commitAlone(ctx context.Context, git reader, files string, args ...string) (string, error) {
	args = append([]string{"-c", "user.name=reprise", "-c", "user.email=" + nobody, "commit-tree", "-m", "merged", files + "^{tree}"}, args...)
	out, err := git.git(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// parseConflicts reads records such as "100644 OBJECT STAGE\tPATH".
func parseConflicts(records []string) (all []Conflict, err error) {
	for _, record := range records {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info)
		if len(f) != 3 || len(f[2]) != 1 || f[2] < "1" || f[2] > "3" {
			return nil, fmt.Errorf("git merge-tree answered %q", record)
		}
		one := Conflict{Path: asideName().ReplaceAllString(name, "")}
		if one.Path != name {
			one.aside = name
		}
		if n := len(all); n == 0 || all[n-1].Path != one.Path || all[n-1].aside != one.aside {
			all = append(all, one)
		}
		all[len(all)-1].Sides[f[2][0]-'1'] = Version{Mode: f[0], Object: f[1]}
	}
	return all, nil
}

const besideRef = "refs/reprise/beside" // of the newest commit that was made beside the branch

// State gives what a stage has of the state folder: the files, and those it removes.
func (r *Repo) State(ctx context.Context, s *Stage) (files map[string][]byte, gone []string, err error) {
	files = map[string][]byte{}
	return files, gone, r.EachStaged(ctx, s, func(one Staged) error {
		if !Under(one.Path, r.opt.State) {
			return nil
		}
		if one.Type == None {
			gone = append(gone, one.Path)
		} else {
			files[one.Path] = one.Data
		}
		return nil
	})
}

// Overlay commits code with the state folder of another commit, and moves the branch of a tree beside the run's to it.
func (r *Repo) Overlay(ctx context.Context, code, state string, at time.Time) (string, error) {
	if code == state {
		return code, nil
	}
	id, err := r.withState(ctx, r.ref, code, state, at)
	if err == nil {
		r.localTip, r.isNew = id, false // it is moved to next
	}
	return id, err
}

// withState commits code with the state folder of another commit, and moves a ref of the run to it.
func (r *Repo) withState(ctx context.Context, ref, code, state string, at time.Time) (string, error) {
	found, err := r.reads().objects(ctx, state+":"+r.opt.State)
	if err != nil {
		return "", err
	}
	put := []op{{kind: 'M', path: r.opt.State, mode: "040000", id: found[0].ID}}
	return r.makeCommit(ctx, ref, revision{message: "state", time: at, ops: put}, code)
}

// Combine commits onto ours what ours and theirs changed since base, but for the state folder. At a conflict, or a
// rename to a refused path, ours counts; those are the conflicts. It needs git 2.38.
func (r *Repo) Combine(ctx context.Context, base, ours, theirs string, at time.Time, refused func(path string) bool) (string, []Conflict, error) {
	bare := func(files string) (string, error) { // the state folder is none of the work, and nothing is renamed out of it
		return r.makeCommit(ctx, made, revision{message: "bare", time: at, ops: []op{{kind: 'D', path: r.opt.State}}}, files)
	}
	root, err := bare(base)
	mine, bad := bare(ours)
	yours, wrong := bare(theirs)
	if err := errors.Join(err, bad, wrong); err != nil {
		return "", nil, err
	}
	one, err := mergeSince(ctx, r.reads(), mine, yours, root)
	if err == nil {
		err = one.detail(ctx, r.reads(), mine, yours)
	}
	if err != nil {
		return "", nil, fmt.Errorf("merge: %w", err)
	}
	for _, p := range one.Mixed {
		if refused(p) && !slices.Contains(one.Paths(), p) {
			one.Conflicts = append(one.Conflicts, Conflict{Path: p})
		}
	}
	rev := revision{message: "merged", time: at, tree: one.Commit}
	paths := one.Paths()
	for _, c := range one.Conflicts {
		if c.aside != "" {
			paths = append(paths, c.aside)
		}
	}
	if rev.ops, err = r.opsAs(ctx, mine, paths); err != nil {
		return "", nil, err
	}
	commit, err := r.makeCommit(ctx, besideRef, rev, ours)
	return commit, one.Conflicts, err
}

// opsAs are the ops that have paths, and what is in them, as a commit has them.
func (r *Repo) opsAs(ctx context.Context, commit string, paths []string) (ops []op, err error) {
	for _, p := range paths {
		ops = append(ops, op{kind: 'D', path: p})
	}
	found, err := r.reads().entries(ctx, commit, paths, "-r")
	for _, e := range found {
		ops = append(ops, op{kind: 'M', path: e.Path, mode: e.Mode, id: e.ID})
	}
	return ops, err
}

// WithBase gives a commit, on no branch, with what the base changed between two commits; a conflict leaves marks.
func (r *Repo) WithBase(ctx context.Context, commit, from, to string) (string, error) {
	one, err := MergeResult{}, errors.Join(r.need(ctx, commit), r.need(ctx, from), r.need(ctx, to))
	if err == nil {
		one, err = mergeSince(ctx, r.reads(), commit, to, from)
	}
	return one.Commit, err
}

// BaseState is how a commit stands to a branch.
type BaseState struct {
	Behind    int      // commits of the branch that the commit lacks
	Conflicts []string // paths at which the two conflict
	Has       bool     // the commit has all of the branch, and that is more than the known one
	Gone      int      // commits in the history of the known one that the branch no longer has: it was set back
}

// compareWithBase says how a commit stands to another one of which known was in the history.
func compareWithBase(ctx context.Context, git reader, tip, other, known string) (BaseState, error) {
	if other == known { // it has not moved
		return BaseState{}, nil
	}
	n, err := countCommits(ctx, git, tip, other)
	if err != nil {
		return BaseState{}, err
	}
	s := BaseState{Behind: n}
	lost, err := countCommits(ctx, git, other, known)
	if s.Has = err == nil && lost == 0 && n == 0; err != nil || lost > 0 {
		if cut, wrong := git.git(ctx, "rev-parse", "--is-shallow-repository"); wrong != nil || strings.TrimSpace(string(cut)) != "true" {
			s.Gone, err = lost, errors.Join(err, wrong)
		} else {
			err = nil // what the two share is not here
		}
	}
	if err != nil || n == 0 {
		return s, err
	}
	r, err := mergeOf(ctx, git, tip, other, known)
	s.Conflicts = r.Paths()
	return s, err
}

func countCommits(ctx context.Context, git reader, first, second string) (int, error) {
	out, err := git.git(ctx, "rev-list", "--count", first+".."+second)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// ForParts says that git is too old to merge parts or phases that run at the same time, or does not answer.
func ForParts(ctx context.Context) error {
	out, err := call{Env: takeEnviron().local(), Args: []string{"version"}}.do(ctx)
	if err != nil {
		return err
	}
	return tooOld(string(out))
}

func tooOld(says string) error {
	var major, minor int
	if n, _ := fmt.Sscanf(says, "git version %d.%d", &major, &minor); n == 2 && (major < 2 || major == 2 && minor < 38) {
		return &prompts.Error{Reason: metadata.Because("git_parts_old", "version", strings.TrimSpace(says))}
	}
	return nil
}
