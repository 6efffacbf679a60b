package github

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// Repository is a repository as it was when it was asked for.
type Repository struct {
	FullName      string // owner/name as the forge writes it; another one than asked for after a move
	DefaultBranch string
	Private       bool
	Archived      bool // nothing can be written
	HasIssues     bool // issues are switched on
	Role          Role // of the account of the token; empty if the forge does not say
}

// Repository reads what it is.
func (c Repo) Repository(ctx context.Context) (Repository, error) {
	what := fmt.Sprintf("read the repository %s", c.Name)
	w, _, err := do[github.Repository](ctx, c.api, Request{What: what, Needs: "metadata: read", Path: c.path()})
	if err == nil && w.GetFullName() == "" {
		err = c.misfit(what, "what it sent is no repository", nil)
	}
	if err != nil {
		return Repository{}, err
	}
	return Repository{
		FullName: w.GetFullName(), DefaultBranch: w.GetDefaultBranch(), Private: w.GetPrivate(),
		Archived: w.GetArchived(), HasIssues: w.HasIssues == nil || *w.HasIssues, Role: granted(w.Permissions),
	}, nil
}

// granted is the greatest role in a list of permissions; empty without a list.
func granted(permissions map[string]bool) Role {
	for _, p := range []struct {
		name string
		role Role
	}{{"admin", RoleAdmin}, {"maintain", RoleMaintain}, {"push", RoleWrite}, {"triage", RoleTriage}, {"pull", roleRead}} {
		if permissions[p.name] {
			return p.role
		}
	}
	if permissions == nil {
		return ""
	}
	return roleNone
}

// File reads a file of a repository as it is on a branch. Name is a path from the top. A file that is not there is an
// fs.ErrNotExist; other errors are an *Error, or why ctx was cancelled.
func (c Repo) File(ctx context.Context, ref, name string) ([]byte, error) {
	what := fmt.Sprintf("read %s on %s of %s", name, ref, c.Name)
	r := Request{What: what, Needs: "contents: read", Path: c.path() + "/contents/" + (&url.URL{Path: name}).EscapedPath() + "?ref=" + url.QueryEscape(ref)}
	f, _, err := do[github.RepositoryContent](ctx, c.api, r)
	if err == nil && f.GetEncoding() != "base64" && f.GetSize() > 0 { // GitHub leaves out what is over 1 MB, and has it as a blob
		r.Path = c.path() + "/git/blobs/" + url.PathEscape(f.GetSHA())
		f, _, err = do[github.RepositoryContent](ctx, c.api, r)
	}
	switch {
	case IsKind(err, NotFound):
		return nil, fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	case err != nil:
		return nil, err
	}
	text, err := f.GetContent()
	if err != nil || f.GetType() != "" && f.GetType() != "file" {
		return nil, fmt.Errorf("%s: it is no file that can be read", what)
	}
	return []byte(text), nil
}

// SignedCommit makes a commit of a tree and parents that are there, on no branch, and gives its hash. GitHub signs it in
// its own name where the token is one of a job or an app, and says so; else that is an error.
// https://docs.github.com/en/rest/git/commits#create-a-commit
func (c Repo) SignedCommit(ctx context.Context, message, tree string, parents []string) (string, error) {
	what := "make a signed commit in " + c.Name
	made, _, err := do[github.Commit](ctx, c.api, Request{
		What: what, Needs: "contents: write", Method: http.MethodPost, Path: c.path() + "/git/commits", Repeatable: true, reads: true, // nobody sees it yet
		Body: map[string]any{"message": message, "tree": tree, "parents": parents}, // an author of ours would keep GitHub from signing
	})
	if v := made.GetVerification(); err == nil && !v.GetVerified() {
		err = c.problem(what, Forbidden, metadata.Because("github_unsigned", "reason", v.GetReason()),
			metadata.Because("do_app_token"), nil)
	}
	return made.GetSHA(), err
}

// Rules are the kinds of rules that hold for a branch, such as required_signatures, also for one that is not there yet.
// A forge that knows none has none. https://docs.github.com/en/rest/repos/rules#get-rules-for-a-branch
func (c Repo) Rules(ctx context.Context, branch string) (kinds []string, err error) {
	found, _, err := do[[]struct{ Type string }](ctx, c.api, Request{
		What: "read the rules of " + branch + " in " + c.Name, Needs: "metadata: read", Path: c.path() + "/rules/branches/" + (&url.URL{Path: branch}).EscapedPath() + "?per_page=100",
	})
	if IsKind(err, NotFound) {
		return nil, nil
	}
	for _, r := range found {
		kinds = append(kinds, r.Type)
	}
	return kinds, err
}

// Web is the address at which people see what the API gives.
func (c *Client) Web() *url.URL {
	return &url.URL{Scheme: c.base.Scheme, Host: strings.TrimPrefix(strings.ToLower(c.base.Host), "api.")}
}

// MayPush asks whether the token may make branches there, by asking for one at a commit that cannot be: nil
// says that it may, or that the forge cannot tell. Nothing is made. Rules for single branches are not looked at.
func (c Repo) MayPush(ctx context.Context) error {
	return c.mayWrite(ctx, "branches may be pushed", false, Request{
		Needs: "contents: write", Path: "/git/refs", Body: map[string]any{"ref": "refs/heads/may-it-be-pushed", "sha": strings.Repeat("0", 40)},
	})
}

