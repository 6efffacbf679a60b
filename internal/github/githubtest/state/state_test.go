package state

import (
	"fmt"
	"slices"
	"testing"
	"time"
)

func TestNames(t *testing.T) {
	s := New()
	if s.Find("acme/widget") != nil {
		t.Error("there is a repository in nothing")
	}
	r := s.Repository("Acme/Widget")
	if s.Repository("acme/widget") != r || s.Find("ACME/WIDGET") != r || r.FullName() != "Acme/Widget" {
		t.Error("large and small letters are different repositories")
	}
	s.Repository("acme/gadget")
	var names []string
	for _, r := range s.Repositories() {
		names = append(names, r.FullName())
	}
	if fmt.Sprint(names) != "[Acme/Widget acme/gadget]" {
		t.Errorf("there are %v", names)
	}
}

// To look at an account makes nothing known of it.
func TestAccounts(t *testing.T) {
	all := Accounts{}
	if all.Of("dependabot[bot]").Kind != "Bot" || all.Of("ada").Kind != "User" || len(all) != 0 {
		t.Errorf("they are %v", all)
	}
	all.Change("Ada", func(a *Account) { a.Suspended = true })
	if a := all.Of("ada"); !a.Suspended || a.Login != "Ada" || a.Kind != "User" {
		t.Errorf("she is %+v", a)
	}
}

func TestRoles(t *testing.T) {
	r := New().Repository("acme/widget")
	r.Roles["cara"] = Role{"release-helper", "write"}
	r.Roles["ned"] = Role{"none", "none"}
	r.Roles["mo"], r.Concealed["mo"] = Role{"admin", "admin"}, true
	for login, want := range map[string]string{
		"ACME": "admin OWNER", "Cara": "release-helper COLLABORATOR", "ned": "none NONE", "mo": "admin NONE", "ann": "read NONE", "": "none NONE",
	} {
		if got := r.RoleOf(login).Name + " " + r.Association(login); got != want {
			t.Errorf("%q is %s, want %s", login, got, want)
		}
	}
	if has := r.RoleOf("cara"); !has.AtLeast("triage") || !has.AtLeast("write") || has.AtLeast("maintain") || r.RoleOf("ned").AtLeast("read") {
		t.Error("roles are not in their order")
	}
	r.Private = true
	if got := r.RoleOf("ann").Name; got != "none" {
		t.Errorf("what is private can be seen by everybody: %s", got)
	}
}

func TestGrants(t *testing.T) {
	token := &Token{}
	if !token.Grants("acme/widget", "issues=write", false) {
		t.Error("without limits it may not do everything")
	}
	token.Limit("Acme/Widget", map[string]string{"issues": "write", "pull_requests": "read"})
	for _, tt := range []struct {
		repository, needs string
		pull, want        bool
	}{
		{"acme/widget", "metadata=read", false, true},
		{"acme/widget", "issues=read; pull_requests=read", false, true},
		{"acme/widget", "issues=write; pull_requests=write", false, true},
		{"acme/widget", "issues=write; pull_requests=write", true, false},
		{"acme/widget", "issues=read; pull_requests=read", true, true},
		{"acme/widget", "contents=read", false, false},
		{"acme/gadget", "contents=write", false, true},
	} {
		if got := token.Grants(tt.repository, tt.needs, tt.pull); got != tt.want {
			t.Errorf("%s in %s, pull request %v: %v", tt.needs, tt.repository, tt.pull, got)
		}
	}
}

func TestLimit(t *testing.T) {
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	l := Limit{Most: 2, Window: time.Minute}
	var got []time.Duration
	for _, seconds := range []int{0, 20, 30, 59, 60, 61, 80} {
		got = append(got, l.Take(at.Add(time.Duration(seconds)*time.Second))/time.Second)
	}
	if want := []time.Duration{0, 0, 30, 1, 0, 19, 0}; !slices.Equal(got, want) {
		t.Errorf("the seconds to wait are %d, want %d", got, want)
	}
	for range 3 {
		if wait := (&Limit{}).Take(at); wait != 0 {
			t.Errorf("without a limit it waits %v", wait)
		}
	}
}

// A pull request is an issue, too, and an issue can be one.
func TestPullsAreIssues(t *testing.T) {
	r := New().Repository("acme/widget")
	p := r.AddPull(Pull{Title: "P", Head: "work"})
	if is := r.Issues[p.Number]; !is.Pull || is.Title != "P" || p.Base != "main" || p.Label() != "acme:work" {
		t.Errorf("%+v is the issue %+v", p, is)
	}
	is := &Issue{Title: "Q", Pull: true}
	r.AddIssue(is)
	if q := r.Pulls[is.Number]; q == nil || q.Label() != "acme:change-2" || q.ID == is.ID {
		t.Errorf("the issue is %+v", q)
	}
}

func TestTransfer(t *testing.T) {
	s := New()
	from, to := s.Repository("acme/widget"), s.Repository("acme/gadget")
	parent, moved, late := &Issue{Title: "A"}, &Issue{Title: "B"}, &Issue{Title: "C"}
	from.AddIssue(parent)
	from.AddIssue(moved)
	from.Children[parent.Number] = []int64{moved.ID}
	to.AddIssue(late)
	first := from.AddComment(moved, Comment{Body: "x"})
	stays := from.AddComment(parent, Comment{Body: "y"})
	to.AddComment(late, Comment{Body: "z"})
	n := s.Transfer(from, moved, to)
	if from.Issues[moved.Number] != nil || from.Gone[moved.Number] != (Gone{to, n}) || to.Issues[n].Title != "B" {
		t.Errorf("it went to %d: %+v", n, from.Gone)
	}
	if len(from.Comments) != 1 || from.Comments[0] != stays || len(to.Comments) != 2 || to.Comments[0] != first || first.Issue != n {
		t.Errorf("its comments are %v and %v", from.Comments, to.Comments)
	}
	if s.HasParent(moved.ID) || s.HasParent(to.Issues[n].ID) {
		t.Error("it is still below another issue")
	}
	next := &Issue{Title: "D"}
	from.AddIssue(next)
	if next.Number != 3 {
		t.Errorf("number %d was given again", next.Number)
	}
}

// Without git the default branch is there, and others as they are set.
func TestHeads(t *testing.T) {
	s := New()
	r, fork := s.Repository("acme/widget"), s.Repository("eve/widget")
	r.Branches["same"], fork.Branches["work"] = r.Head("main"), "2"
	if len(r.Head("refs/heads/main")) != 40 || r.Head("none") != "" || r.Head("main") == fork.Head("main") {
		t.Errorf("main is at %s, and there at %s", r.Head("main"), fork.Head("main"))
	}
	if r.Ahead("same", r, "main") || !fork.Ahead("work", r, "main") {
		t.Error("the same commit is ahead, or another one is not")
	}
}
