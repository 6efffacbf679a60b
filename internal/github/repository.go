package github

import (
	"context"
	"fmt"
	"io/fs"
	"net/url"
	"strings"

	"github.com/google/go-github/v60/github"
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

// Repository reads what owner/name is.
func (c *Client) Repository(ctx context.Context, owner, name string) (Repository, error) {
	what := fmt.Sprintf("read the repository %s/%s", owner, name)
	w, _, err := do[github.Repository](ctx, c.api, Request{What: what, Needs: "metadata: read", Path: repoPath(owner, name)})
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

// File reads a file of a repository as it is on a branch. Name is a path from the top. A file that is not there is an
// fs.ErrNotExist; other errors are an *Error, or why ctx was cancelled.
func (c *Client) File(ctx context.Context, owner, repo, ref, name string) ([]byte, error) {
	what := fmt.Sprintf("read %s on %s of %s/%s", name, ref, owner, repo)
	r := Request{What: what, Needs: "contents: read", Path: contents(repoPath(owner, repo), ref, name)}
	f, _, err := do[github.RepositoryContent](ctx, c.api, r)
	if err == nil && f.GetEncoding() != "base64" && f.GetSize() > 0 { // GitHub leaves out what is over 1 MB, and has it as a blob
		r.Path = repoPath(owner, repo) + "/git/blobs/" + url.PathEscape(f.GetSHA())
		f, _, err = do[github.RepositoryContent](ctx, c.api, r)
	}
	if err != nil {
		return nil, missing(err, what)
	}
	text, err := f.GetContent()
	if err != nil || f.GetType() != "" && f.GetType() != "file" {
		return nil, fmt.Errorf("%s: it is no file that can be read", what)
	}
	return []byte(text), nil
}

func contents(repository, ref, name string) string {
	return repository + "/contents/" + (&url.URL{Path: name}).EscapedPath() + "?ref=" + url.QueryEscape(ref)
}

// missing tells a file that is not there from other errors.
func missing(err error, what string) error {
	if IsKind(err, NotFound) {
		return fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	}
	return err
}

// Web is the address at which people see what the API gives.
func (c *Client) Web() *url.URL {
	return &url.URL{Scheme: c.retry.base.Scheme, Host: strings.TrimPrefix(strings.ToLower(c.retry.base.Host), "api.")}
}
