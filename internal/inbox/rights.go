package inbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// seenRole is a role as it was looked up.
type seenRole struct {
	role github.Role
	at   time.Time
}

// roleFor is how long a role is remembered: a hundred comments of somebody must not cause a hundred requests.
const roleFor = time.Minute

// May says why somebody does not have the right to give a command that needs a role, or
// nothing. The workflow file may name who has it; else the forge is asked for the role, for the rights can be
// withdrawn while a job works. If that cannot be looked up, the answer is no as well.
func (i *Inbox) May(ctx context.Context, who github.User, need github.Role) *command.Denial {
	return i.may(ctx, who, need, false)
}

// MayNow is May with a role that is looked up now, unless it was not enough a moment ago.
func (i *Inbox) MayNow(ctx context.Context, c Waiting) *command.Denial {
	return i.may(ctx, c.Comment.Author, c.Parsed.Role(), true)
}

func (i *Inbox) may(ctx context.Context, account github.User, need github.Role, now bool) *command.Denial {
	who := account.Login
	no, named := &command.Denial{Code: metadata.PermissionDenied, By: who}, account.IsBot() && containsFold(i.from.In.Bots, who)
	switch {
	case len(i.from.In.Users) > 0 && !containsFold(i.from.In.Users, who):
		no.Why = metadata.Because("user_not_allowed", "who", who)
		return no
	case account.IsBot() && !named:
		no.Why = metadata.Because("bot_not_allowed", "bot", who)
		return no
	}
	name, at := strings.ToLower(who), i.from.Env.Now()
	i.mu.Lock()
	was := i.roles[name]
	i.mu.Unlock()
	role := was.role
	if named {
		role = github.RoleWrite // an app can have no role: the workflow file gives it the right
	} else if was.at.IsZero() || at.Sub(was.at) >= roleFor || now && role.AtLeast(need) {
		var err error
		if role, err = i.from.GitHub.Role(ctx, who); err != nil {
			no.Why = prompts.Why(err)
			if errors.As(err, new(*github.Error)) {
				no.Code = metadata.APIError
			}
			return no
		}
		i.mu.Lock()
		i.roles[name] = seenRole{role, at}
		i.mu.Unlock()
	}
	if !role.AtLeast(need) {
		no.Why = metadata.Because("role_too_small", "who", who, "role", role, "need", need)
		return no
	}
	return nil
}

// containsFold reports whether a list has a name, however that is capitalized.
func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, s) })
}

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
