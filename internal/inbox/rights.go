package inbox

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
)

// Asker is who asks for something. The role is looked up again for each
// command, because a job takes long and rights can be withdrawn meanwhile.
type Asker struct {
	Who     string // login
	Comment int64  // 0 if it came another way
	Review  int64  // of a review its number; 0: it is none
}

// AskerOf is who asks for something in a comment or in a review.
func AskerOf(who string, comment int64, r *Review) Asker {
	if r != nil {
		return Asker{Who: who, Review: r.ID}
	}
	return Asker{Who: who, Comment: comment}
}

// May says why somebody does not have the right to give a command that needs a role, or
// nothing. The workflow file may name who has it; else the forge is asked for the role. If
// that cannot be looked up, the answer is no as well.
func (i *Inbox) May(ctx context.Context, by Asker, need github.Role) *page.Denial {
	who := by.Who
	no := &page.Denial{Code: metadata.PermissionDenied, By: who}
	if len(i.from.In.Users) > 0 && !containsFold(i.from.In.Users, who) {
		no.Why = metadata.Because("user_not_allowed", "who", who)
		return no
	}
	i.mu.Lock()
	role, known := i.roles[by]
	if s := i.low[strings.ToLower(who)]; !known && i.from.Env.Now().Before(s.until) && !s.role.AtLeast(need) {
		role, known = s.role, true
	}
	i.mu.Unlock()
	if strings.HasSuffix(who, "[bot]") && containsFold(i.from.In.Bots, who) {
		role, known = github.RoleWrite, true // an app can have no role: the workflow file gives it the right
	}
	if !known {
		var err error
		if role, err = i.from.GitHub.Role(ctx, i.from.Owner, i.from.Name, who); err != nil {
			no.Why = exit.Why(err)
			if errors.As(err, new(*github.Error)) {
				no.Code = metadata.APIError
			}
			return no
		}
		i.mu.Lock()
		i.roles[by] = role
		if !role.AtLeast(need) {
			room := i.room(slices.ContainsFunc(i.list, func(c github.Comment) bool { return c.ID == by.Comment && i.signs.on(c).Eyes }))
			*room = max(*room-1, 0)
			i.low[strings.ToLower(who)] = lowRole{role, i.from.Env.Now().Add(lowFor)}
		}
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

// MayNow is May with a role that is looked up now, not some time ago.
func (i *Inbox) MayNow(ctx context.Context, c Waiting) *page.Denial {
	i.mu.Lock()
	delete(i.roles, c.Asker())
	i.mu.Unlock()
	return i.May(ctx, c.Asker(), c.Parsed.Role())
}

// lowRole is a role that was not enough, and how long that is remembered: a
// hundred comments of somebody without the right must not cause a hundred
// requests.
type lowRole struct {
	role  github.Role
	until time.Time
}

// lowFor is how long a role that was not enough is remembered.
const lowFor = time.Minute

// mostStrangers is how many roles that are not enough may be looked up at once before
// strangers have to wait: anybody may write two hundred commands. With each look at the
// comments, between steps or every twenty seconds, there is one more. As many more may
// be looked up of those whose comment has eyes of ours: the gate gives these to whoever has
// the right, and a crowd that only writes or reacts cannot keep them waiting.
const mostStrangers = 20

// room is what is left of that for authors of comments that we have signed, or for the
// others. The caller holds mu.
func (i *Inbox) room(signed bool) *int {
	if signed {
		return &i.signed
	}
	return &i.lookups
}

// waits reports whether a command waits until the forge may be asked about its author.
// Whoever the forge calls somebody never waits, and neither does the command that this
// job is for. Nobody is refused by this: members of an organization who do not show it
// are called nobody, too. The caller holds mu.
func (i *Inbox) waits(c Waiting) bool {
	t, who := i.from.Trigger, c.Comment.Author.Login
	mine := c.Review == nil && t.Comment != nil && t.Comment.ID == c.Comment.ID || c.Review != nil && t.Review != nil && t.Review.ID == c.Review.ID
	switch {
	case *i.room(c.Signs.Eyes) > 0, mine, !c.Comment.IsStranger():
		return false
	case len(i.from.In.Users) > 0, containsFold(i.from.In.Bots, who):
		return false // the workflow file says who may
	}
	return !i.from.Env.Now().Before(i.low[strings.ToLower(who)].until)
}
