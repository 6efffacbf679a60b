package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

const besideRef = "refs/reprise/beside" // of the newest commit that was made beside the branch

// State gives what a stage has of the state folder: the files, and those it removes.
func (r *Repo) State(s *Stage) (files map[string][]byte, gone []string) {
	files = map[string][]byte{}
	for _, o := range s.changes() {
		if o.inline {
			files[o.path] = o.data
		} else if o.kind == 'D' && Under(o.path, r.opt.State) {
			gone = append(gone, o.path)
		}
	}
	return files, gone
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
	found, err := r.lookUp(ctx, state+":"+r.opt.State)
	if err != nil {
		return "", err
	}
	put := []op{{kind: 'M', path: r.opt.State, mode: "040000", id: found[0].ID}}
	return r.makeCommit(ctx, ref, revision{message: "state", time: at, ops: put}, code, true)
}

// Combine commits onto ours what ours and theirs changed since base, but for the state folder. At a conflict, or a
// rename to a refused path, ours counts; those are the conflicts. It needs git 2.38.
func (r *Repo) Combine(ctx context.Context, base, ours, theirs string, at time.Time, refused func(path string) bool) (string, []Conflict, error) {
	bare := func(files string) (string, error) { // the state folder is none of the work, and nothing is renamed out of it
		return r.makeCommit(ctx, made, revision{message: "bare", time: at, ops: []op{{kind: 'D', path: r.opt.State}}}, files, true)
	}
	root, err := bare(base)
	mine, bad := bare(ours)
	yours, wrong := bare(theirs)
	if err := errors.Join(err, bad, wrong); err != nil {
		return "", nil, err
	}
	one, err := mergeSince(ctx, r.reads(), mine, yours, root)
	if err == nil {
		err = one.Detail(ctx, r.reads(), mine, yours)
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
	commit, err := r.makeCommit(ctx, besideRef, rev, ours, true)
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
	name := strings.Join([]string{commit, from, to}, " ")
	if r.based[name] != "" {
		return r.based[name], nil
	}
	one, err := MergeResult{}, errors.Join(r.need(ctx, commit), r.need(ctx, from), r.need(ctx, to))
	if err == nil {
		one, err = mergeSince(ctx, r.reads(), commit, to, from)
	}
	r.based = map[string]string{name: one.Commit}
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
	if _, err := git.git(ctx, "merge-base", "--is-ancestor", known, other); err != nil {
		if s.Gone, err = lostCommits(ctx, git, known, other, err); err != nil {
			return BaseState{}, err
		}
	} else if n == 0 {
		s.Has = true
	}
	if n == 0 {
		return s, nil
	}
	r, err := mergeOf(ctx, git, tip, other, known)
	s.Conflicts = r.Paths()
	return s, err
}

// lostCommits counts the commits of known that another lacks: 0 in a shallow clone, which hides what they share.
// Why is the error with which git said that known is no ancestor.
func lostCommits(ctx context.Context, git reader, known, other string, why error) (int, error) {
	cut, err := git.git(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(string(cut)) != "false" {
		return 0, err
	}
	if exitCode(why) != 1 { // it did not say so
		return 0, why
	}
	return countCommits(ctx, git, other, known)
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
	out, err := call{Env: takeEnviron().Local(), Args: []string{"version"}}.Do(ctx)
	if err != nil {
		return err
	}
	return tooOld(string(out))
}

func tooOld(says string) error {
	var major, minor int
	if n, _ := fmt.Sscanf(says, "git version %d.%d", &major, &minor); n == 2 && (major < 2 || major == 2 && minor < 38) {
		return &text.CauseError{Why: text.CauseOf("git_parts_old", "parts at the same time need git 2.38 or newer, and this is {version}", "version", strings.TrimSpace(says))}
	}
	return nil
}
