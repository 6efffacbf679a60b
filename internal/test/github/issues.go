package github

import (
	"cmp"
	"fmt"
	"maps"
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
	Blocked int  // open issues that it is blocked by
	Created time.Time
	Updated time.Time
}

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

// NodeID is the id of a pull request in GraphQL.
func (p Pull) NodeID() string { return nodeID("PR", p.ID) }

// label is how GitHub names the head of a pull request.
func (p Pull) label() string {
	owner, _, _ := strings.Cut(p.HeadRepository, "/")
	return owner + ":" + p.Head
}

// addIssue adds an issue, or replaces the one with its number. One that is to be a pull
// request becomes one of a branch of its own.
func (r *repository) addIssue(is *Issue) {
	if is.Number == 0 {
		is.Number = r.nextNumber()
	}
	is.Author, is.State = cmp.Or(is.Author, "octocat"), cmp.Or(is.State, "open")
	if is.Updated.IsZero() {
		is.Updated = r.server.now()
	}
	if is.Created.IsZero() {
		is.Created = is.Updated
	}
	is.ID, is.Labels = r.server.newID(), slices.Clone(is.Labels)
	if old := r.issues[is.Number]; old != nil {
		is.ID = old.ID
	}
	r.issues[is.Number] = is
	delete(r.moved, is.Number)
	if is.Pull && r.pulls[is.Number] == nil {
		r.pulls[is.Number] = &Pull{Number: is.Number, ID: r.server.newID(), Head: fmt.Sprintf("change-%d", is.Number), Base: r.DefaultBranch, HeadRepository: r.fullName()}
	}
}

func (r *repository) addPull(p Pull) *Pull {
	is := &Issue{Number: p.Number, Title: p.Title, Body: p.Body, Author: p.Author, State: p.State, Pull: true, Updated: r.server.tick()}
	r.addIssue(is)
	p.Number, p.ID = is.Number, r.server.newID()
	p.Base, p.HeadRepository = cmp.Or(p.Base, r.DefaultBranch), cmp.Or(p.HeadRepository, r.fullName())
	r.pulls[p.Number] = &p
	return &p
}

// AddIssue adds an issue to owner/name, or replaces the one with its number.
// It returns the number.
func (s *Server) AddIssue(repo string, is Issue) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(repo).addIssue(&is)
	return is.Number
}

// Issues are the issues and pull requests of a repository, by number.
func (s *Server) Issues(repo string) []Issue {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Issue
	all := s.repository(repo).issues
	for _, n := range slices.Sorted(maps.Keys(all)) {
		is := *all[n]
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

// DeleteIssue deletes an issue.
func (s *Server) DeleteIssue(repo string, number int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.remove(s.repository(repo), number, moved{})
}

// remove takes an issue away, also from below its parent, and gives its comments.
func (s *Server) remove(r *repository, number int, to moved) []*posted {
	if is := r.issues[number]; is != nil {
		for _, other := range s.repositories {
			for n, children := range other.children {
				other.children[n] = slices.DeleteFunc(children, func(id int64) bool { return id == is.ID })
			}
		}
	}
	delete(r.issues, number)
	delete(r.pulls, number)
	r.moved[number] = to
	of := r.commentsOf(number)
	r.comments = slices.DeleteFunc(r.comments, func(c *posted) bool { return c.issue == number })
	return of
}

// Transfer moves an issue and its comments to another repository, where it
// gets a number of its own. The old place leads to the new one.
func (s *Server) Transfer(repo string, number int, to string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	from, target, is := s.repository(repo), s.repository(to), *s.thread(repo, number)
	is.Number = 0
	target.addIssue(&is)
	for _, c := range s.remove(from, number, moved{target, is.Number}) {
		c.issue = is.Number
		target.comments = append(target.comments, c)
	}
	slices.SortFunc(target.comments, func(a, b *posted) int { return cmp.Compare(a.ID, b.ID) })
	return is.Number
}

// issueByID finds an issue wherever it is.
func (s *Server) issueByID(id int64) (*repository, *Issue) {
	for _, r := range s.repositories {
		for _, is := range r.issues {
			if is.ID == id {
				return r, is
			}
		}
	}
	return nil, nil
}

// SubIssues are the numbers of the issues below an issue.
func (s *Server) SubIssues(repo string, number int) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []int
	for _, id := range s.repository(repo).children[number] {
		_, is := s.issueByID(id)
		out = append(out, is.Number)
	}
	return out
}

// AddPull adds a pull request, and returns its number. The repository that it
// comes from is added if it is not there.
func (s *Server) AddPull(repo string, pull Pull) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pull.HeadRepository != "" {
		s.repository(pull.HeadRepository)
	}
	return s.repository(repo).addPull(pull).Number
}

// Pulls are the pull requests of a repository, by number.
func (s *Server) Pulls(repo string) []Pull {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Pull
	r := s.repository(repo)
	for _, n := range slices.Sorted(maps.Keys(r.pulls)) {
		pull, is := *r.pulls[n], r.issues[n]
		pull.Title, pull.Body, pull.Author, pull.State = is.Title, is.Body, is.Author, is.State
		out = append(out, pull)
	}
	return out
}

// searchIssues finds open issues of one repository, by labels and words of the title: a small part of what people can ask for.
func (v *visit) searchIssues() reply {
	var found []*Issue
	for _, word := range strings.Fields(v.query.Get("q")) {
		if name, is := strings.CutPrefix(word, "repo:"); is {
			if v.repo = v.find(name); v.repo == nil || v.repo.private && !v.sees(v.repo) {
				return invalid("Search", "q", "invalid", "The listed users and repositories cannot be searched either because the resources do not exist or you do not have permission to view them.")
			}
			for _, n := range slices.Sorted(maps.Keys(v.repo.issues)) {
				found = append(found, v.repo.issues[n])
			}
		}
	}
	for _, word := range strings.Fields(v.query.Get("q")) {
		label, isLabel := strings.CutPrefix(word, "label:")
		found = slices.DeleteFunc(found, func(is *Issue) bool {
			switch {
			case isLabel:
				return !slices.Contains(is.Labels, label)
			case word == "is:open":
				return is.State != "open"
			case word == "is:issue":
				return is.Pull
			}
			return !strings.HasPrefix(word, "repo:") && !strings.Contains(is.Title, word)
		})
	}
	r := pageAs(v, "items", found, func(is *Issue) object {
		out := v.repo.issueObject(is)
		out["score"], out["body"] = 1.0, is.Body
		return out
	})
	r.value.(object)["incomplete_results"] = false
	return r
}
