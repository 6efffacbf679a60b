package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"path"
	"strings"

	"github.com/hashicorp/go-retryablehttp"

	"github.com/reprise-ci/reprise/internal/text"

	"github.com/google/go-github/v60/github"
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
	path := repoPath(owner, name)
	k := &call{what: fmt.Sprintf("read the repository %s/%s", owner, name), needs: "metadata: read"}
	w := github.Repository{HasIssues: github.Bool(true)}
	if err := c.do(ctx, k, request{http.MethodGet, path, nil}, &w); err != nil {
		return Repository{}, err
	}
	if w.GetFullName() == "" {
		return Repository{}, c.misfit(k, "what it sent is no repository", nil)
	}
	return Repository{
		FullName: w.GetFullName(), DefaultBranch: w.GetDefaultBranch(), Private: w.GetPrivate(), Fork: w.GetFork(),
		Archived: w.GetArchived(), HasIssues: w.GetHasIssues(), Role: granted(w.Permissions),
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

// File reads a file of a repository as it is on a branch. Name is a path from
// the top. A file that is not there is an fs.ErrNotExist; other errors are an
// *Error, or why ctx was cancelled.
func (c *Client) File(ctx context.Context, owner, repo, ref, name string) ([]byte, error) {
	what := fmt.Sprintf("read %s on %s of %s/%s", name, ref, owner, repo)
	repository := repoPath(owner, repo)
	var f github.RepositoryContent
	if err := c.get(ctx, what, "contents: read", contents(repository, ref, name), &f); err != nil {
		return nil, missing(err, what)
	}
	if f.GetEncoding() != "base64" && f.GetSize() > 0 { // GitHub leaves out what is over 1 MB, and has it as a blob
		if err := c.get(ctx, what, "contents: read", repository+"/git/blobs/"+url.PathEscape(f.GetSHA()), &f); err != nil {
			return nil, missing(err, what)
		}
	}
	text, err := f.GetContent()
	if err != nil || f.GetType() != "" && f.GetType() != "file" {
		return nil, fmt.Errorf("%s: it is no file that can be read", what)
	}
	return []byte(text), nil
}

// Files lists the names of the files in a folder, without those in folders
// below. A folder that is not there has none.
func (c *Client) Files(ctx context.Context, owner, repo, ref, folder string) ([]string, error) {
	what := fmt.Sprintf("read folder %s on %s of %s/%s", folder, ref, owner, repo)
	repository := repoPath(owner, repo)
	var list []*github.RepositoryContent
	if err := missing(c.get(ctx, what, "contents: read", contents(repository, ref, folder), &list), what); err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			return nil, nil
		}
		return nil, err
	}
	var names []string
	for _, f := range list {
		if name := f.GetName(); f.GetType() == "file" && name == path.Base(name) {
			names = append(names, name)
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

// Mutate asks the GraphQL API for a change that done twice is the same as done once.
// What and needs are as in a Request.
func (c *Client) Mutate(ctx context.Context, what, needs, mutation string, variables map[string]any) error {
	return c.query(ctx, &call{what: what, needs: needs, repeatable: true, reads: true}, mutation, variables, &struct{}{})
}

// Ask makes a call as all others are made, and reads the answer into into, unless
// that is nil. Errors are an *Error, or why ctx was cancelled.
func (c *Client) Ask(ctx context.Context, owner, name string, r Request, into any) (Answer, error) {
	path := repoPath(owner, name)
	k := &call{what: r.What, needs: r.Needs, known: r.Known, repeatable: r.Repeatable}
	if err := c.do(ctx, k, request{r.Method, path + r.Path, r.Body}, into); err != nil {
		return Answer{}, err
	}
	return Answer{k.header, k.status == http.StatusNotModified, k.more, k.last}, nil
}

// maxTail is how much of a text on another host is read for its end, in bytes.
const maxTail = 64 << 20

// Tail reads the end of a text that GitHub keeps on another host, such as the log
// of a job: at most so many bytes. Where that is, GitHub says in its answer to r;
// the token is not sent there. Errors are an *Error, or why ctx was cancelled.
func (c *Client) Tail(ctx context.Context, owner, name string, r Request, most int) ([]byte, error) {
	path := repoPath(owner, name)
	k := &call{what: r.What, needs: r.Needs, leads: true}
	if err := c.do(ctx, k, request{r.Method, path + r.Path, nil}, nil); err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, k.header.Get("Location"), nil)
	if err != nil || !c.retry.allows(req.URL) {
		return nil, c.misfit(k, "it does not say where the text is", nil)
	}
	resp, err := c.plain.Do(req)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, c.retry.broken(k, err)
	}
	defer func() { _ = resp.Body.Close() }() // read, or given up
	if resp.StatusCode != http.StatusOK {
		return nil, c.retry.problem(k, NotFound, hides(), text.CauseOf("do_try_later", "try again later"), nil)
	}
	end, err := tail(io.LimitReader(resp.Body, maxTail), most)
	if err != nil {
		return nil, c.retry.broken(k, err)
	}
	return end, nil
}

// tail reads everything, and keeps the end.
func tail(from io.Reader, most int) ([]byte, error) {
	var kept []byte
	for part := make([]byte, 64<<10); ; {
		n, err := from.Read(part)
		kept = append(kept, part[:n]...)
		kept = kept[max(len(kept)-most, 0):]
		if err == io.EOF {
			return kept, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Web is the address at which people see what the API gives.
func (c *Client) Web() *url.URL {
	return &url.URL{Scheme: c.retry.base.Scheme, Host: strings.TrimPrefix(strings.ToLower(c.retry.base.Host), "api.")}
}

// Attachment reads what somebody has attached to a text, at most so many bytes. It is
// asked for without the token, and only at addresses that are allowed, also where one
// leads to another. Errors are an *AttachmentError, or why ctx was cancelled.
func (c *Client) Attachment(ctx context.Context, at *url.URL, most int, allowed func(*url.URL) bool) ([]byte, error) {
	if !allowed(at) || !c.retry.allows(at) {
		return nil, &AttachmentError{Err: errors.New("the address is not allowed")}
	}
	req, err := retryablehttp.NewRequestWithContext(ctx, http.MethodGet, at.String(), nil)
	if err != nil {
		return nil, &AttachmentError{Err: err}
	}
	resp, err := c.reader(allowed).Do(req)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err != nil {
		return nil, &AttachmentError{Err: withoutAddress(err)}
	}
	defer func() { _ = resp.Body.Close() }() // read, or given up
	if resp.StatusCode != http.StatusOK {
		return nil, &AttachmentError{Status: resp.StatusCode}
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, int64(most)+1))
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &AttachmentError{Err: err}
	case len(data) > most:
		return nil, &AttachmentError{Large: true}
	}
	return data, nil
}

// reader is a client that has no token, follows to addresses that are allowed alone, and
// tries again what may pass.
func (c *Client) reader(allowed func(*url.URL) bool) *retryablehttp.Client {
	plain := *c.plain
	follow := plain.CheckRedirect
	plain.CheckRedirect = func(req *http.Request, via []*http.Request) error {
		if !allowed(req.URL) {
			return http.ErrUseLastResponse
		}
		return follow(req, via)
	}
	return &retryablehttp.Client{
		HTTPClient: &plain, RetryMax: attachmentTries - 1, CheckRetry: retryablehttp.DefaultRetryPolicy, Backoff: noBackoff,
		PrepareRetry: func(req *http.Request) error { return c.retry.sleep(req.Context(), firstPause) },
		ErrorHandler: func(resp *http.Response, err error, _ int) (*http.Response, error) { return resp, err },
	}
}
