package inbox

import (
	"context"
	"slices"
	"sync"

	"github.com/reprise-ci/reprise/internal/github"
)

// Signs are reactions of our own to a comment. Those of others, of which a forge gives no
// more than the sum, say nothing: anybody may react.
type Signs struct {
	Eyes     bool // the gate has found that its author has the right
	Confused bool // it was refused
	Settled  bool // it was carried out, or the run ended without that
	// Known is false where it could not be found out in time; then the others are false, too,
	// and the comment counts neither as signed nor as refused.
	Known bool
}

// MayBeSigned reports whether the gate has accepted a comment, as far as is known.
func (s Signs) MayBeSigned() bool { return s.Eyes || !s.Known }

// seen are signs, and the sums from which it is known that there are no others.
type seen struct {
	Signs
	sums github.Reactions
}

// mostAsked is how many comments a forge is asked about with each look, who has reacted to them.
const mostAsked = 100

// signs are what is known of the signs on comments.
type signs struct {
	thread func(comment int64) *github.Thread
	warn   func(error)

	mu sync.Mutex
	of map[int64]seen
}

// on gives what is known of the signs on a comment.
func (s *signs) on(c github.Comment) Signs {
	s.mu.Lock()
	defer s.mu.Unlock()
	if was := s.of[c.ID]; c.Reactions.None() || was.sums != c.Reactions {
		return Signs{Known: c.Reactions.None()}
	}
	return s.of[c.ID].Signs
}

// isAsked reports whether there is no more to find out about the signs on a comment.
func (s *signs) isAsked(c github.Comment) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.Reactions.None() || s.of[c.ID].sums == c.Reactions
}

// learn asks who has reacted to comments.
func (s *signs) learn(ctx context.Context, list ...github.Comment) {
	for _, c := range list[:min(len(list), mostAsked)] {
		if ctx.Err() != nil || s.isAsked(c) {
			continue
		}
		ours, whole, err := s.thread(c.ID).Reacted(ctx, c.ID)
		if err != nil {
			if !github.IsKind(err, github.NotFound, github.Gone) && ctx.Err() == nil {
				s.warn(err)
			}
			continue
		}
		has := func(r github.Reaction) bool { return slices.Contains(ours, r) }
		found := Signs{Eyes: has(github.Eyes), Confused: has(github.Confused), Settled: has(github.Rocket) || has(github.ThumbsDown), Known: true}
		if !whole && !found.Eyes { // what makes it count may be among those that were not read
			found = Signs{}
		}
		s.mu.Lock()
		s.of[c.ID] = seen{found, c.Reactions}
		s.mu.Unlock()
	}
}
