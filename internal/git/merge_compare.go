package git

import (
	"context"
	"strconv"
	"strings"
)

// State is how a commit stands to a branch.
type BaseState struct {
	Behind    int      // commits of the branch that the commit lacks
	Conflicts []string // paths at which the two conflict
	Has       bool     // the commit has all of the branch, and that is more than the known one
	Gone      int      // commits in the history of the known one that the branch no longer has: it was set back
}

// Compare says how a commit stands to another one of which known was in the history.
func compareWithBase(ctx context.Context, git runner, tip, other, known string) (BaseState, error) {
	if other == known { // it has not moved
		return BaseState{}, nil
	}
	n, err := countCommits(ctx, git, tip, other)
	if err != nil {
		return BaseState{}, err
	}
	s := BaseState{Behind: n}
	if _, err := git(ctx, "merge-base", "--is-ancestor", known, other); err != nil {
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

// gone counts the commits of known that another one does not have. It is 0 where the
// history is cut, which hides what the two have in common, and perhaps known itself. Why is how
// git said that the other one does not have known.
func lostCommits(ctx context.Context, git runner, known, other string, why error) (int, error) {
	cut, err := git(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(string(cut)) != "false" {
		return 0, err
	}
	if exitCode(why) != 1 { // it did not say so
		return 0, why
	}
	return countCommits(ctx, git, other, known)
}

// count counts the commits of the second that the first lacks.
func countCommits(ctx context.Context, git runner, first, second string) (int, error) {
	out, err := git(ctx, "rev-list", "--count", first+".."+second)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}
