package bot

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/review"
	"github.com/reprise-ci/reprise/metadata"
)

// smallRole is a role that was not enough, and how long that is remembered: a
// hundred comments of somebody without the right must not cause a hundred
// requests.
type smallRole struct {
	role  github.Role
	until time.Time
}

// smallFor is how long a role that was not enough is remembered.
const smallFor = time.Minute

// asker is who asks for something. The role is looked up again for each
// command, because a job takes long and rights can be withdrawn meanwhile.
type asker struct {
	who     string // login
	comment int64  // 0 if it came another way
	review  int64  // of a review its number; 0: it is none
}

// askerOf is who asks for something in a comment or in a review.
func askerOf(who string, comment int64, r *review.Review) asker {
	if r != nil {
		return asker{who: who, review: r.ID}
	}
	return asker{who: who, comment: comment}
}

// may says why somebody does not have the right, or nothing. If that cannot be
// looked up, the answer is no as well.
func (i *inbox) may(ctx context.Context, by asker, need github.Role) *page.Denial {
	who := by.who
	no := &page.Denial{Code: metadata.PermissionDenied, By: who}
	if len(i.in.Users) > 0 && !containsFold(i.in.Users, who) {
		no.Why = metadata.Because("user_not_allowed", "who", who)
		return no
	}
	i.mu.Lock()
	role, known := i.roles[by]
	if s := i.small[strings.ToLower(who)]; !known && i.env.Now().Before(s.until) && !s.role.AtLeast(need) {
		role, known = s.role, true
	}
	i.mu.Unlock()
	if strings.HasSuffix(who, "[bot]") && containsFold(i.in.Bots, who) {
		role, known = github.RoleWrite, true // an app can have no role: the workflow file gives it the right
	}
	if !known {
		var err error
		if role, err = i.gh.Role(ctx, i.owner, i.name, who); err != nil {
			no.Why = exit.Why(err)
			if errors.As(err, new(*github.Error)) {
				no.Code = metadata.APIError
			}
			return no
		}
		i.mu.Lock()
		i.roles[by] = role
		if !role.AtLeast(need) {
			i.small[strings.ToLower(who)] = smallRole{role, i.env.Now().Add(smallFor)}
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

// mayNow is may with a role that is looked up now, not some time ago.
func (i *inbox) mayNow(ctx context.Context, c waiting) *page.Denial {
	i.mu.Lock()
	delete(i.roles, c.asker())
	i.mu.Unlock()
	return i.may(ctx, c.asker(), c.asked.Role())
}