// MayWriteIssues asks whether the token may write issues and comments there, by asking for an issue without a
// title: nil says that it may, or that the forge cannot tell. Nothing is opened.
func (c Repo) MayWriteIssues(ctx context.Context) error {
	return c.mayWrite(ctx, "issues may be written", false, Request{Needs: "issues: write", Path: "/issues", Body: map[string]any{"title": ""}})
}

// MayOpenPull asks whether the token may open pull requests to base, by asking
// for one of base to itself: nil says that it may. Nothing is opened.
func (c Repo) MayOpenPull(ctx context.Context, base string) error {
	return c.mayWrite(ctx, "pull requests may be opened", true, Request{
		Needs: writesPulls, Path: "/pulls", Body: map[string]any{"title": "May pull requests be opened?", "head": base, "base": base},
	})
}

// MayStart asks whether the token may start a workflow there, given by the name of its file, by asking for
// that on no branch: nil says that it may, or that the forge cannot tell. Nothing is started.
func (c Repo) MayStart(ctx context.Context, workflow string) error {
	return c.mayWrite(ctx, "workflows may be started", false, Request{
		Needs: "actions: write", Path: "/actions/workflows/" + url.PathEscape(workflow) + "/dispatches", Body: map[string]any{"ref": ""},
	})
}

// mayWrite finds out whether something may be done by a request that cannot be carried out. By
// every forge had says that what is not there says that the token may not.
func (c Repo) mayWrite(ctx context.Context, asks string, had bool, r Request) error {
	r.What, r.Method, r.Repeatable, r.reads = fmt.Sprintf("ask whether %s in %s", asks, c.Name), http.MethodPost, true, true
	_, err := c.Ask(ctx, r, nil)
	switch {
	case err == nil: // no forge is known that does
		return c.misfit(r.What, "it made what cannot be; look for it, and remove it", nil)
	case IsKind(err, Refused), !had && IsKind(err, NotFound, Gone):
		return nil
	}
	return err
}

var loginForm = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}(\[bot\])?$`)

// giteaRole is what Gitea and Forgejo ask of a token before they tell the role of somebody else.
const giteaRole = "to be one of an administrator of the repository, with the scope read:repository: Gitea and Forgejo tell only them what others may do"

// Role asks what somebody may do there. Who is no collaborator has RoleNone in a private repository, and
// RoleRead in a public one. A role with a name of its own counts as what it lets do. That there is
// no such role is believed when it was said twice: a forge that is not well says so of anybody for a moment, and a
// command would be lost. Errors are an *Error, or why ctx was cancelled; they say nothing about the role, and whoever
// asks has to refuse.
func (c Repo) Role(ctx context.Context, login string) (Role, error) {
	w, err := c.permission(ctx, login, Request{What: fmt.Sprintf("read what %s may do in %s", login, c.Name), gitea: giteaRole, Doubts: true})
	switch {
	case IsKind(err, NotFound):
		return roleNone, nil
	case err != nil:
		return roleNone, err
	}
	return cmp.Or(granted(w.User.Permissions), parseRole(w.GetPermission())), nil // some forges send the word alone
}

// Account asks who somebody is, by their login.
func (c Repo) Account(ctx context.Context, login string) (User, error) {
	w, err := c.permission(ctx, login, Request{What: "read who " + login + " is"})
	return User{Login: w.User.GetLogin(), ID: w.User.GetID()}, err
}

// permission asks for what is known of somebody there.
func (c Repo) permission(ctx context.Context, login string, r Request) (github.RepositoryPermissionLevel, error) {
	if !loginForm().MatchString(login) {
		return github.RepositoryPermissionLevel{}, fmt.Errorf("%q is no login", login)
	}
	r.Needs, r.Path = "metadata: read", c.path()+"/collaborators/"+url.PathEscape(login)+"/permission"
	w, _, err := do[github.RepositoryPermissionLevel](ctx, c.api, r)
	w.User = cmp.Or(w.User, &github.User{})
	return w, err
}

// Role is what somebody may do in a repository.
type Role string

// The roles, the smallest first.
const (
	roleNone     Role = "none"
	roleRead     Role = "read"
	RoleTriage   Role = "triage"
	RoleWrite    Role = "write"
	RoleMaintain Role = "maintain"
	RoleAdmin    Role = "admin"
)

// rank is the place of a role among the others; -1 if it is none.
func (r Role) rank() int {
	return slices.Index([]Role{roleNone, roleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin}, r)
}

// AtLeast reports whether a role is min or greater. A word that is no role is
// not, and nothing is at least such a word.
func (r Role) AtLeast(min Role) bool { return min.rank() >= 0 && r.rank() >= min.rank() }

// parseRole reads a role. What some forges call owner is admin.
func parseRole(s string) Role {
	switch r := Role(s); {
	case s == "owner":
		return RoleAdmin
	case r.rank() >= 0:
		return r
	}
	return roleNone
}
