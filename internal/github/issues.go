package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reprise-ci/reprise/internal/github/wire"
	"github.com/reprise-ci/reprise/internal/text"
)

// NewIssue is an issue that is to be opened.
type NewIssue struct {
	Title  string
	Body   string // Markdown, without the marker or with it
	Labels []string
}

// Thread is the conversation under issue or pull request number of owner/name.
// It sends nothing; names that are none make its methods fail.
func (c *Client) Thread(owner, name string, number int) *Thread {
	return &Thread{c: c.api, owner: owner, name: name, number: number}
}

// Issue reads an issue or a pull request. Errors are an *Error, or why ctx was
// cancelled.
func (c *Client) Issue(ctx context.Context, owner, repo string, number int) (wire.Issue, error) {
	t := c.Thread(owner, repo, number)
	path, err := t.path()
	if err != nil {
		return wire.Issue{}, err
	}
	var w wire.IssueForm
	if err := c.get(ctx, "read "+t.String(), "issues: read", path, &w); err != nil {
		return wire.Issue{}, err
	}
	asked := &call{what: "read " + t.String(), tries: 1}
	switch {
	case w.Number == 0:
		return wire.Issue{}, c.retry.unreadable(asked, wrong("what it sent is no issue"), nil)
	case w.Number != number: // a redirect led to where it was moved
		return wire.Issue{}, c.retry.problem(asked, Gone, text.CauseOf("github_moved", "moved it to number {n} of another repository", "n", w.Number), text.CauseOf("do_use_that", "use that one: {url}", "url", wire.SafeURL(w.URL)), nil)
	}
	return w.Issue(), nil
}

// OpenIssue opens an issue with a marker, or finds the one that is there: an
// issue by the account of the token, open or closed, whose body has exactly
// marker as its first line. However often it is called, and whatever happens on
// the way, there is one.
//
// Marker is an HTML comment on one line. Errors are an *Error, or why ctx was
// cancelled.
func (c *Client) OpenIssue(ctx context.Context, owner, name, marker string, i NewIssue) (wire.Issue, error) {
	path, err := wire.RepoPath(owner, name)
	if err != nil {
		return wire.Issue{}, err
	}
	what := fmt.Sprintf("open an issue in %s/%s", owner, name)
	body, err := marked(marker, i.Body)
	if err == nil && i.Title == "" {
		err = errors.New("it takes a title")
	}
	if err != nil {
		return wire.Issue{}, fmt.Errorf("%s: %w", what, err)
	}
	return once(ctx, c.retry,
		func() (wire.Issue, bool, error) { return c.findIssue(ctx, path, marker) },
		func() (wire.Issue, error) {
			k := &call{what: what, needs: "issues: write"}
			order := map[string]any{"title": i.Title, "body": body}
			if len(i.Labels) > 0 {
				order["labels"] = i.Labels
			}
			var w wire.IssueForm
			if err := c.do(ctx, k, request{http.MethodPost, path + "/issues", order}, &w); err != nil {
				return wire.Issue{}, err
			}
			if w.Number == 0 {
				return wire.Issue{}, c.misfit(k, "what it sent is no issue", nil)
			}
			c.learn(w.User)
			return w.Issue(), nil
		},
	)
}

// findIssue looks for the newest issue of our own that begins with marker.
func (c *Client) findIssue(ctx context.Context, path, marker string) (wire.Issue, bool, error) {
	me, known, err := c.whoami(ctx)
	switch {
	case err != nil:
		return wire.Issue{}, false, err
	case !known:
		return wire.Issue{}, false, errNobody
	}
	query := url.Values{"creator": {me.Login}, "state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {strconv.Itoa(perPage)}}
	k := &call{}
	for n := 1; n <= maxPages; n++ {
		query.Set("page", strconv.Itoa(n))
		k = &call{what: "read the issues of " + path[len("repos/"):], needs: "issues: read"}
		var list []wire.IssueForm
		if err := c.do(ctx, k, request{http.MethodGet, path + "/issues?" + query.Encode(), nil}, &list); err != nil {
			return wire.Issue{}, false, err
		}
		for _, w := range list {
			if w.Pull == nil && me.Is(w.User.User()) && firstLine(w.Body) == marker {
				return w.Issue(), true, nil
			}
		}
		if len(list) == 0 || !follows(k.header, n, len(list)) {
			return wire.Issue{}, false, nil
		}
	}
	return wire.Issue{}, false, c.retry.problem(k, Refused, text.CauseOf("github_many_issues", "has more than {n} issues by {login}", "n", maxPages*perPage, "login", me.Login), text.CauseOf("do_open_by_hand", "open it by hand"), nil)
}

// AddSubIssue puts the issue with id child (Issue.ID, not its number) under
// issue parent. One that is there already is left there.
//
// Errors are an *Error, or why ctx was cancelled. A forge without sub-issues
// gives one of kind NotFound.
func (c *Client) AddSubIssue(ctx context.Context, owner, name string, parent int, child int64) error {
	t := c.Thread(owner, name, parent)
	path, err := t.path()
	if err != nil {
		return err
	}
	// Twice is refused with 422, and looked at below.
	k := &call{what: "add a sub-issue to " + t.String(), needs: "issues: write", repeatable: true}
	err = c.do(ctx, k, request{http.MethodPost, path + "/sub_issues", map[string]int64{"sub_issue_id": child}}, nil)
	if !isKind(err, Refused) {
		return err
	}
	var list []wire.IssueForm
	if problem := c.get(ctx, "read the sub-issues of "+t.String(), "issues: read", path+"/sub_issues?per_page=100", &list); problem != nil {
		return err
	}
	for _, w := range list {
		if w.ID == child {
			return nil
		}
	}
	return err
}
