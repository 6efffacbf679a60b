package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// seenRole is a role as it was looked up.
type seenRole struct {
	role github.Role
	at   time.Time
}

// roleFor is how long a role is remembered: a hundred comments of somebody must not cause a hundred requests.
const roleFor = time.Minute

// may says why somebody does not have the right to give a command that needs a role, as a *command.Refusal, or
// nothing. The workflow file may name who has it; else the forge is asked for the role, for the rights can be
// withdrawn while a job works: with now, it is looked up now, unless it was not enough a moment ago. If that cannot be
// looked up, the answer is no as well.
func (i *inbox) may(ctx context.Context, account github.User, need github.Role, now bool) error {
	who, named := account.Login, account.IsBot() && containsFold(i.from.In.Bots, account.Login)
	switch {
	case len(i.from.In.Users) > 0 && !containsFold(i.from.In.Users, who):
		return command.Refuse(metadata.PermissionDenied, metadata.Because("user_not_allowed", "who", who))
	case account.IsBot() && !named:
		return command.Refuse(metadata.PermissionDenied, metadata.Because("bot_not_allowed", "bot", who))
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
		if role, err = i.from.GitHub.Role(ctx, who); errors.As(err, new(*github.Error)) {
			return command.RefusedBy(metadata.APIError, err)
		} else if err != nil {
			return command.RefusedBy(metadata.PermissionDenied, err)
		}
		i.mu.Lock()
		i.roles[name] = seenRole{role, at}
		i.mu.Unlock()
	}
	if !role.AtLeast(need) {
		return command.Refuse(metadata.PermissionDenied, metadata.Because("role_too_small", "who", who, "role", role, "need", need))
	}
	return nil
}

// containsFold reports whether a list has a name, however that is capitalized.
func containsFold(list []string, s string) bool {
	return slices.ContainsFunc(list, func(l string) bool { return strings.EqualFold(l, s) })
}

// signs are reactions of our own to a comment. Those of others, of which a forge gives no
// more than the sum, say nothing: anybody may react.
type signs struct {
	Eyes     bool // the gate has found that its author has the right
	Confused bool // it was refused
	Settled  bool // it was carried out, or the run ended without that
	// Known is false where it could not be found out in time; then the others are false, too,
	// and the comment counts neither as signed nor as refused.
	Known bool
}

// mayBeSigned reports whether the gate has accepted a comment, as far as is known.
func (s signs) mayBeSigned() bool { return s.Eyes || !s.Known }

// seen are signs, and the sums from which it is known that there are no others.
type seen struct {
	signs
	sums github.Reactions
}

// mostAsked is how many comments a forge is asked about with each look, who has reacted to them.
const mostAsked = 100

// signsOn gives what is known of the signs on a comment, and whether there is no more to find out. The caller holds mu.
func (i *inbox) signsOn(c github.Comment) (s signs, asked bool) {
	was := i.signs[c.ID]
	if c.Reactions.None() || was.sums != c.Reactions {
		return signs{Known: c.Reactions.None()}, c.Reactions.None()
	}
	return was.signs, true
}

// learn asks who has reacted to comments.
func (i *inbox) learn(ctx context.Context, list ...github.Comment) {
	for _, c := range list[:min(len(list), mostAsked)] {
		i.mu.Lock()
		_, asked := i.signsOn(c)
		i.mu.Unlock()
		if ctx.Err() != nil || asked {
			continue
		}
		ours, whole, err := i.threadOf(c.ID).Reacted(ctx, c.ID)
		if err != nil {
			if !github.IsKind(err, github.NotFound, github.Gone) && ctx.Err() == nil {
				i.from.Warn(err)
			}
			continue
		}
		has := func(r github.Reaction) bool { return slices.Contains(ours, r) }
		found := signs{Eyes: has(github.Eyes), Confused: has(github.Confused), Settled: has(github.Rocket) || has(github.ThumbsDown), Known: true}
		if !whole && !found.Eyes { // what makes it count may be among those that were not read
			found = signs{}
		}
		i.mu.Lock()
		i.signs[c.ID] = seen{found, c.Reactions}
		i.mu.Unlock()
	}
}
