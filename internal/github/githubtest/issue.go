package githubtest

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Issue is an issue. What a test leaves out is as on most issues.
type Issue struct {
	Number  int   // 0: the next one
	ID      int64 // given by the server
	Title   string
	Body    string // empty: null, as GitHub sends it
	Author  string // empty: octocat
	Labels  []string
	Type    string // empty: none
	State   string // empty: open
	Reason  string // why it is closed; empty: completed
	Locked  bool
	Pull    bool // it is a pull request
	Created time.Time
	Updated time.Time
}

// AddIssue adds an issue to owner/name, or replaces the one with its number.
// It returns the number.
func (s *Server) AddIssue(repo string, is Issue) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	s.addIssue(r, &is)
	if is.Pull && r.pulls[is.Number] == nil {
		r.pulls[is.Number] = &Pull{Number: is.Number, ID: s.id(), Head: fmt.Sprintf("change-%d", is.Number), Base: r.DefaultBranch, HeadRepository: r.fullName()}
	}
	return is.Number
}

func (s *Server) addIssue(r *repository, is *Issue) {
	if is.Number == 0 {
		is.Number = r.nextNumber()
	}
	if is.Author == "" {
		is.Author = "octocat"
	}
	if is.State == "" {
		is.State = "open"
	}
	if is.Updated.IsZero() {
		is.Updated = s.time()
	}
	if is.Created.IsZero() {
		is.Created = is.Updated
	}
	is.ID, is.Labels = s.id(), slices.Clone(is.Labels)
	if old := r.issues[is.Number]; old != nil {
		is.ID = old.ID
	}
	r.issues[is.Number] = is
	delete(r.gone, is.Number)
}

func (r *repository) nextNumber() int {
	n := 0
	for taken := range r.issues {
		n = max(n, taken)
	}
	for taken := range r.gone {
		n = max(n, taken)
	}
	return n + 1
}

// Issues are the issues and pull requests of a repository, by number.
func (s *Server) Issues(repo string) []Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Issue
	r := s.repository(repo)
	for _, n := range slices.Sorted(maps.Keys(r.issues)) {
		is := *r.issues[n]
		is.Labels = slices.Clone(is.Labels)
		out = append(out, is)
	}
	return out
}

// Labels are the labels of an issue.
func (s *Server) Labels(repo string, number int) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.thread(repo, number).Labels)
}

// ChangeIssue changes an issue as people do: its title, text, labels and
// state, and whether it is locked.
func (s *Server) ChangeIssue(repo string, number int, change func(*Issue)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	is := s.thread(repo, number)
	change(is)
	is.Updated = s.tick()
}

// thread finds an issue that a test names.
func (s *Server) thread(repo string, number int) *Issue {
	if is := s.repository(repo).issues[number]; is != nil {
		return is
	}
	s.host.Helper()
	s.host.Errorf("githubtest: there is no issue %d in %s", number, repo)
	return &Issue{}
}

// DeleteIssue deletes an issue.
func (s *Server) DeleteIssue(repo string, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(repo, number, func(*visit) result { return refuse(http.StatusGone, "This issue was deleted") })
}

// Transfer moves an issue and its comments to another repository, where it
// gets a number of its own. The old place leads to the new one.
func (s *Server) Transfer(repo string, number int, to string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	target, moved := s.repository(to), *s.thread(repo, number)
	moved.Number = 0
	s.addIssue(target, &moved)
	comments := s.remove(repo, number, func(v *visit) result {
		status := http.StatusMovedPermanently
		if v.in.method != http.MethodGet {
			status = http.StatusTemporaryRedirect
		}
		_, rest, _ := strings.Cut(v.in.path, fmt.Sprintf("/issues/%d", number))
		place := at(v.URL, "repositories", target.id, "issues", moved.Number) + rest
		return result{status: status, value: object{"message": "Moved Permanently", "url": place, "documentation_url": docs}, header: map[string]string{"Location": place}}
	})
	for _, c := range comments {
		c.issue = moved.Number
	}
	target.comments = append(target.comments, comments...)
	slices.SortFunc(target.comments, func(a, b *comment) int { return cmp.Compare(a.ID, b.ID) })
	return moved.Number
}

