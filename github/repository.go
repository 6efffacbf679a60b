package github

import (
	"context"
	"fmt"
	"net/http"
)

// Repository is a repository as it was when it was asked for.
type Repository struct {
	FullName      string // owner/name as the forge writes it; another one than asked for after a move
	DefaultBranch string
	Private       bool
	Fork          bool
	Archived      bool // nothing can be written
	HasIssues     bool // issues are switched on
	Role          Role // of the account of the token; empty if the forge does not say
}

// Repository reads what owner/name is. Errors are an *Error, or why ctx was
// cancelled.
func (c *Client) Repository(ctx context.Context, owner, name string) (Repository, error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return Repository{}, err
	}
	k := &call{what: fmt.Sprintf("read the repository %s/%s", owner, name), needs: "metadata: read"}
	w := struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
		Private       bool
		Fork          bool
		Archived      bool
		HasIssues     bool            `json:"has_issues"`
		Permissions   map[string]bool `json:"permissions"`
	}{HasIssues: true}
	if err := c.do(ctx, k, http.MethodGet, path, nil, &w); err != nil {
		return Repository{}, err
	}
	if w.FullName == "" {
		return Repository{}, c.misfit(k, "what it sent is no repository", nil)
	}
	return Repository{
		FullName: w.FullName, DefaultBranch: w.DefaultBranch, Private: w.Private, Fork: w.Fork,
		Archived: w.Archived, HasIssues: w.HasIssues, Role: granted(w.Permissions),
	}, nil
}

// granted is the greatest role that a list of permissions gives; empty if
// there is no list.
func granted(permissions map[string]bool) Role {
	for _, p := range []struct {
		name string
		role Role
	}{{"admin", RoleAdmin}, {"maintain", RoleMaintain}, {"push", RoleWrite}, {"triage", RoleTriage}, {"pull", RoleRead}} {
		if permissions[p.name] {
			return p.role
		}
	}
	if permissions == nil {
		return ""
	}
	return RoleNone
}
