package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Pull is what a pull request has besides what an issue has.
type Pull struct {
	Number         int   // 0: the next one
	ID             int64 // given by the server
	Title, Body    string
	Author         string // empty: octocat
	State          string // empty: open
	Head           string // a branch
	HeadRepository string // owner/name; empty: the same repository
	Base           string // a branch; empty: the default one
	Draft          bool
	Merged         bool
}

// AddPull adds a pull request, and returns its number.
func (s *Server) AddPull(repo string, p Pull) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.addPull(s.repository(repo), p).Number
}

func (s *Server) addPull(r *repository, p Pull) *Pull {
	is := &Issue{Number: p.Number, Title: p.Title, Body: p.Body, Author: p.Author, State: p.State, Pull: true, Updated: s.tick()}
	s.addIssue(r, is)
	p.Number, p.ID = is.Number, s.id()
	p.Base, p.HeadRepository = cmp.Or(p.Base, r.DefaultBranch), cmp.Or(p.HeadRepository, r.fullName())
	r.pulls[p.Number] = &p
	return &p
}

// Pulls are the pull requests of a repository, by number.
func (s *Server) Pulls(repo string) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Pull
	r := s.repository(repo)
	for _, n := range slices.Sorted(maps.Keys(r.pulls)) {
		p, is := *r.pulls[n], r.issues[n]
		p.Title, p.Body, p.Author, p.State = is.Title, is.Body, is.Author, is.State
		out = append(out, p)
	}
	return out
}

// NodeID is the id of a pull request in GraphQL.
func (p Pull) NodeID() string { return node("PR", p.ID) }

// pullHandler answers requests about pull requests.
type pullHandler struct{ *visit }

func (h pullHandler) getPull() result { return ok(h.pullObject(h.repo, h.pull, true)) }

func (h pullHandler) listPulls() result {
	q := h.in.query
	state := cmp.Or(q.Get("state"), "open")
	var found []*Pull
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(h.repo.pulls))) {
		p, is := h.repo.pulls[n], h.repo.issues[n]
		switch {
		case state != "all" && is.State != state, q.Get("base") != "" && q.Get("base") != p.Base:
		case strings.Contains(q.Get("head"), ":") && !strings.EqualFold(q.Get("head"), p.label()): // without an owner it is ignored
		default:
			found = append(found, p)
		}
	}
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(h.visit, found, func(p *Pull) any { return h.pullObject(h.repo, p, false) })
}

// label is how GitHub names the head of a pull request.
func (p *Pull) label() string {
	owner, _, _ := strings.Cut(p.HeadRepository, "/")
	return owner + ":" + p.Head
}

// wish is a pull request as somebody wants it.
func (h pullHandler) wish() Pull {
	p := Pull{Author: h.login(), HeadRepository: h.repo.fullName()}
	p.Title, _ = field[string](h.visit, "title")
	p.Body, _ = field[string](h.visit, "body")
	p.Base, _ = field[string](h.visit, "base")
	p.Draft, _ = field[bool](h.visit, "draft")
	p.Head, _ = field[string](h.visit, "head")
	if owner, branch, ok := strings.Cut(p.Head, ":"); ok {
		p.Head, p.HeadRepository = branch, owner+"/"+h.repo.name
	}
	if from, sent := field[string](h.visit, "head_repo"); sent {
		p.HeadRepository = from
	}
	return p
}

func (h pullHandler) createPull() result {
	p := h.wish()
	if h.repo.NoActionsPulls && h.login() == "github-actions[bot]" {
		return refuse(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := h.repos[strings.ToLower(p.HeadRepository)]
	wrong := func(field string) object { return object{"resource": "PullRequest", "field": field, "code": "invalid"} }
	custom := func(message string) result {
		return invalid(object{"resource": "PullRequest", "code": "custom", "message": message})
	}
	switch {
	case h.sha(h.repo, p.Base) == "":
		return invalid(wrong("base"))
	case head == nil || h.sha(head, p.Head) == "":
		return invalid(wrong("head"))
	case h.openPull(p) != nil:
		return custom("A pull request already exists for " + p.label() + ".")
	case !h.ahead(head, p.Head, h.repo, p.Base):
		return custom(fmt.Sprintf("No commits between %s and %s", p.Base, p.Head))
	case strings.TrimSpace(p.Title) == "":
		return invalid(object{"resource": "PullRequest", "field": "title", "code": "missing_field"})
	case len([]rune(p.Title)) > mostTitle:
		return invalid(tooLong("Issue", "title", mostTitle))
	case p.Draft && h.repo.NoDrafts:
		return refuse(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	if no := issueHandler(h).bodyTooLong("Issue", p.Body); no != nil {
		return *no
	}
	return created(h.pullObject(h.repo, h.addPull(h.repo, p), true))
}

// openPull finds an open pull request between the same branches.
func (h pullHandler) openPull(p Pull) *Pull {
	for n, old := range h.repo.pulls {
		if h.repo.issues[n].State == "open" && old.Base == p.Base && strings.EqualFold(old.label(), p.label()) {
			return old
		}
	}
	return nil
}

func (h pullHandler) editPull() result {
	is := h.issue
	if !h.has("write") && !strings.EqualFold(is.Author, h.login()) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next, base := *is, h.pull.Base
	if title, sent := field[string](h.visit, "title"); sent {
		next.Title = title
	}
	if body, sent := field[string](h.visit, "body"); sent {
		next.Body = body
	}
	if state, sent := field[string](h.visit, "state"); sent {
		next.State = state
	}
	if to, sent := field[string](h.visit, "base"); sent {
		base = to
	}
	if no := issueHandler(h).bodyTooLong("Issue", next.Body); no != nil {
		return *no
	}
	if h.sha(h.repo, base) == "" {
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "invalid"})
	}
	next.Updated = h.tick()
	*is, h.pull.Base = next, base
	return ok(h.pullObject(h.repo, h.pull, true))
}
