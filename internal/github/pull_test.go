package github

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/github/githubtest"
)

func TestOpenPullFinds(t *testing.T) {
	s := newStand(t, quick)
	s.AddPull(widget, githubtest.Pull{Number: 40, Title: "Closed", Head: "work", State: "closed"})
	s.AddPull(widget, githubtest.Pull{Number: 41, Title: "Other base", Head: "work", Base: "release"})
	s.AddPull(widget, githubtest.Pull{Number: 42, Title: "Of a fork", Head: "work", HeadRepository: "mallory/widget"})
	want := Pull{Title: "T", Body: "B", Head: "work", Base: "main", Draft: true, State: "open", HeadRepository: widget, Number: 43, URL: "https://github.com/acme/widget/pull/43"}
	for range 3 {
		p, err := s.gh.OpenPull(t.Context(), "acme", "widget", Pull{Title: "T", Body: "B", Head: "work", Base: "main", Draft: true})
		if err != nil {
			t.Fatal(err)
		}
		want.NodeID = s.Pulls(widget)[4].NodeID()
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		again, err := s.gh.Pull(t.Context(), "acme", "widget", p.Number)
		if diff := cmp.Diff(p, again); diff != "" || err != nil {
			t.Errorf("error %v (-opened +read):\n%s", err, diff)
		}
	}
	if n := len(s.Pulls(widget)); n != 5 {
		t.Errorf("%d pull requests", n)
	}
}

// Somebody opens one between the look and the order.
func TestOpenPullRace(t *testing.T) {
	s := newStand(t, quick)
	s.Fault("GET /repos/acme/widget/pulls", githubtest.Fault{Body: "[]"})
	s.AddPull(widget, githubtest.Pull{Number: 43, Title: "Faster", Head: "work"})
	p, err := s.gh.OpenPull(t.Context(), "acme", "widget", Pull{Title: "T", Head: "work", Base: "main"})
	if err != nil || p.Number != 43 {
		t.Errorf("%+v, error %v", p, err)
	}
}

func TestOpenPullWithoutDrafts(t *testing.T) {
	s := newStand(t, quick)
	s.Configure(widget, githubtest.Settings{NoDrafts: true})
	p, err := s.gh.OpenPull(t.Context(), "acme", "widget", Pull{Title: "T", Head: "work", Base: "main", Draft: true})
	if err != nil || p.Draft || p.Number == 0 {
		t.Errorf("%+v, error %v", p, err)
	}
}

func TestUpdatePull(t *testing.T) {
	s := newStand(t, quick)
	for _, tt := range []struct{ title, body, wantTitle, wantBody string }{
		{"", "B", "Draft", "B"}, {"T", "", "T", "B"}, {"U", "C", "U", "C"},
	} {
		if err := s.gh.UpdatePull(t.Context(), "acme", "widget", 20, PullText{tt.title, tt.body}); err != nil {
			t.Fatal(err)
		}
		if p := s.Pulls(widget)[0]; p.Title != tt.wantTitle || p.Body != tt.wantBody {
			t.Errorf("it is %q: %q", p.Title, p.Body)
		}
	}
}

func TestReadyPull(t *testing.T) {
	s := newStand(t, quick)
	s.draft.NodeID = "" // as somebody has it who knows the number only
	for range 2 {
		if err := s.gh.ReadyPull(t.Context(), "acme", "widget", s.draft); err != nil {
			t.Fatal(err)
		}
		if s.Pulls(widget)[0].Draft {
			t.Error("it is a draft")
		}
	}
}

func TestMayOpenPull(t *testing.T) {
	for _, tt := range []struct {
		name string
		set  func(s *stand)
		kind Kind
	}{
		{"yes", func(*stand) {}, ""},
		{"read only", func(s *stand) { s.Allow("ghs_job", widget, map[string]string{"pull_requests": "read"}) }, Forbidden},
		{"switched off", func(s *stand) { s.Configure(widget, githubtest.Settings{NoActionsPulls: true}) }, Forbidden},
	} {
		s := newStand(t, quick)
		s.AddInstallation("ghs_job", "github-actions[bot]")
		tt.set(s)
		gh, _ := clientWithin(t, s.Server, "ghs_job", quick)
		err := gh.MayOpenPull(t.Context(), "acme", "widget", "main")
		if tt.kind != "" {
			checkError(t, err, tt.kind, "pull")
		} else if err != nil {
			t.Error(err)
		}
		if n := len(s.Pulls(widget)); n != 1 {
			t.Errorf("%s: %d pull requests", tt.name, n)
		}
	}
	s := newStand(t, quick)
	s.Fault("POST /repos/acme/widget/pulls", githubtest.Fault{Status: 201, Body: `{"number":5}`})
	checkError(t, s.gh.MayOpenPull(t.Context(), "acme", "widget", "main"), Unreadable, "it opened pull request 5 of main to itself; close that")
}

