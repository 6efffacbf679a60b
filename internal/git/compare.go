package git

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

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

// lostCommits counts the commits of known that another one does not have. It is 0 where the
// history is cut, which hides what the two have in common, and perhaps known itself. Why is how
// git said that the other one does not have known.
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

// countCommits counts the commits of the second that the first lacks.
func countCommits(ctx context.Context, git reader, first, second string) (int, error) {
	out, err := git.git(ctx, "rev-list", "--count", first+".."+second)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(string(out)))
}

// Modes says in some lines which modes the sides have at those paths in conflict where they
// are not all the same; "" if there is none. What files hold does not show that. Base, ours and
// theirs are what the three sides are called.
func Modes(all []Conflict, base, ours, theirs string) string {
	var out strings.Builder
	for _, c := range all {
		var said []string
		different, one := false, ""
		for _, side := range []struct{ name, mode string }{{base, c.Base.Mode}, {ours, c.Ours.Mode}, {theirs, c.Theirs.Mode}} {
			if side.mode == "" {
				continue
			}
			said = append(said, side.name+" "+side.mode)
			different, one = different || one != "" && one != side.mode, side.mode
		}
		if different {
			fmt.Fprintf(&out, "%s: %s\n", c.Path, strings.Join(said, ", "))
		}
	}
	return out.String()
}

// ForParts says that git is too old to bring the commits of parts, or of phases, together
// that are done at the same time, or that it does not answer.
func ForParts(ctx context.Context) error {
	out, err := call{Env: takeEnviron().Local(), Args: []string{"version"}}.Do(ctx)
	if err != nil {
		return err
	}
	return tooOld(string(out))
}

// tooOld is ForParts for what git says of its version.
func tooOld(says string) error {
	var major, minor int
	if n, _ := fmt.Sscanf(says, "git version %d.%d", &major, &minor); n == 2 && (major < 2 || major == 2 && minor < 38) {
		return &text.CauseError{Why: text.CauseOf("git_parts_old", "parts at the same time need git 2.38 or newer, and this is {version}", "version", strings.TrimSpace(says))}
	}
	return nil
}
