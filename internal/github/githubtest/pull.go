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

func (v *visit) getPull() result { return ok(v.pullObject(v.repo, v.pull, true)) }

func (v *visit) listPulls() result {
	q := v.in.query
	state := cmp.Or(q.Get("state"), "open")
	var found []*Pull
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(v.repo.pulls))) {
		p, is := v.repo.pulls[n], v.repo.issues[n]
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
	return page(v, found, func(p *Pull) any { return v.pullObject(v.repo, p, false) })
}

// label is how GitHub names the head of a pull request.
func (p *Pull) label() string {
	owner, _, _ := strings.Cut(p.HeadRepository, "/")
	return owner + ":" + p.Head
}

// wish is a pull request as somebody wants it.
func (v *visit) wish() Pull {
	p := Pull{Author: v.login(), HeadRepository: v.repo.fullName()}
	p.Title, _ = field[string](v, "title")
	p.Body, _ = field[string](v, "body")
	p.Base, _ = field[string](v, "base")
	p.Draft, _ = field[bool](v, "draft")
	p.Head, _ = field[string](v, "head")
	if owner, branch, ok := strings.Cut(p.Head, ":"); ok {
		p.Head, p.HeadRepository = branch, owner+"/"+v.repo.name
	}
	if from, sent := field[string](v, "head_repo"); sent {
		p.HeadRepository = from
	}
	return p
}

func (v *visit) createPull() result {
	p := v.wish()
	if v.repo.NoActionsPulls && v.login() == "github-actions[bot]" {
		return refuse(http.StatusForbidden, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := v.repos[strings.ToLower(p.HeadRepository)]
	wrong := func(field string) object { return object{"resource": "PullRequest", "field": field, "code": "invalid"} }
	custom := func(message string) result {
		return invalid(object{"resource": "PullRequest", "code": "custom", "message": message})
	}
	switch {
	case v.sha(v.repo, p.Base) == "":
		return invalid(wrong("base"))
	case head == nil || v.sha(head, p.Head) == "":
		return invalid(wrong("head"))
	case v.openPull(p) != nil:
		return custom("A pull request already exists for " + p.label() + ".")
	case !v.ahead(head, p.Head, v.repo, p.Base):
		return custom(fmt.Sprintf("No commits between %s and %s", p.Base, p.Head))
	case strings.TrimSpace(p.Title) == "":
		return invalid(object{"resource": "PullRequest", "field": "title", "code": "missing_field"})
	case len([]rune(p.Title)) > mostTitle:
		return invalid(tooLong("Issue", "title", mostTitle))
	case p.Draft && v.repo.NoDrafts:
		return refuse(http.StatusUnprocessableEntity, "Draft pull requests are not supported in this repository.")
	}
	if no := v.bodyTooLong("Issue", p.Body); no != nil {
		return *no
	}
	return created(v.pullObject(v.repo, v.addPull(v.repo, p), true))
}

// openPull finds an open pull request between the same branches.
func (v *visit) openPull(p Pull) *Pull {
	for n, old := range v.repo.pulls {
		if v.repo.issues[n].State == "open" && old.Base == p.Base && strings.EqualFold(old.label(), p.label()) {
			return old
		}
	}
	return nil
}

func (v *visit) editPull() result {
	is := v.issue
	if !v.has("write") && !strings.EqualFold(is.Author, v.login()) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next, base := *is, v.pull.Base
	if title, sent := field[string](v, "title"); sent {
		next.Title = title
	}
	if body, sent := field[string](v, "body"); sent {
		next.Body = body
	}
	if state, sent := field[string](v, "state"); sent {
		next.State = state
	}
	if to, sent := field[string](v, "base"); sent {
		base = to
	}
	if no := v.bodyTooLong("Issue", next.Body); no != nil {
		return *no
	}
	if v.sha(v.repo, base) == "" {
		return invalid(object{"resource": "PullRequest", "field": "base", "code": "invalid"})
	}
	next.Updated = v.tick()
	*is, v.pull.Base = next, base
	return ok(v.pullObject(v.repo, v.pull, true))
}
