package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/google/go-github/v60/github"
	"github.com/reprise-ci/reprise/metadata"
)

// NewIssue is an issue that is to be opened.
type NewIssue struct {
	Title  string
	Body   string // Markdown, without the marker or with it
	Labels []string
}

// Thread is the conversation under an issue or a pull request.
func (c Repo) Thread(number int) *Thread {
	return &Thread{Repo: c, Number: number}
}

// Issue reads an issue or a pull request.
func (c Repo) Issue(ctx context.Context, number int) (Issue, error) {
	t := c.Thread(number)
	what := "read " + t.String()
	w, _, err := do[typedIssue](ctx, c.api, Request{What: what, Needs: "issues: read", Cached: true, Doubts: true, Path: t.path()})
	switch {
	case err != nil:
		return Issue{}, err
	case w.GetNumber() == 0:
		return Issue{}, c.misfit(what, "what it sent is no issue", nil)
	case w.GetNumber() != number: // a redirect led to where it was moved
		return Issue{}, c.problem(what, Gone, metadata.Because("github_moved", "n", w.GetNumber()), metadata.Because("do_use_that", "url", safeURL(w.GetHTMLURL())), nil)
	}
	return w.issue(), nil
}

// OpenIssue opens an issue with a marker, or finds the one that is there: an issue by the account of the token, open
// or closed, whose body has exactly marker as its first line. However often it is called, and whatever happens on the
// way, there is one. Marker is an HTML comment on one line.
func (c Repo) OpenIssue(ctx context.Context, marker string, i NewIssue) (Issue, error) {
	what := "open an issue in " + c.Name
	body, err := marked(marker, i.Body)
	if err == nil && i.Title == "" {
		err = errors.New("it takes a title")
	}
	if err != nil {
		return Issue{}, fmt.Errorf("%s: %w", what, err)
	}
	return FindOrMake(ctx, c.Client,
		func() (Issue, bool, error) { return c.findIssue(ctx, marker) },
		func() (Issue, error) {
			order := map[string]any{"title": i.Title, "body": body}
			if len(i.Labels) > 0 {
				order["labels"] = i.Labels
			}
			w, _, err := do[typedIssue](ctx, c.api, Request{What: what, Needs: "issues: write", Method: http.MethodPost, Path: c.path() + "/issues", Body: order})
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
func (c Repo) findIssue(ctx context.Context, marker string) (Issue, bool, error) {
	me, known, err := c.whoami(ctx)
	switch {
	case err != nil:
		return Issue{}, false, err
	case !known:
		return Issue{}, false, errNobody
	}
	query := url.Values{"creator": {me.Login}, "state": {"all"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {strconv.Itoa(perPage)}}
	r := Request{What: "read the issues of " + c.Name, Needs: "issues: read"}
	for n := 1; n <= maxPages; n++ {
		query.Set("page", strconv.Itoa(n))
		r.Path = c.path() + "/issues?" + query.Encode()
		list, got, err := do[[]*typedIssue](ctx, c.api, r)
		if err != nil {
			return Issue{}, false, err
		}
		for _, w := range list {
			if !w.IsPullRequest() && me.is(userOf(w.User)) && firstLine(w.GetBody()) == marker {
				return w.issue(), true, nil
			}
		}
		if len(list) == 0 || !got.follows(len(list)) {
			return Issue{}, false, nil
		}
	}
	return Issue{}, false, c.problem(r.What, Refused, metadata.Because("github_many_issues", "n", maxPages*perPage, "login", me.Login), metadata.Because("do_open_by_hand"), nil)
}

// OpenIssues lists the open issues that have all of some labels, or that a query of GitHub's search finds, the oldest
// first. More says that there are others than the MostListed which it gives.
func (c Repo) OpenIssues(ctx context.Context, labels []string, search string) (all []Issue, more bool, err error) {
	r := Request{What: "list the issues of " + c.Name, Needs: "issues: read"}
	at, query := c.path()+"/issues?", url.Values{"state": {"open"}, "direction": {"asc"}}
	if search != "" {
		at, query = "search/issues?", url.Values{"q": {fmt.Sprintf("repo:%s is:issue is:open %s", c.Name, search)}, "order": {"asc"}}
	} else if len(labels) > 0 {
		query.Set("labels", strings.Join(labels, ","))
	}
	query.Set("sort", "created")
	query.Set("per_page", strconv.Itoa(perPage))
	more = true
	for n := 1; more && n <= mostListed/perPage; n++ { // GitHub's search gives no more
		query.Set("page", strconv.Itoa(n))
		r.Path = at + query.Encode()
		list, got := struct{ Items []*typedIssue }{}, answer{}
		if search != "" {
			list, got, err = do[struct{ Items []*typedIssue }](ctx, c.api, r)
		} else {
			list.Items, got, err = do[[]*typedIssue](ctx, c.api, r)
		}
		if err != nil {
			return nil, false, err
		}
		for _, w := range list.Items {
			elsewhere := w.GetRepositoryURL() != "" && !strings.HasSuffix(strings.ToLower(w.GetRepositoryURL()), "/"+strings.ToLower(c.Name)) // as a query may say
			if !w.IsPullRequest() && !elsewhere {
				all = append(all, w.issue())
			}
		}
		more = len(list.Items) > 0 && got.follows(len(list.Items))
	}
	return all, more, nil
}

// mostListed is how many issues and pull requests OpenIssues looks at.
const mostListed = 1000

// AddSubIssue puts the issue with id child (Issue.ID, not its number) under issue parent. One that is there already
// is left there. A forge without sub-issues gives one of kind NotFound.
func (c Repo) AddSubIssue(ctx context.Context, parent int, child int64) error {
	t := c.Thread(parent)
	r := Request{What: "add a sub-issue to " + t.String(), Needs: "issues: write", Path: t.path() + "/sub_issues?per_page=100"}
	find := func() (any, bool, error) {
		list, _, err := do[[]*typedIssue](ctx, c.api, r)
		return nil, slices.ContainsFunc(list, func(w *typedIssue) bool { return w.GetID() == child }), err
	}
	add := r
	add.Method, add.Path, add.Body = http.MethodPost, t.path()+"/sub_issues", map[string]any{"sub_issue_id": child}
	_, err := FindOrMake(ctx, c.Client, find, func() (any, error) {
		_, _, err := do[any](ctx, c.api, add)
		return nil, err
	})
	if IsKind(err, NotFound) { // an older GitHub Enterprise, or another forge
		return c.problem(r.What, NotFound, metadata.Because("github_no_children"), metadata.Because("do_by_link"), nil)
	}
	return err
}

const writesPulls = "pull-requests: write"

// Pull reads a pull request. Errors are an *Error, or why ctx was cancelled.
func (c Repo) Pull(ctx context.Context, number int) (Pull, error) {
	return c.onePull(ctx, Request{
		What: fmt.Sprintf("read pull request %d of %s", number, c.Name), Needs: "pull-requests: read", Path: c.numbered("pulls", int64(number)),
	})
}

// OpenPull opens a pull request from p.Head to p.Base with title, body and
// draft of p, or finds the open one that is there, and gives it as it is. Where drafts are not to be had it is no draft.
func (c Repo) OpenPull(ctx context.Context, p Pull) (Pull, error) {
	what := fmt.Sprintf("open a pull request of %s to %s in %s", p.Head, p.Base, c.Name)
	if p.Head == "" || p.Base == "" || p.Title == "" {
		return Pull{}, errors.New(what + ": it takes a branch, a base and a title")
	}
	find := func() (Pull, bool, error) { return c.FindPull(ctx, p) }
	create := func() (Pull, error) { return c.createPull(ctx, what, p) }
	made, err := FindOrMake(ctx, c.Client, find, create)
	if e, is := errors.AsType[*Error](err); is && (e.Status == http.StatusConflict || e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Said, "already exists")) {
		if found, ok, problem := find(); problem == nil && ok { // somebody was faster
			return found, nil
		}
	}
	return made, err
}

// FindPull finds the open pull request of p.Head, to p.Base unless that is empty.
func (c Repo) FindPull(ctx context.Context, p Pull) (Pull, bool, error) {
	owner, _, _ := strings.Cut(c.Name, "/")
	query := url.Values{"head": {owner + ":" + p.Head}, "state": {"open"}, "sort": {"created"}, "direction": {"desc"}, "per_page": {"100"}}
	list, _, err := do[[]*github.PullRequest](ctx, c.api, Request{
		What: "read the pull requests of " + c.Name, Needs: "pull-requests: read", Path: c.path() + "/pulls?" + query.Encode(),
	})
	if err != nil {
		return Pull{}, false, err
	}
	for _, w := range list { // not every forge looks at the query
		found := pullOf(w)
		if found.Number > 0 && found.Head == p.Head && (p.Base == "" || found.Base == p.Base) && found.State == "open" && strings.EqualFold(found.HeadRepository, c.Name) {
			return found, true, nil
		}
	}
	return Pull{}, false, nil
}

func (c Repo) createPull(ctx context.Context, what string, p Pull) (Pull, error) {
	r := Request{
		What: what, Needs: writesPulls, Method: http.MethodPost, Path: c.path() + "/pulls",
		Body: map[string]any{"title": p.Title, "head": p.Head, "base": p.Base, "body": cut(p.Body), "draft": p.Draft},
	}
	made, err := c.onePull(ctx, r)
	if e, ok := errors.AsType[*Error](err); p.Draft && ok && e.Status == http.StatusUnprocessableEntity && strings.Contains(e.Said, "raft pull requests are not supported") {
		r.Body["draft"] = false
		return c.onePull(ctx, r)
	}
	return made, err
}

// UpdatePull gives a pull request another body.
func (c Repo) UpdatePull(ctx context.Context, number int, body string) error {
	_, err := c.onePull(ctx, Request{
		What: fmt.Sprintf("edit pull request %d of %s", number, c.Name), Needs: writesPulls, Method: http.MethodPatch,
		Path: c.numbered("pulls", int64(number)), Body: map[string]any{"body": cut(body)},
	})
	return err
}

// onePull makes a call that answers with a pull request.
func (c Repo) onePull(ctx context.Context, r Request) (Pull, error) {
	w, _, err := do[github.PullRequest](ctx, c.api, r)
	if err == nil && w.GetNumber() == 0 {
		err = c.misfit(r.What, "what it sent is no pull request", nil)
	}
	if err != nil {
		return Pull{}, err
	}
	return pullOf(&w), nil
}

// ReadyPull says of a draft that it is ready for review. A forge that cannot do it by its API gives an error of kind NotFound.
func (c Repo) ReadyPull(ctx context.Context, p Pull) error {
	if !p.Draft {
		return nil
	}
	// Doing it twice does the same as doing it once, except that the second time may be refused: then it is ready.
	const mutation = "mutation($id: ID!) { markPullRequestReadyForReview(input: {pullRequestId: $id}) { pullRequest { isDraft } } }"
	err := c.Mutate(ctx, fmt.Sprintf("mark pull request %d of %s as ready", p.Number, c.Name), writesPulls, mutation, map[string]any{"id": p.NodeID})
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return err
	}
	if e.Kind == Refused || e.unclear {
		if now, problem := c.Pull(ctx, p.Number); problem == nil && !now.Draft {
			return nil
		}
	}
	if e.Kind == NotFound {
		e.Do = metadata.Because("do_mark_ready", "url", p.URL)
	}
	return err
}
