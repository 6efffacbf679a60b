package merge

import (
	"context"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/program"
)

// State is how a commit stands to a branch.
type State struct {
	Behind    int      // commits of the branch that the commit lacks
	Conflicts []string // paths at which the two conflict
	Has       bool     // the commit has all of the branch, and that is more than the known one
	Gone      int      // commits in the history of the known one that the branch no longer has: it was set back
}

// Compare says how a commit stands to another one of which known was in the history.
func Compare(ctx context.Context, git Git, tip, other, known string) (State, error) {
	if other == known { // it has not moved
		return State{}, nil
	}
	n, err := count(ctx, git, tip, other)
	if err != nil {
		return State{}, err
	}
	s := State{Behind: n}
	if _, err := git(ctx, "merge-base", "--is-ancestor", known, other); err != nil {
		if s.Gone, err = gone(ctx, git, known, other, err); err != nil {
			return State{}, err
		}
	} else if n == 0 {
		s.Has = true
	}
	if n == 0 {
		return s, nil
	}
	r, err := Of(ctx, git, tip, other, known)
	s.Conflicts = r.Paths()
	return s, err
}

// gone counts the commits of known that another one does not have. It is 0 where the
// history is cut, which hides what the two have in common, and perhaps known itself. Why is how
// git said that the other one does not have known.
func gone(ctx context.Context, git Git, known, other string, why error) (int, error) {
	cut, err := git(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil || strings.TrimSpace(string(cut)) != "false" {
		return 0, err
	}
	if program.ExitCode(why) != 1 { // it did not say so
		return 0, why
	}
	return count(ctx, git, other, known)
}

// count counts the commits of the second that the first lacks.
func count(ctx context.Context, git Git, first, second string) (int, error) {
	out, err := git(ctx, "rev-list", "--count", first+".."+second)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}
