package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
)

// Role is what somebody may do in a repository. The greater one includes the
// smaller ones.
type Role string

// The roles, the smallest first.
const (
	RoleNone     Role = "none"
	RoleRead     Role = "read"
	RoleTriage   Role = "triage"
	RoleWrite    Role = "write"
	RoleMaintain Role = "maintain"
	RoleAdmin    Role = "admin"
)

// rank is the place of a role among the others; -1 if it is none.
func (r Role) rank() int {
	return slices.Index([]Role{RoleNone, RoleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin}, r)
}

// AtLeast reports whether a role is min or greater. A word that is no role is
// not, and nothing is at least such a word.
func (r Role) AtLeast(min Role) bool { return min.rank() >= 0 && r.rank() >= min.rank() }

// ParseRole reads a role. What some forges call owner is admin.
func ParseRole(s string) (Role, bool) {
	r := Role(s)
	if s == "owner" {
		r = RoleAdmin
	}
	if r.rank() < 0 {
		return RoleNone, false
	}
	return r, true
}

var loginForm = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\[bot\])?$`)

// giteaRole is what Gitea and Forgejo ask of a token before they tell the role of
// somebody else.
const giteaRole = "to be one of an administrator of the repository, with the scope read:repository: Gitea and Forgejo tell only them what others may do"

// Role asks what somebody may do in owner/name. Who is no collaborator has
// RoleNone in a private repository, and RoleRead in a public one. A role with a
// name of its own counts as the permission that it is built on.
//
// Errors are an *Error, or why ctx was cancelled; they say nothing about the
// role, and whoever asks has to refuse.
func (c *Client) Role(ctx context.Context, owner, name, login string) (Role, error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return RoleNone, err
	}
	if !loginForm.MatchString(login) {
		return RoleNone, fmt.Errorf("%q is no login", login)
	}
	k := &call{what: fmt.Sprintf("read what %s may do in %s/%s", login, owner, name), needs: "metadata: read", gitea: giteaRole}
	var w struct {
		Permission string `json:"permission"`
		RoleName   string `json:"role_name"`
	}
	err = c.do(ctx, k, http.MethodGet, path+"/collaborators/"+url.PathEscape(login)+"/permission", nil, &w)
	switch {
	case isKind(err, NotFound):
		return RoleNone, nil
	case err != nil:
		return RoleNone, err
	}
	return roleOf(w.RoleName, w.Permission), nil
}

// roleOf is the role that a name and a permission make. The name tells finer
// than the permission, but gives nothing beyond it: people can name roles.
func roleOf(name, permission string) Role {
	base, _ := ParseRole(permission)
	r, ok := ParseRole(name)
	switch {
	case !ok:
		return base
	case permission == "": // some forges send the name only
		return r
	}
	most := map[Role]Role{RoleRead: RoleTriage, RoleWrite: RoleMaintain}
	if limit, ok := most[base]; ok && limit.AtLeast(r) || base.AtLeast(r) {
		return r
	}
	return base
}