// remove takes an issue away, and returns its comments. Gone says what is
// answered from now on.
func (s *Server) remove(repo string, number int, gone func(*visit) result) []*comment {
	r := s.repository(repo)
	if is := r.issues[number]; is != nil {
		s.orphan(is.ID)
	}
	delete(r.issues, number)
	delete(r.pulls, number)
	r.gone[number] = gone
	var comments []*comment
	r.comments = slices.DeleteFunc(r.comments, func(c *comment) bool {
		if c.issue == number {
			comments = append(comments, c)
		}
		return c.issue == number
	})
	return comments
}

// issueHandler answers requests about issues.
type issueHandler struct{ *visit }

func (h issueHandler) getIssue() result {
	return ok(commentHandler(h).withHTML(h.issueObject(h.repo, h.issue), h.issue.Body))
}

func (h issueHandler) listIssues() result {
	if h.repo.NoIssues {
		return issuesOff()
	}
	q := h.in.query
	state := cmp.Or(q.Get("state"), "open")
	var found []*Issue
	for _, is := range h.repo.issues {
		switch {
		case state != "all" && is.State != state, q.Get("creator") != "" && !strings.EqualFold(q.Get("creator"), is.Author), !h.since(is.Updated):
		case q.Get("labels") != "" && !hasAll(is.Labels, strings.Split(q.Get("labels"), ",")):
		default:
			found = append(found, is)
		}
	}
	by := func(is *Issue) time.Time { return is.Created }
	if q.Get("sort") == "updated" {
		by = func(is *Issue) time.Time { return is.Updated }
	}
	slices.SortFunc(found, func(a, b *Issue) int { return cmp.Or(by(b).Compare(by(a)), b.Number-a.Number) })
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(h.visit, found, func(is *Issue) any { return h.issueObject(h.repo, is) })
}

func hasAll(have, want []string) bool {
	for _, w := range want {
		if !slices.ContainsFunc(have, func(h string) bool { return strings.EqualFold(h, strings.TrimSpace(w)) }) {
			return false
		}
	}
	return true
}

func issuesOff() result {
	return refuse(http.StatusGone, "Issues has been disabled in this repository.")
}

func (h issueHandler) createIssue() result {
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
	if no := h.bodyTooLong("Issue", body); no != nil {
		return *no
	}
	is := &Issue{Title: title, Body: body, Author: h.login(), Updated: h.tick()}
	if h.has("triage") { // what others send is dropped without a word
		is.Labels = labelHandler(h).sentLabels()
	}
	h.addIssue(h.repo, is)
	return created(h.issueObject(h.repo, is))
}

const (
	mostTitle = 256
	mostBody  = 65536
)

func tooLong(resource, name string, most int) object {
	return object{"resource": resource, "field": name, "code": "custom", "message": fmt.Sprintf("%s is too long (maximum is %d characters)", name, most)}
}

// bodyTooLong refuses a text that is longer than GitHub keeps.
func (h issueHandler) bodyTooLong(resource, body string) *result {
	if len([]rune(body)) <= mostBody {
		return nil
	}
	no := invalid(object{"resource": resource, "field": "body", "code": "custom", "message": fmt.Sprintf("body is too long (maximum is %d characters)", mostBody)})
	return &no
}

func (h issueHandler) editIssue() result {
	is := h.issue
	if !h.has("triage") && !strings.EqualFold(is.Author, h.login()) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next := *is
	if title, sent := field[string](h.visit, "title"); sent {
		next.Title = title
	}
	if body, sent := field[string](h.visit, "body"); sent {
		next.Body = body
	}
	if state, sent := field[string](h.visit, "state"); sent {
		next.State = state
	}
	next.Reason, _ = field[string](h.visit, "state_reason")
	if _, sent := field[[]any](h.visit, "labels"); sent && h.has("triage") {
		next.Labels = labelHandler(h).sentLabels()
	}
	if no := h.bodyTooLong("Issue", next.Body); no != nil {
		return *no
	}
	next.Updated = h.tick()
	*is = next
	return ok(h.issueObject(h.repo, is))
}
