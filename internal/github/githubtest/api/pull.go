package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// pullHandler answers requests about pull requests.
type pullHandler struct{ *visit }

func (h pullHandler) getPull() Result { return ok(h.show.Pull(h.repo, h.pull, true)) }

func (h pullHandler) listPulls() Result {
	q := h.in.Query
	wanted := cmp.Or(q.Get("state"), "open")
	var found []*state.Pull
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(h.repo.Pulls))) {
		p, is := h.repo.Pulls[n], h.repo.Issues[n]
		switch {
		case wanted != "all" && is.State != wanted, q.Get("base") != "" && q.Get("base") != p.Base:
		case strings.Contains(q.Get("head"), ":") && !strings.EqualFold(q.Get("head"), p.Label()): // without an owner it is ignored
		default:
			found = append(found, p)
		}
	}
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(h.visit, found, func(p *state.Pull) any { return h.show.Pull(h.repo, p, false) })
}

// wish is a pull request as somebody wants it.
func (h pullHandler) wish() state.Pull {
	p := state.Pull{Author: h.login(), HeadRepository: h.repo.FullName()}
	p.Title, _ = field[string](h.visit, "title")
	p.Body, _ = field[string](h.visit, "body")
	p.Base, _ = field[string](h.visit, "base")
	p.Draft, _ = field[bool](h.visit, "draft")
	p.Head, _ = field[string](h.visit, "head")
	if owner, branch, ok := strings.Cut(p.Head, ":"); ok {
		p.Head, p.HeadRepository = branch, owner+"/"+h.repo.Name
	}
	if from, sent := field[string](h.visit, "head_repo"); sent {
		p.HeadRepository = from
	}
	return p
}

func (h pullHandler) createPull() Result {
	p := h.wish()
	if h.repo.NoActionsPulls && h.login() == "github-actions[bot]" {
		return refuse(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := h.Find(p.HeadRepository)
	wrong := func(field string) object { return object{"resource": "PullRequest", "field": field, "code": "invalid"} }
	custom := func(message string) Result {
		return invalid(object{"resource": "PullRequest", "code": "custom", "message": message})
	}
	switch {
	case h.repo.Head(p.Base) == "":
		return invalid(wrong("base"))
	case head == nil || head.Head(p.Head) == "":
		return invalid(wrong("head"))
	case h.openPull(p) != nil:
		return custom("A pull request already exists for " + p.Label() + ".")
	case !head.Ahead(p.Head, h.repo, p.Base):
		return custom(fmt.Sprintf("No commits between %s and %s", p.Base, p.Head))
	case strings.TrimSpace(p.Title) == "":
		return invalid(object{"resource": "PullRequest", "field": "title", "code": "missing_field"})
	case len([]rune(p.Title)) > mostTitle:
		return invalid(tooLong("Issue", "title", mostTitle))
	case p.Draft && h.repo.NoDrafts:
		return refuse(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	if no := bodyTooLong("Issue", p.Body); no != nil {
		return *no
	}
	return created(h.show.Pull(h.repo, h.repo.AddPull(p), true))
}

// openPull finds an open pull request between the same branches.
func (h pullHandler) openPull(p state.Pull) *state.Pull {
	for n, old := range h.repo.Pulls {
		if h.repo.Issues[n].State == "open" && old.Base == p.Base && strings.EqualFold(old.Label(), p.Label()) {
			return old
		}
	}
	return nil
}

func (h pullHandler) editPull() Result {
	is := h.issue
	if !h.has("write") && !strings.EqualFold(is.Author, h.login()) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next, base := edited(h.visit, *is), h.pull.Base
	if to, sent := field[string](h.visit, "base"); sent {
		base = to
	}
	if no := bodyTooLong("Issue", next.Body); no != nil {
		return *no
	}
	if h.repo.Head(base) == "" {
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "invalid"})
	}
	next.Updated = h.Tick()
	*is, h.pull.Base = next, base
	return ok(h.show.Pull(h.repo, h.pull, true))
}
