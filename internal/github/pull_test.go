package github

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

func TestOpenPullFinds(t *testing.T) {
	s := newStand(t)
	s.AddPull(widget, githubtest.Pull{Number: 40, Title: "Closed", Head: "work", State: "closed"})
	s.AddPull(widget, githubtest.Pull{Number: 41, Title: "Other base", Head: "work", Base: "release"})
	s.AddPull(widget, githubtest.Pull{Number: 42, Title: "Of a fork", Head: "work", HeadRepository: "mallory/widget"})
	want := Pull{Title: "T", Body: "B", Head: "work", Commit: strings.Repeat("b", 40), Base: "main", Draft: true, State: "open", HeadRepository: widget, Number: 43, URL: "https://github.com/acme/widget/pull/43"}
	for range 3 {
		p, err := s.gh.In("acme/widget").OpenPull(t.Context(), Pull{Title: "T", Body: "B", Head: "work", Base: "main", Draft: true})
		testenv.Must(t, err)
		want.NodeID = s.Pulls(widget)[4].NodeID()
		if diff := cmp.Diff(want, p); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		again, err := s.gh.In("acme/widget").Pull(t.Context(), p.Number)
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
	s := newStand(t)
	s.Fault("GET /repos/acme/widget/pulls", githubtest.Fault{Body: "[]"})
	s.AddPull(widget, githubtest.Pull{Number: 43, Title: "Faster", Head: "work"})
	p, err := s.gh.In("acme/widget").OpenPull(t.Context(), Pull{Title: "T", Head: "work", Base: "main"})
	if err != nil || p.Number != 43 {
		t.Errorf("%+v, error %v", p, err)
	}
}

func TestOpenPullWithoutDrafts(t *testing.T) {
	s := newStand(t)
	s.Configure(widget, githubtest.Settings{NoDrafts: true})
	p, err := s.gh.In("acme/widget").OpenPull(t.Context(), Pull{Title: "T", Head: "work", Base: "main", Draft: true})
	if err != nil || p.Draft || p.Number == 0 {
		t.Errorf("%+v, error %v", p, err)
	}
}

func TestUpdatePull(t *testing.T) {
	s := newStand(t)
	testenv.Must(t, s.gh.In("acme/widget").UpdatePull(t.Context(), 20, "B"))
	if p := s.Pulls(widget)[0]; p.Title != "Draft" || p.Body != "B" {
		t.Errorf("it is %q: %q", p.Title, p.Body)
	}
}

func TestReadyPull(t *testing.T) {
	s := newStand(t)
	for range 2 {
		testenv.Must(t, s.gh.In("acme/widget").ReadyPull(t.Context(), s.draft))
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
		s := newStand(t)
		s.AddInstallation("ghs_job", "github-actions[bot]")
		tt.set(s)
		gh, _ := clientWithin(t, s.Server, "ghs_job", quick)
		err := gh.In("acme/widget").MayOpenPull(t.Context(), "main")
		if tt.kind != "" {
			checkError(t, err, tt.kind, "pull")
		} else if err != nil {
			t.Error(err)
		}
		if n := len(s.Pulls(widget)); n != 1 {
			t.Errorf("%s: %d pull requests", tt.name, n)
		}
	}
	s := newStand(t)
	s.Fault("POST /repos/acme/widget/pulls", githubtest.Fault{Status: 201, Body: `{"number":5}`})
	checkError(t, s.gh.In("acme/widget").MayOpenPull(t.Context(), "main"), unreadable, "it made what cannot be; look for it, and remove it")
}

func TestRole(t *testing.T) {
	s := newStand(t)
	for login, role := range map[string]string{"amy": "admin", "max": "maintain", "will": "write", "tim": "triage", "rob": "read", "nan": "none"} {
		s.Permit(widget, login, role)
	}
	s.PermitAs(widget, "rita", "release-manager", "write")
	s.PermitAs(widget, "mona", "release-lead", "maintain")
	s.PermitAs(widget, "eve", "admin", "read") // people can name roles
	s.Permit(widget, "sue", "admin")
	s.Suspend("sue")
	s.Permit(widget, "helper[bot]", "write")
	for login, want := range map[string]Role{
		"amy": RoleAdmin, "max": RoleMaintain, "will": RoleWrite, "tim": RoleTriage, "rob": roleRead, "nan": roleNone, "acme": RoleAdmin,
		"rita": RoleWrite, "mona": RoleMaintain, "eve": roleRead, "sue": roleNone, "somebody": roleRead, "helper[bot]": RoleWrite,
	} {
		if r, err := s.gh.In("acme/widget").Role(t.Context(), login); err != nil || r != want {
			t.Errorf("%s: %s, error %v, want %s", login, r, err, want)
		}
	}
	for _, f := range []githubtest.Fault{githubtest.Status(403, "no"), githubtest.Status(401, "no"), {Body: "[]"}} {
		s.Fault("GET /repos/acme/widget/collaborators/amy/permission", f)
		if r, err := s.gh.In("acme/widget").Role(t.Context(), "amy"); err == nil || r != roleNone {
			t.Errorf("%s, error %v", r, err)
		}
	}
}

// That somebody has no role is believed when it was said twice, and no other answer of that
// kind is asked for again.
func TestRoleIsAskedForTwice(t *testing.T) {
	const route = "GET /repos/acme/widget/collaborators/amy/permission"
	none := githubtest.Status(404, "Not Found")
	for _, tt := range []struct {
		name   string
		faults []githubtest.Fault
		want   Role
		calls  int
	}{
		{"at once", nil, RoleWrite, 1},
		{"for a moment", []githubtest.Fault{none}, RoleWrite, 2},
		{"for good", []githubtest.Fault{none, none, none}, roleNone, 2},
		{"after no answer", []githubtest.Fault{githubtest.Status(502, "Server Error"), none, none}, roleNone, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStand(t)
			s.Permit(widget, "amy", "write")
			s.Fault(route, tt.faults...)
			before := len(s.Requests())
			r, err := s.gh.In("acme/widget").Role(t.Context(), "amy")
			if n := len(s.Requests()) - before; err != nil || r != tt.want || n != tt.calls {
				t.Errorf("%s after %d calls, error %v; want %s after %d", r, n, err, tt.want, tt.calls)
			}
		})
	}
	s := newStand(t)
	s.Fault("GET /repos/acme/widget/pulls/20", none)
	if _, err := s.gh.In("acme/widget").Pull(t.Context(), 20); !IsKind(err, NotFound) || len(s.Requests()) != 1 {
		t.Errorf("error %v after %d calls", err, len(s.Requests()))
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
		gh := clientOf(t, Options{Token: canary, APIURL: s.URL + base})
		if _, err := gh.In("acme/widget").Role(t.Context(), "ada"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q in it", base, err, want)
		}
	}
}

