package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// MayPush asks whether the token may make branches in owner/name, by asking for one at a commit that cannot be: nil
// says that it may, or that the forge cannot tell. Nothing is made. Rules for single branches are not looked at.
func (c *Client) MayPush(ctx context.Context, owner, name string) error {
	return c.mayWrite(ctx, owner, name, "branches may be pushed", false, Request{
		Needs: "contents: write", Path: "/git/refs", Body: map[string]any{"ref": "refs/heads/may-it-be-pushed", "sha": strings.Repeat("0", 40)},
	})
}

// MayWriteIssues asks whether the token may write issues and comments in owner/name, by asking for an issue without a
// title: nil says that it may, or that the forge cannot tell. Nothing is opened.
func (c *Client) MayWriteIssues(ctx context.Context, owner, name string) error {
	return c.mayWrite(ctx, owner, name, "issues may be written", false, Request{Needs: "issues: write", Path: "/issues", Body: map[string]any{"title": ""}})
}

// MayOpenPull asks whether the token may open pull requests to base, by asking
// for one of base to itself: nil says that it may. Nothing is opened.
func (c *Client) MayOpenPull(ctx context.Context, owner, name, base string) error {
	return c.mayWrite(ctx, owner, name, "pull requests may be opened", true, Request{
		Needs: writesPulls, Path: "/pulls", Body: map[string]any{"title": "May pull requests be opened?", "head": base, "base": base},
	})
}

// MayStart asks whether the token may start a workflow in owner/name, given by the name of its file, by asking for
// that on no branch: nil says that it may, or that the forge cannot tell. Nothing is started.
func (c *Client) MayStart(ctx context.Context, owner, name, workflow string) error {
	return c.mayWrite(ctx, owner, name, "workflows may be started", false, Request{
		Needs: "actions: write", Path: "/actions/workflows/" + url.PathEscape(workflow) + "/dispatches", Body: map[string]any{"ref": ""},
	})
}

// mayWrite finds out whether something may be done by a request that cannot be carried out. By
// every forge had says that what is not there says that the token may not.
func (c *Client) mayWrite(ctx context.Context, owner, name, asks string, had bool, r Request) error {
	r.What, r.Method, r.Repeatable, r.reads = fmt.Sprintf("ask whether %s in %s/%s", asks, owner, name), http.MethodPost, true, true
	_, err := c.Ask(ctx, owner, name, r, nil)
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

// Role asks what somebody may do in owner/name. Who is no collaborator has RoleNone in a private repository, and
// RoleRead in a public one. A role with a name of its own counts as what it lets do. That there is
// no such role is believed when it was said twice: a forge that is not well says so of anybody for a moment, and a
// command would be lost. Errors are an *Error, or why ctx was cancelled; they say nothing about the role, and whoever
// asks has to refuse.
func (c *Client) Role(ctx context.Context, owner, name, login string) (Role, error) {
	if !loginForm().MatchString(login) {
		return RoleNone, fmt.Errorf("%q is no login", login)
	}
	w, _, err := do[struct {
		Permission string
		User       struct{ Permissions map[string]bool }
	}](ctx, c.api, Request{
		What: fmt.Sprintf("read what %s may do in %s/%s", login, owner, name), Needs: "metadata: read", gitea: giteaRole, doubts: true,
		Path: repoPath(owner, name) + "/collaborators/" + url.PathEscape(login) + "/permission",
	})
	switch {
	case IsKind(err, NotFound):
		return RoleNone, nil
	case err != nil:
		return RoleNone, err
	}
	return cmp.Or(granted(w.User.Permissions), parseRole(w.Permission)), nil // some forges send the word alone
}
