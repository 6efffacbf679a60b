package githubtest

import (
	"net/http"
	"slices"
)

// SubIssues are the numbers of the issues below an issue.
func (s *Server) SubIssues(repo string, number int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int
	r := s.repository(repo)
	for _, id := range r.children[number] {
		_, is := s.issueByID(id)
		out = append(out, is.Number)
	}
	return out
}

// issueByID finds an issue wherever it is.
func (s *Server) issueByID(id int64) (*repository, *Issue) {
	for _, r := range s.repos {
		for _, is := range r.issues {
			if is.ID == id {
				return r, is
			}
		}
	}
	return nil, nil
}

// orphan takes an issue away from its parent.
func (s *Server) orphan(id int64) {
	for _, r := range s.repos {
		for n, children := range r.children {
			r.children[n] = slices.DeleteFunc(children, func(child int64) bool { return child == id })
		}
	}
}

// subIssuesSummary says how far the issues below an issue are.
func (r *repository) subIssuesSummary(s *Server, number int) object {
	total, done := len(r.children[number]), 0
	for _, id := range r.children[number] {
		if _, is := s.issueByID(id); is.State == "closed" {
			done++
		}
	}
	return object{"total": total, "completed": done, "percent_completed": done * 100 / max(total, 1)}
}

// subIssueHandler answers requests about issues below issues.
type subIssueHandler struct{ *visit }

func (h subIssueHandler) listSubIssues() result {
	return page(h.visit, h.repo.children[h.issue.Number], func(id int64) any {
		repo, is := h.issueByID(id)
		return h.issueObject(repo, is)
	})
}

func (h subIssueHandler) addSubIssue() result {
	sent, _ := field[float64](h.visit, "sub_issue_id")
	id := int64(sent)
	_, child := h.issueByID(id)
	reason := func(message string) result {
		return refuse(http.StatusUnprocessableEntity, "An error occurred while adding the sub-issue to the parent issue. "+message)
	}
	switch {
	case child == nil:
		return refuse(http.StatusNotFound, "The provided sub-issue does not exist")
	case id == h.issue.ID:
		return reason("Parent cannot be the same as the sub-issue")
	case slices.Contains(h.repo.children[h.issue.Number], id):
		return reason("Issue may not contain duplicate sub-issues and Sub issue may only have one parent")
	case h.hasParent(id):
		return reason("Sub issue may only have one parent")
	}
	h.repo.children[h.issue.Number] = append(h.repo.children[h.issue.Number], id)
	h.issue.Updated = h.tick()
	return created(h.issueObject(h.repo, h.issue))
}

func (h subIssueHandler) hasParent(id int64) bool {
	for _, r := range h.repos {
		for _, children := range r.children {
			if slices.Contains(children, id) {
				return true
			}
		}
	}
	return false
}