func TestRepository(t *testing.T) {
	s := newStand(t)
	s.Configure("acme/gadget", githubtest.Settings{DefaultBranch: "trunk", Fork: true, Archived: true, NoIssues: true})
	s.AddRepository("acme/gadget", true)
	s.Permit("acme/gadget", "ada", "maintain")
	r, err := s.gh.In("Acme/Gadget").Repository(t.Context())
	want := Repository{FullName: "acme/gadget", DefaultBranch: "trunk", Private: true, Archived: true, Role: RoleMaintain}
	if err != nil || r != want {
		t.Errorf("%+v, error %v", r, err)
	}
	s.Fault("GET /repos/acme/gadget", githubtest.Fault{Body: `{"full_name":"acme/gadget","default_branch":"main"}`})
	if r, err := s.gh.In("acme/gadget").Repository(t.Context()); err != nil || r.Role != "" || !r.HasIssues {
		t.Errorf("%+v, error %v", r, err)
	}
}

func TestOpenIssueFinds(t *testing.T) {
	s := newStand(t)
	s.AddIssue(widget, githubtest.Issue{Title: "Forged", Author: "mallory", Body: marker + "\nx"})
	s.AddIssue(widget, githubtest.Issue{Title: "Quoted", Author: "ada", Body: "x\n" + marker})
	s.AddPull(widget, githubtest.Pull{Title: "A pull request", Author: "ada", Body: marker})
	var numbers []int
	for i := range 4 {
		is, err := s.gh.In("acme/widget").OpenIssue(t.Context(), marker, NewIssue{Title: "Later", Body: strings.Repeat("x", 70_000)})
		testenv.Must(t, err)
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
	s := newStand(t)
	for range 3 {
		testenv.Must(t, s.gh.In("acme/widget").AddSubIssue(t.Context(), 7, s.child.ID))
	}
	other := s.AddIssue(widget, githubtest.Issue{Title: "Other parent"})
	checkError(t, s.gh.In("acme/widget").AddSubIssue(t.Context(), other, s.child.ID), Refused, "Sub issue may only have one parent")
	checkError(t, s.gh.In("acme/widget").AddSubIssue(t.Context(), 7, 4711), NotFound, "has no sub-issues")
}

func TestOpenIssues(t *testing.T) {
	s := newStand(t)
	repo := s.gh.In("acme/widget")
	for n := range mostListed + 3 {
		s.AddIssue(widget, githubtest.Issue{Number: 100 + n, Title: "Many", Labels: []string{"many"}})
	}
	s.AddIssue(widget, githubtest.Issue{Number: 5, Title: "Ready", Labels: []string{"ready", "P1"}, Blocked: 2})
	s.AddIssue(widget, githubtest.Issue{Number: 6, Title: "Closed", Labels: []string{"ready"}, State: "closed"})
	s.AddIssue(widget, githubtest.Issue{Number: 8, Title: "A change", Labels: []string{"ready"}, Pull: true})
	s.AddRepository("acme/other", false)
	s.AddIssue("acme/other", githubtest.Issue{Number: 9, Title: "Ready elsewhere", Labels: []string{"ready"}})
	for _, tt := range []struct {
		labels []string
		search string
		want   int
		more   bool
	}{
		{labels: []string{"ready"}, want: 1},
		{labels: []string{"ready", "P1"}, want: 1},
		{labels: []string{"ready", "none"}},
		{search: "label:ready", want: 1},
		{search: "label:ready repo:acme/other"},
		{search: "label:none"},
		{labels: []string{"many"}, want: mostListed, more: true},
		{search: "label:many", want: mostListed, more: true},
	} {
		all, more, err := repo.OpenIssues(t.Context(), tt.labels, tt.search)
		if err != nil || len(all) != tt.want || more != tt.more {
			t.Errorf("%q %q: %d issues, more %v, %v", tt.labels, tt.search, len(all), more, err)
		}
		if tt.want == 1 && (all[0].Number != 5 || all[0].BlockedBy != 2) {
			t.Errorf("%q %q: %+v", tt.labels, tt.search, all[0])
		}
	}
	if _, _, err := s.gh.In("acme/none").OpenIssues(t.Context(), []string{"ready"}, ""); !IsKind(err, NotFound) {
		t.Errorf("of no repository: %v", err)
	}
}