func TestRole(t *testing.T) {
	s := newStand(t, quick)
	for login, role := range map[string]string{"amy": "admin", "max": "maintain", "will": "write", "tim": "triage", "rob": "read", "nan": "none"} {
		s.Permit(widget, login, role)
	}
	s.PermitAs(widget, "rita", "release-manager", "write")
	s.PermitAs(widget, "eve", "admin", "read") // people can name roles
	s.Permit(widget, "sue", "admin")
	s.Suspend("sue")
	s.Permit(widget, "helper[bot]", "write")
	for login, want := range map[string]Role{
		"amy": RoleAdmin, "max": RoleMaintain, "will": RoleWrite, "tim": RoleTriage, "rob": RoleRead, "nan": RoleNone, "acme": RoleAdmin,
		"rita": RoleWrite, "eve": RoleRead, "sue": RoleNone, "somebody": RoleRead, "helper[bot]": RoleWrite,
	} {
		if r, err := s.gh.Role(t.Context(), "acme", "widget", login); err != nil || r != want {
			t.Errorf("%s: %s, error %v, want %s", login, r, err, want)
		}
	}
	for _, f := range []githubtest.Fault{githubtest.Status(403, "no"), githubtest.Status(401, "no"), {Body: "[]"}} {
		s.Fault("GET /repos/acme/widget/collaborators/amy/permission", f)
		if r, err := s.gh.Role(t.Context(), "acme", "widget", "amy"); err == nil || r != RoleNone {
			t.Errorf("%s, error %v", r, err)
		}
	}
}

// Gitea and Forgejo tell the roles of others to administrators only, whatever
// permissions GitHub would name.
func TestRoleOnGitea(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message": "Only admins can query all permissions"}`))
	}))
	t.Cleanup(s.Close)
	for base, want := range map[string]string{"/api/v1": "an administrator of the repository", "/api/v3": "metadata: read"} {
		gh, err := New(Options{Token: canary, APIURL: s.URL + base})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := gh.Role(t.Context(), "acme", "widget", "ada"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", base, err, want)
		}
	}
}

func TestRepository(t *testing.T) {
	s := newStand(t, quick)
	s.Configure("acme/gadget", githubtest.Settings{DefaultBranch: "trunk", Fork: true, Archived: true, NoIssues: true})
	s.AddRepository("acme/gadget", true)
	s.Permit("acme/gadget", "ada", "maintain")
	r, err := s.gh.Repository(t.Context(), "Acme", "Gadget")
	want := Repository{FullName: "acme/gadget", DefaultBranch: "trunk", Private: true, Fork: true, Archived: true, Role: RoleMaintain}
	if err != nil || r != want {
		t.Errorf("%+v, error %v", r, err)
	}
	s.Fault("GET /repos/acme/gadget", githubtest.Fault{Body: `{"full_name":"acme/gadget","default_branch":"main"}`})
	if r, err := s.gh.Repository(t.Context(), "acme", "gadget"); err != nil || r.Role != "" || !r.HasIssues {
		t.Errorf("%+v, error %v", r, err)
	}
}

func TestOpenIssueFinds(t *testing.T) {
	s := newStand(t, quick)
	s.AddIssue(widget, githubtest.Issue{Title: "Forged", Author: "mallory", Body: marker + "\nx"})
	s.AddIssue(widget, githubtest.Issue{Title: "Quoted", Author: "ada", Body: "x\n" + marker})
	s.AddPull(widget, githubtest.Pull{Title: "A pull request", Author: "ada", Body: marker})
	var numbers []int
	for i := range 4 {
		is, err := s.gh.OpenIssue(t.Context(), "acme", "widget", marker, NewIssue{Title: "Later", Body: strings.Repeat("x", 70_000)})
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, is.Number)
		if i == 1 { // who closed it does not want another one
			s.ChangeIssue(widget, is.Number, func(is *githubtest.Issue) { is.State = "closed" })
		}
	}
	if n := numbers[0]; n < 34 || numbers[1] != n || numbers[2] != n || numbers[3] != n {
		t.Errorf("issues %d", numbers)
	}
}

