package github

import (
	"cmp"
	"crypto/sha1"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// repository has what people see under one owner/name.
type repository struct {
	Settings
	server      *Server
	owner, name string
	id          int64
	private     bool
	issues      map[int]*Issue
	moved       map[int]moved // the issues that are not there any more
	comments    []*posted     // oldest first
	reactions   map[subject][]*Reaction
	children    map[int][]int64 // ids of the sub-issues of an issue
	pulls       map[int]*Pull
	roles       map[string]role   // by login in small letters
	concealed   map[string]bool   // the same; called nobody in particular
	branches    map[string]string // commits by branch; not used with a bare repository
	bare        bare
	runs        map[int64]*Run
	dispatches  []Dispatch
	checks      *Checks  // nil: nothing says what runs on commits
	reviews     *Reviews // nil: there are none
}

// Settings are what the owner of a repository can choose.
type Settings struct {
	DefaultBranch  string // empty: main
	Fork           bool
	Archived       bool     // it can be read only
	NoIssues       bool     // issues are switched off
	NoDrafts       bool     // pull requests cannot be drafts
	NoActionsPulls bool     // jobs with GITHUB_TOKEN may not create pull requests
	Rules          []string // kinds of rules that hold for every branch but the default one, such as required_signatures
}

// moved is where an issue is that is not there any more. The zero value: it was deleted.
type moved struct {
	to     *repository
	number int
}

func newRepository(s *Server, owner, name string) *repository {
	return &repository{
		Settings: Settings{DefaultBranch: "main"}, server: s, owner: owner, name: name, id: s.newID(), issues: map[int]*Issue{}, moved: map[int]moved{},
		reactions: map[subject][]*Reaction{}, children: map[int][]int64{}, pulls: map[int]*Pull{}, branches: map[string]string{}, runs: map[int64]*Run{},
		roles: map[string]role{strings.ToLower(owner): {"admin", "admin"}}, concealed: map[string]bool{},
	}
}

// AddRepository adds owner/name, or makes it private if it is there.
func (s *Server) AddRepository(name string, private bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(name).private = private
}

// Configure sets the settings of owner/name, and adds it if it is not there.
func (s *Server) Configure(name string, settings Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	settings.DefaultBranch = cmp.Or(settings.DefaultBranch, "main")
	s.repository(name).Settings = settings
}

// Bare ties a repository to a bare git repository on disk: from now on its
// branches are what git has.
func (s *Server) Bare(repo, dir string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(repo).bare = bare(dir)
}

// SetBranch says where a branch is, in a repository without git. The default
// branch is there without it. An empty commit takes the branch away.
func (s *Server) SetBranch(repo, branch, commit string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	branches := s.repository(repo).branches
	delete(branches, branch)
	if commit != "" {
		branches[branch] = commit
	}
}

// Desk is a repository while the server is locked.
type Desk struct{ r *repository }

// Pull is a pull request.
func (d *Desk) Pull(number int) *Pull { return d.r.pulls[number] }

// With looks at a repository, or changes what belongs to it.
func (s *Server) With(repo string, do func(*Desk)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do(&Desk{s.repository(repo)})
}

func (r *repository) fullName() string { return r.owner + "/" + r.name }

// api is the address for programs, and web the one for people.
func (r *repository) api() string { return r.server.URL + "/repos/" + r.fullName() }
func (r *repository) web() string { return web + "/" + r.fullName() }

// roleOf is somebody's role. What is public can be read by everybody.
func (r *repository) roleOf(login string) role {
	switch has := r.roles[strings.ToLower(login)]; {
	case has.name != "":
		return has
	case r.private || login == "":
		return role{"none", "none"}
	}
	return role{"read", "read"}
}

// association is how GitHub calls who writes somewhere.
func (r *repository) association(login string) string {
	switch {
	case r.concealed[strings.ToLower(login)]:
		return "NONE"
	case strings.EqualFold(login, r.owner):
		return "OWNER"
	case r.roleOf(login).atLeast("triage"):
		return "COLLABORATOR"
	}
	return "NONE"
}

// head is the commit of a branch; empty if there is none. The default branch is always
// there, unless git has the branches.
func (r *repository) head(branch string) string {
	branch = strings.TrimPrefix(branch, "refs/heads/")
	if r.bare != "" {
		return r.bare.ref("refs/heads/" + branch)
	}
	if sha := r.branches[branch]; sha != "" || branch != r.DefaultBranch {
		return sha
	}
	return fmt.Sprintf("%x", sha1.Sum([]byte(r.fullName())))
}

// ahead reports whether a branch has commits that one of another repository has not.
func (r *repository) ahead(branch string, base *repository, from string) bool {
	a, b := r.head(branch), base.head(from)
	if r.bare == "" || a == b {
		return a != b
	}
	return r.bare.ahead(a, b)
}

// nextNumber is the number of the next issue. None is given twice.
func (r *repository) nextNumber() int {
	n := 0
	for _, taken := range slices.Concat(slices.Collect(maps.Keys(r.issues)), slices.Collect(maps.Keys(r.moved))) {
		n = max(n, taken)
	}
	return n + 1
}

// object is the repository as GitHub sends it.
func (r *repository) object() object {
	open := 0
	for _, is := range r.issues {
		if is.State == "open" {
			open++
		}
	}
	visibility := "public"
	if r.private {
		visibility = "private"
	}
	return object{
		"id": r.id, "node_id": nodeID("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private, "owner": r.server.user(r.owner),
		"url": r.api(), "html_url": r.web(), "clone_url": r.web() + ".git", "fork": r.Fork, "open_issues": open, "open_issues_count": open,
		"has_issues": !r.NoIssues, "archived": r.Archived, "visibility": visibility, "default_branch": r.DefaultBranch,
	}
}
