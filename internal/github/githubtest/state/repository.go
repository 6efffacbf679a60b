package state

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/bare"
)

// Repository has what people see under one owner/name.
type Repository struct {
	Settings
	Owner, Name string
	ID          int64
	Private     bool
	Issues      map[int]*Issue
	Gone        map[int]Gone
	Comments    Comments
	Reactions   map[Subject][]*Reaction
	Children    map[int][]int64 // ids of the sub-issues of an issue
	Pulls       map[int]*Pull
	Roles       map[string]Role   // by login in small letters
	Concealed   map[string]bool   // the same; called nobody in particular
	Branches    map[string]string // commits by branch; not used with a bare repository
	Bare        bare.Repository
	Runs        map[int64]*Run
	Dispatches  []Dispatch

	clock *Clock
}

// Settings are what the owner of a repository can choose.
type Settings struct {
	DefaultBranch  string // empty: main
	Fork           bool
	Archived       bool // it can be read only
	NoIssues       bool // issues are switched off
	NoDrafts       bool // pull requests cannot be drafts
	NoActionsPulls bool // jobs with GITHUB_TOKEN may not create pull requests
}

// Gone is where an issue is that is not there any more. The zero value: it was deleted.
type Gone struct {
	To     *Repository
	Number int
}

func newRepository(owner, name string, clock *Clock) *Repository {
	return &Repository{
		Settings: Settings{DefaultBranch: "main"}, Owner: owner, Name: name, ID: clock.NewID(), Issues: map[int]*Issue{}, Gone: map[int]Gone{},
		Reactions: map[Subject][]*Reaction{}, Children: map[int][]int64{}, Pulls: map[int]*Pull{}, Branches: map[string]string{}, Runs: map[int64]*Run{},
		Roles: map[string]Role{strings.ToLower(owner): {"admin", "admin"}}, Concealed: map[string]bool{}, clock: clock,
	}
}

// FullName is owner/name.
func (r *Repository) FullName() string { return r.Owner + "/" + r.Name }

// RoleOf is somebody's role. What is public can be read by everybody.
func (r *Repository) RoleOf(login string) Role {
	switch has := r.Roles[strings.ToLower(login)]; {
	case has.Name != "":
		return has
	case r.Private || login == "":
		return Role{"none", "none"}
	}
	return Role{"read", "read"}
}

// Association is how GitHub calls who writes somewhere.
func (r *Repository) Association(login string) string {
	switch {
	case r.Concealed[strings.ToLower(login)]:
		return "NONE"
	case strings.EqualFold(login, r.Owner):
		return "OWNER"
	case r.RoleOf(login).AtLeast("triage"):
		return "COLLABORATOR"
	}
	return "NONE"
}
