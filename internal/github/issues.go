package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"github.com/reprise-ci/reprise/internal/text"
)

// NewIssue is an issue that is to be opened.
type NewIssue struct {
	Title  string
	Body   string // Markdown, without the marker or with it
	Labels []string
}

// Thread is the conversation under issue or pull request number of owner/name.
func (c *Client) Thread(owner, name string, number int) *Thread {
	return &Thread{c: c.api, owner: owner, name: name, number: number}
}

// Issue reads an issue or a pull request.
func (c *Client) Issue(ctx context.Context, owner, repo string, number int) (Issue, error) {
	t := c.Thread(owner, repo, number)
	what := "read " + t.String()
	w, _, err := do[typedIssue](ctx, c.api, Request{What: what, Needs: "issues: read", Cached: true, doubts: true, Path: t.path()})
	switch {
	case err != nil:
		return Issue{}, err
	case w.GetNumber() == 0:
		return Issue{}, c.misfit(what, "what it sent is no issue", nil)
	case w.GetNumber() != number: // a redirect led to where it was moved
		return Issue{}, c.retry.problem(what, Gone, text.CauseOf("github_moved", "moved it to number {n} of another repository", "n", w.GetNumber()), text.CauseOf("do_use_that", "use that one: {url}", "url", safeURL(w.GetHTMLURL())), nil)
	}
	return w.issue(), nil
}

// OpenIssue opens an issue with a marker, or finds the one that is there: an issue by the account of the token, open
// or closed, whose body has exactly marker as its first line. However often it is called, and whatever happens on the
// way, there is one. Marker is an HTML comment on one line.
func (c *Client) OpenIssue(ctx context.Context, owner, name, marker string, i NewIssue) (Issue, error) {
	path := repoPath(owner, name)
	what := fmt.Sprintf("open an issue in %s/%s", owner, name)
	body, err := marked(marker, i.Body)
	if err == nil && i.Title == "" {
		err = errors.New("it takes a title")
	}
	if err != nil {
		return Issue{}, fmt.Errorf("%s: %w", what, err)
	}
	return once(ctx, c.retry,
		func() (Issue, bool, error) { return c.findIssue(ctx, path, marker) },
		func() (Issue, error) {
			order := map[string]any{"title": i.Title, "body": body}
			if len(i.Labels) > 0 {
				order["labels"] = i.Labels
			}
			w, _, err := do[typedIssue](ctx, c.api, Request{What: what, Needs: "issues: write", Method: http.MethodPost, Path: path + "/issues", Body: order})
			if err == nil && w.GetNumber() == 0 {
				err = c.misfit(what, "what it sent is no issue", nil)
			}
			if err != nil {
				return Issue{}, err
			}
			c.learn(userOf(w.User))
			return w.issue(), nil
		},
	)
}

// findIssue looks for the newest issue of our own that begins with marker.
func (c *Client) findIssue(ctx context.Context, path, marker string) (Issue, bool, error) {
	me, known, err := c.whoami(ctx)
	switch {
	case err != nil:
		return Issue{}, false, err
	case !known:
		return Issue{}, false, errNobody
	}
	query := url.Values{"creator": {me.Login}, "state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {strconv.Itoa(perPage)}}
	r := Request{What: "read the issues of " + path[len("repos/"):], Needs: "issues: read"}
	for n := 1; n <= maxPages; n++ {
		query.Set("page", strconv.Itoa(n))
		r.Path = path + "/issues?" + query.Encode()
		list, got, err := do[[]*typedIssue](ctx, c.api, r)
		if err != nil {
			return Issue{}, false, err
		}
		for _, w := range list {
			if !w.IsPullRequest() && me.Is(userOf(w.User)) && firstLine(w.GetBody()) == marker {
				return w.issue(), true, nil
			}
		}
		if len(list) == 0 || !got.follows(len(list)) {
			return Issue{}, false, nil
		}
	}
	return Issue{}, false, c.retry.problem(r.What, Refused, text.CauseOf("github_many_issues", "has more than {n} issues by {login}", "n", maxPages*perPage, "login", me.Login), text.CauseOf("do_open_by_hand", "open it by hand"), nil)
}

// AddSubIssue puts the issue with id child (Issue.ID, not its number) under issue parent. One that is there already
// is left there. A forge without sub-issues gives one of kind NotFound.
func (c *Client) AddSubIssue(ctx context.Context, owner, name string, parent int, child int64) error {
	t := c.Thread(owner, name, parent)
	// Twice is refused with 422, and looked at below.
	_, _, err := do[any](ctx, c.api, Request{
		What: "add a sub-issue to " + t.String(), Needs: "issues: write", Method: http.MethodPost, Repeatable: true, Path: t.path() + "/sub_issues", Body: map[string]any{"sub_issue_id": child},
	})
	if !IsKind(err, Refused) {
		return err
	}
	list, _, problem := do[[]*typedIssue](ctx, c.api, Request{What: "read the sub-issues of " + t.String(), Needs: "issues: read", Path: t.path() + "/sub_issues?per_page=100"})
	if problem != nil {
		return err
	}
	for _, w := range list {
		if w.GetID() == child {
			return nil
		}
	}
	return err
}
