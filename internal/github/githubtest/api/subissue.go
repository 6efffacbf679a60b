package api

import (
	"net/http"
	"slices"
)

// subIssueHandler answers requests about issues below issues.
type subIssueHandler struct{ *visit }

func (h subIssueHandler) listSubIssues() Result {
	return page(h.visit, h.repo.Children[h.issue.Number], func(id int64) any {
		repo, is := h.IssueByID(id)
		return h.show.Issue(repo, is)
	})
}

func (h subIssueHandler) addSubIssue() Result {
	sent, _ := field[float64](h.visit, "sub_issue_id")
	id := int64(sent)
	_, child := h.IssueByID(id)
	reason := func(message string) Result {
		return refuse(http.StatusUnprocessableEntity, "An error occurred while adding the sub-issue to the parent issue. "+message)
	}
	switch {
	case child == nil:
		return refuse(http.StatusNotFound, "The provided sub-issue does not exist")
	case id == h.issue.ID:
		return reason("Parent cannot be the same as the sub-issue")
	case slices.Contains(h.repo.Children[h.issue.Number], id):
		return reason("Issue may not contain duplicate sub-issues and Sub issue may only have one parent")
	case h.HasParent(id):
		return reason("Sub issue may only have one parent")
	}
	h.repo.Children[h.issue.Number] = append(h.repo.Children[h.issue.Number], id)
	h.issue.Updated = h.Tick()
	return created(h.show.Issue(h.repo, h.issue))
}
