package api

import (
	"net/http"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// reactionHandler answers requests about reactions.
type reactionHandler struct{ *visit }

// subject is what the path of a request names.
func (h reactionHandler) subject() state.Subject {
	if h.comment != nil {
		return state.Subject{Comment: h.comment.ID}
	}
	return state.Subject{Issue: h.issue.Number}
}

func (h reactionHandler) listReactions() Result {
	all := slices.Clone(h.repo.Reactions[h.subject()])
	if content := h.in.Query.Get("content"); content != "" {
		all = slices.DeleteFunc(all, func(r *state.Reaction) bool { return r.Content != content })
	}
	return page(h.visit, all, h.show.Reaction)
}

func (h reactionHandler) createReaction() Result {
	if no := commentHandler(h).locked("reaction"); no != nil {
		return *no
	}
	content, _ := field[string](h.visit, "content")
	r, fresh := h.repo.React(h.subject(), h.login(), content)
	if !fresh {
		return ok(h.show.Reaction(r))
	}
	return created(h.show.Reaction(r))
}

func (h reactionHandler) deleteReaction() Result {
	to, id := h.subject(), h.number("reaction_id")
	i := slices.IndexFunc(h.repo.Reactions[to], func(r *state.Reaction) bool { return r.ID == id })
	switch {
	case i < 0:
		return notFound()
	case !strings.EqualFold(h.repo.Reactions[to][i].Author, h.login()):
		return refuse(http.StatusForbidden, "Must be the author of the reaction.")
	}
	h.repo.Reactions[to] = slices.Delete(h.repo.Reactions[to], i, i+1)
	return nothing()
}