func TestAddSubIssue(t *testing.T) {
	s := newStand(t, quick)
	for range 3 {
		if err := s.gh.AddSubIssue(t.Context(), "acme", "widget", 7, s.child.ID); err != nil {
			t.Fatal(err)
		}
	}
	other := s.AddIssue(widget, githubtest.Issue{Title: "Other parent"})
	checkError(t, s.gh.AddSubIssue(t.Context(), "acme", "widget", other, s.child.ID), Refused, "Sub issue may only have one parent")
	checkError(t, s.gh.AddSubIssue(t.Context(), "acme", "widget", 7, 4711), NotFound, "404")
}

func TestJobOver(t *testing.T) {
	s := newStand(t, quick)
	s.AddRun(widget, githubtest.Run{ID: 1, Attempt: 2, Status: "in_progress", Jobs: []githubtest.Job{
		{Runner: "one", Status: "completed"}, {Runner: "two"}, {Runner: "three", Status: "completed"}, {Name: "next", Runner: "three"}, {Name: "waits", Status: "queued"},
	}})
	s.AddRun(widget, githubtest.Run{ID: 2, Attempt: 1, Status: "queued"})
	s.AddRun(widget, githubtest.Run{ID: 3, Attempt: 1, Status: "completed", Conclusion: "cancelled"})
	for _, tt := range []struct {
		id      int64
		attempt int
		runner  string
		want    bool
	}{
		{1, 1, "two", true},
		{1, 2, "one", true},    // another job of the same run goes on
		{1, 2, "two", false},   // and this is it
		{1, 2, "three", false}, // the machine has gone on to another job: which of both is meant, nobody knows
		{1, 2, "none", false},
		{1, 2, "", false},
		{2, 1, "", false},
		{3, 1, "", true},
		{4711, 1, "", true},
	} {
		mine := func(runner string) bool { return tt.runner != "" && runner == tt.runner }
		if over, err := s.gh.JobOver(t.Context(), "acme", "widget", WorkflowRun{tt.id, int64(tt.attempt)}, mine); err != nil || over != tt.want {
			t.Errorf("attempt %d of run %d, %q: over %t, error %v", tt.attempt, tt.id, tt.runner, over, err)
		}
	}
	s.Fault("GET /repos/acme/widget/actions/runs/1", githubtest.Fault{Body: `{"id":1}`})
	_, err := s.gh.JobOver(t.Context(), "acme", "widget", WorkflowRun{1, 1}, nobody)
	checkError(t, err, Unreadable, "it is another run, or none")
	// A forge that knows runs and no jobs leaves it at what the run says.
	const jobs = "GET /repos/acme/widget/actions/runs/1/attempts/2/jobs"
	s.Fault(jobs, githubtest.Status(404, "Not Found"))
	if over, err := s.gh.JobOver(t.Context(), "acme", "widget", WorkflowRun{1, 2}, nobody); err != nil || over {
		t.Errorf("without jobs: over %t, error %v", over, err)
	}
	s.Fault(jobs, githubtest.Status(403, "Resource not accessible by integration"))
	_, err = s.gh.JobOver(t.Context(), "acme", "widget", WorkflowRun{1, 2}, nobody)
	checkError(t, err, Forbidden, "the token needs actions: read")
}

func nobody(string) bool { return false }

func TestDispatchIsNotRepeated(t *testing.T) {
	s := newStand(t, quick)
	s.Fault("POST /repos/acme/widget/actions/workflows/ci.yml/dispatches", githubtest.After(githubtest.Status(429, "Too many requests")))
	if err := s.gh.Dispatch(t.Context(), "acme", "widget", "ci.yml", "work"); err == nil {
		t.Error("nothing is said")
	}
	if n := len(s.Dispatches(widget)); n != 1 {
		t.Errorf("started %d times", n)
	}
}
