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
