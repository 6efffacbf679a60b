package github

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"
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

// Repository reads what owner/name is.
func (c *Client) Repository(ctx context.Context, owner, name string) (Repository, error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return Repository{}, err
	}
	k := &call{what: fmt.Sprintf("read the repository %s/%s", owner, name), needs: "metadata: read"}
	w := struct {
		FullName                string `json:"full_name"`
		DefaultBranch           string `json:"default_branch"`
		Private, Fork, Archived bool
		HasIssues               bool            `json:"has_issues"`
		Permissions             map[string]bool `json:"permissions"`
	}{HasIssues: true}
	if err := c.do(ctx, k, request{http.MethodGet, path, nil}, &w); err != nil {
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

// wireFile is a file or, in a list, a member of a folder.
type wireFile struct {
	Type     string `json:"type"`
	Name     string `json:"name"`
	Size     int    `json:"size"`
	Encoding string `json:"encoding"`
	Content  string `json:"content"`
	SHA      string `json:"sha"`
}

// File reads a file of a repository as it is on a branch. Name is a path from
// the top. A file that is not there is an fs.ErrNotExist; other errors are an
// *Error, or why ctx was cancelled.
func (c *Client) File(ctx context.Context, owner, repo, ref, name string) ([]byte, error) {
	what := fmt.Sprintf("read %s on %s of %s/%s", name, ref, owner, repo)
	repository, err := repoPath(owner, repo)
	if err != nil {
		return nil, err
	}
	var f wireFile
	if err := c.get(ctx, what, "contents: read", contents(repository, ref, name), &f); err != nil {
		return nil, missing(err, what)
	}
	if f.Encoding != "base64" && f.Size > 0 { // GitHub leaves out what is over 1 MB, and has it as a blob
		if err := c.get(ctx, what, "contents: read", repository+"/git/blobs/"+url.PathEscape(f.SHA), &f); err != nil {
			return nil, missing(err, what)
		}
	}
	data, err := base64.StdEncoding.DecodeString(strings.ReplaceAll(f.Content, "\n", ""))
	if err != nil || f.Type != "" && f.Type != "file" {
		return nil, fmt.Errorf("%s: it is no file that can be read", what)
	}
	return data, nil
}

// Files lists the names of the files in a folder, without those in folders
// below. A folder that is not there has none.
func (c *Client) Files(ctx context.Context, owner, repo, ref, folder string) ([]string, error) {
	what := fmt.Sprintf("read folder %s on %s of %s/%s", folder, ref, owner, repo)
	repository, err := repoPath(owner, repo)
	if err != nil {
		return nil, err
	}
	var list []wireFile
	if err := missing(c.get(ctx, what, "contents: read", contents(repository, ref, folder), &list), what); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, f := range list {
		if f.Type == "file" && f.Name == path.Base(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names, nil
}

func contents(repository, ref, name string) string {
	return repository + "/contents/" + (&url.URL{Path: name}).EscapedPath() + "?ref=" + url.QueryEscape(ref)
}

// missing tells a file that is not there from other errors.
func missing(err error, what string) error {
	var problem *Error
	if errors.As(err, &problem) && problem.Kind == NotFound {
		return fmt.Errorf("%s: %w", what, fs.ErrNotExist)
	}
	return err
}

// Dispatch starts a workflow on a branch or tag, by the name of its file such
// as ci.yml. It is not asked for twice: where the answer is lost, the error says
// so, and the workflow may have started.
func (c *Client) Dispatch(ctx context.Context, owner, name, workflow, ref string) error {
	path, err := repoPath(owner, name)
	if err != nil {
		return err
	}
	if !isName(workflow) || ref == "" {
		return fmt.Errorf("start workflow %q on %q: it takes the name of a file in .github/workflows, and a branch", workflow, ref)
	}
	k := &call{what: fmt.Sprintf("start workflow %s of %s/%s on %s", workflow, owner, name, ref), needs: "actions: write"}
	return c.do(ctx, k, request{http.MethodPost, path + "/actions/workflows/" + workflow + "/dispatches", map[string]string{"ref": ref}}, nil)
}

// WorkflowRun names an attempt of a run of a workflow. Attempts count from 1.
type WorkflowRun struct{ ID, Attempt int64 }

// JobOver reports whether a job of an attempt of a workflow run has ended,
// however it did: the run is completed, there is a newer attempt, the run is not
// there any more, or the job itself is completed. The job is the one whose
// machine has a name that mine accepts; if several have, all of them must have
// ended.
func (c *Client) JobOver(ctx context.Context, owner, name string, of WorkflowRun, mine func(runner string) bool) (over bool, err error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return false, err
	}
	path = fmt.Sprintf("%s/actions/runs/%d", path, of.ID)
	var w struct {
		ID      int64  `json:"id"`
		Status  string `json:"status"`
		Attempt int64  `json:"run_attempt"`
	}
	k := &call{what: fmt.Sprintf("read workflow run %d of %s/%s", of.ID, owner, name), needs: "actions: read"}
	err = c.do(ctx, k, request{http.MethodGet, path, nil}, &w)
	switch {
	case isKind(err, NotFound, Gone):
		return true, nil
	case err != nil:
		return false, err
	case w.ID != of.ID || w.Status == "":
		return false, c.misfit(k, "it is another run, or none", nil)
	case w.Status == "completed" || w.Attempt > of.Attempt:
		return true, nil
	}
	return c.jobsOver(ctx, fmt.Sprintf("%s/attempts/%d/jobs", path, of.Attempt), k.what, mine)
}

// jobsOver reports whether there are jobs on machines that mine takes, and all
// of them have ended.
func (c *Client) jobsOver(ctx context.Context, path, what string, mine func(runner string) bool) (bool, error) {
	found := false
	for n := 1; n <= maxPages; n++ {
		var w struct {
			Jobs []struct {
				Status string `json:"status"`
				Runner string `json:"runner_name"`
			} `json:"jobs"`
		}
		k := &call{what: what, needs: "actions: read"}
		err := c.do(ctx, k, request{http.MethodGet, fmt.Sprintf("%s?per_page=%d&page=%d", path, perPage, n), nil}, &w)
		if isKind(err, NotFound, Gone) {
			return false, nil // a forge that does not tell of jobs
		}
		if err != nil {
			return false, err
		}
		for _, j := range w.Jobs {
			if !mine(j.Runner) {
				continue
			}
			if j.Status != "completed" {
				return false, nil
			}
			found = true
		}
		if len(w.Jobs) == 0 || !follows(k.header, n, len(w.Jobs)) {
			break
		}
	}
	return found, nil
}

// Mutate asks the GraphQL API for a change that done twice is the same as done once.
// What and needs are as in a Request.
func (c *Client) Mutate(ctx context.Context, what, needs, mutation string, variables map[string]any) error {
	return c.query(ctx, &call{what: what, needs: needs, repeatable: true, reads: true}, mutation, variables, &struct{}{})
}

// Ask makes a call as all others are made, and reads the answer into into, unless
// that is nil. Errors are an *Error, or why ctx was cancelled.
func (c *Client) Ask(ctx context.Context, owner, name string, r Request, into any) (Answer, error) {
	path, err := repoPath(owner, name)
	if err != nil {
		return Answer{}, err
	}
	k := &call{what: r.What, needs: r.Needs, known: r.Known, repeatable: r.Repeatable}
	if err := c.do(ctx, k, request{r.Method, path + r.Path, r.Body}, into); err != nil {
		return Answer{}, err
	}
	return Answer{k.header, k.status == http.StatusNotModified, strings.Contains(k.header.Get("Link"), `rel="next"`)}, nil
}
