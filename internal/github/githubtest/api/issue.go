package api

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// issueHandler answers requests about issues.
type issueHandler struct{ *visit }

func (h issueHandler) getIssue() Result {
	return ok(commentHandler(h).withHTML(h.show.Issue(h.repo, h.issue), h.issue.Body))
}

func (h issueHandler) listIssues() Result {
	if h.repo.NoIssues {
		return issuesOff()
	}
	q := h.in.Query
	wanted := cmp.Or(q.Get("state"), "open")
	var found []*state.Issue
	for _, is := range h.repo.Issues {
		switch {
		case wanted != "all" && is.State != wanted, q.Get("creator") != "" && !strings.EqualFold(q.Get("creator"), is.Author), !h.since(is.Updated):
		case q.Get("labels") != "" && !hasAll(is.Labels, strings.Split(q.Get("labels"), ",")):
		default:
			found = append(found, is)
		}
	}
	by := func(is *state.Issue) time.Time { return is.Created }
	if q.Get("sort") == "updated" {
		by = func(is *state.Issue) time.Time { return is.Updated }
	}
	slices.SortFunc(found, func(a, b *state.Issue) int { return cmp.Or(by(b).Compare(by(a)), b.Number-a.Number) })
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(h.visit, found, func(is *state.Issue) any { return h.show.Issue(h.repo, is) })
}

func hasAll(have, want []string) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, strings.TrimSpace(w)) }) {
			return false
		}
	}
	return true
}

func issuesOff() Result {
	return refuse(http.StatusGone, "Issues has been disabled in this repository.")
}

func (h issueHandler) createIssue() Result {
	title, _ := field[string](h.visit, "title")
	switch {
	case h.repo.NoIssues:
		return issuesOff()
	case strings.TrimSpace(title) == "":
		return invalid(object{"resource": "Issue", "field": "title", "code": "missing_field"})
	case len([]rune(title)) > mostTitle:
		return invalid(tooLong("Issue", "title", mostTitle))
	}
	body, _ := field[string](h.visit, "body")
	if no := bodyTooLong("Issue", body); no != nil {
		return *no
	}
	is := &state.Issue{Title: title, Body: body, Author: h.login(), Updated: h.Tick()}
	if h.has("triage") { // what others send is dropped without a word
		is.Labels = labelHandler(h).sentLabels()
	}
	h.repo.AddIssue(is)
	return created(h.show.Issue(h.repo, is))
}

// edited is an issue or a pull request with what was sent of the fields that both have.
func edited(v *visit, is state.Issue) state.Issue {
	if title, sent := field[string](v, "title"); sent {
		is.Title = title
	}
	if body, sent := field[string](v, "body"); sent {
		is.Body = body
	}
	if to, sent := field[string](v, "state"); sent {
		is.State = to
	}
	return is
}

func (h issueHandler) editIssue() Result {
	is := h.issue
	if !h.has("triage") && !strings.EqualFold(is.Author, h.login()) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next := edited(h.visit, *is)
	next.Reason, _ = field[string](h.visit, "state_reason")
	if _, sent := field[[]any](h.visit, "labels"); sent && h.has("triage") {
		next.Labels = labelHandler(h).sentLabels()
	}
	if no := bodyTooLong("Issue", next.Body); no != nil {
		return *no
	}
	next.Updated = h.Tick()
	*is = next
	return ok(h.show.Issue(h.repo, is))
}
