package api

import (
	"net/http"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// commentHandler answers requests about comments.
type commentHandler struct{ *visit }

// withHTML adds the text as people see it, if that was asked for.
func (h commentHandler) withHTML(o object, text string) object {
	if h.in.Shown != nil {
		o["body_html"] = h.in.Shown(text)
	}
	return o
}

func (h commentHandler) getComment() Result {
	return ok(h.withHTML(h.show.Comment(h.repo, h.comment), h.comment.Body))
}

func (h commentHandler) listComments() Result {
	var found []*state.Posted
	for _, c := range h.repo.Comments {
		if c.Issue == h.issue.Number && h.since(c.Updated) {
			found = append(found, c)
		}
	}
	return page(h.visit, found, func(c *state.Posted) any { return h.show.Comment(h.repo, c) })
}

func (h commentHandler) createComment() Result {
	if no := h.locked("comment"); no != nil {
		return *no
	}
	body, no := h.commentBody()
	if no != nil {
		return *no
	}
	return created(h.show.Comment(h.repo, h.repo.AddComment(h.issue, state.Comment{Author: h.login(), Body: body})))
}

// commentBody reads the text of a comment. GitHub takes none that is blank.
func (h commentHandler) commentBody() (string, *Result) {
	body, _ := field[string](h.visit, "body")
	if strings.TrimSpace(body) == "" {
		no := invalid(object{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body cannot be blank"})
		return "", &no
	}
	if len([]rune(body)) > mostBody {
		no := invalid(object{"resource": "IssueComment", "code": "unprocessable", "field": "data", "message": "Body is too long (maximum is 65536 characters)"})
		return "", &no
	}
	return body, nil
}

// locked refuses what only people with a right to write may add. An app is
// none of them.
func (h commentHandler) locked(what string) *Result {
	if !h.issue.Locked || !h.token.Installation && h.has("write") {
		return nil
	}
	no := refuse(http.StatusForbidden, "Unable to create "+what+" because issue is locked.")
	return &no
}

// mayChange refuses to change a comment of somebody else.
func (h commentHandler) mayChange() *Result {
	if h.has("write") || strings.EqualFold(h.comment.Author, h.login()) {
		return nil
	}
	no := refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	return &no
}

func (h commentHandler) editComment() Result {
	if no := h.mayChange(); no != nil {
		return *no
	}
	body, no := h.commentBody()
	if no != nil {
		return *no
	}
	h.comment.Body, h.comment.Updated = body, h.Tick()
	return ok(h.show.Comment(h.repo, h.comment))
}

func (h commentHandler) deleteComment() Result {
	if no := h.mayChange(); no != nil {
		return *no
	}
	h.repo.DeleteComment(h.comment.ID)
	return nothing()
}
