package main

import (
	"net"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
)

// patient is a hub whose project is a clone from its forge, for a person with a
// token there.
func newPatient(t *testing.T) *hub {
	t.Helper()
	t.Setenv("TMPDIR", testenv.OnDisk(t)) // doctor tries the sandbox
	h := newHub(t)
	testenv.Must(t, world.Hosted(h.dir))
	h.forge.AddToken("ghp_canary0123456789", "ada")
	h.env = append(h.env, "GITHUB_API_URL="+h.forge.URL, "GITHUB_SERVER_URL=https://github.com", "GITHUB_TOKEN=ghp_canary0123456789", "GITHUB_ACTIONS=")
	return h
}

// doctor asks the forge about the patient and holds what it says against
// patterns, one for each check.
func (h *hub) doctor(more []string, want ...string) {
	h.t.Helper()
	vars := append(slices.Clone(more), h.env...) // the first of a name counts
	src, err := git.Find(h.t.Context(), h.path("project"))
	testenv.Must(h.t, err)
	began := time.Now()
	checks, _ := doctor.Forge(h.t.Context(), environ.Env{Environ: vars, Now: time.Now}, src, "7")
	var got []string
	for _, c := range checks {
		got = append(got, string(c.Status)+" "+c.Name+": "+c.Found)
		if c.Status != doctor.Fine && c.Do == "" && c.Name != "issue" { // which says it in one sentence
			h.t.Errorf("%s: it does not say what to do", c.Found)
		}
	}
	if took := time.Since(began); took > 10*doctor.AnswerTime {
		h.t.Errorf("it took %s", took)
	}
	said := strings.Join(got, "\n")
	same := slices.EqualFunc(got, want, func(line, pattern string) bool { return regexp.MustCompile("^" + pattern + "$").MatchString(line) })
	if !same {
		h.t.Errorf("said of the forge:\n%s\nwant:\n%s", said, strings.Join(want, "\n"))
	}
	testenv.Lacks(h.t, "what was said", said, "canary")
}

const (
	reachedLine = "ok github: acme/widget at github.com"
	issueLine   = "ok issue: #7 Say hello"
)

func TestDoctorOfAPerson(t *testing.T) {
	h := newPatient(t)
	h.doctor(nil, reachedLine, "ok token: of ada", "ok rights: contents: write, pull-requests: write, issues: write", issueLine)
	h.doctor([]string{"GITHUB_TOKEN="}, reachedLine, "hint token: there is none in GITHUB_TOKEN or GH_TOKEN: .*", issueLine)
	h.doctor([]string{"GITHUB_TOKEN=", "GITHUB_ACTIONS=true"}, reachedLine, "missing token: there is none in GITHUB_TOKEN or GH_TOKEN", issueLine)
	h.doctor([]string{"GITHUB_TOKEN=wrong-canary"}, `missing github: read the repository acme/widget: .* does not take the token \(401 .*`)
	h.forge.Permit(hubRepo, "ada", "triage")
	h.doctor(nil, reachedLine, "ok token: of ada", `missing rights: the role of its account in the repository is "triage"`, issueLine)
	h.forge.Permit(hubRepo, "ada", "write")
	h.forge.Configure(hubRepo, githubtest.Settings{Rules: []string{"deletion", "required_signatures", "max_file_size"}})
	h.doctor(nil, reachedLine, "ok token: of ada", "ok rights: contents: write, pull-requests: write, issues: write",
		"hint rules: a rule holds for branches such as reprise/issue-1, required_signatures: commits need signatures, .*", "hint rules: .*, max_file_size: large files may not be pushed", issueLine)
	h.forge.Configure(hubRepo, githubtest.Settings{NoActionsPulls: true})
	h.forge.Permit(hubRepo, "ada", "admin")
	h.doctor(nil, reachedLine, "ok token: of ada", "ok rights: contents: write, .*", "hint rights: workflows may not open pull requests with the token of the job", issueLine)
	if said := h.run(exit.Done, "doctor", "--agent", "rehearsal"); !strings.Contains(said, "of ada") || strings.Contains(said, "canary") {
		t.Errorf("the program says\n%s", said)
	}
	for _, r := range h.forge.Requests() {
		if r.Effect && r.Method != "GET" {
			t.Errorf("%s %s changed something", r.Method, r.Path)
		}
	}
}

// All that the token of a job lacks is said at once.
func TestDoctorOfAJob(t *testing.T) {
	h := newPatient(t)
	job := []string{"GITHUB_ACTIONS=true", "GITHUB_TOKEN=" + hubToken}
	h.doctor(job, reachedLine, `ok token: of github-actions\[bot\]`, "ok rights: contents: write, pull-requests: write, issues: write", issueLine)
	h.forge.Allow(hubToken, hubRepo, map[string]string{"issues": "read", "contents": "read"})
	h.doctor(job, reachedLine, `ok token: of github-actions\[bot\]`,
		`missing rights: ask whether branches may be pushed in acme/widget: .*\(403 .*`,
		`missing rights: ask whether pull requests may be opened in acme/widget: .*\(403 .*`,
		`missing rights: ask whether issues may be written in acme/widget: .*\(403 .*`, issueLine)
}

func TestDoctorOfARepository(t *testing.T) {
	h := newPatient(t)
	h.publish(map[string]string{setup.File: "jobs: {run: {steps: [{uses: nobody/reprise@v1}]}}\n"})
	const gone = "missing workflow: it calls nobody/reprise@v1, and there is no such action at github.com"
	h.doctor(nil, reachedLine, "ok token: of ada", "ok rights: .*", gone, issueLine)
	h.forge.Configure(hubRepo, githubtest.Settings{Archived: true, NoIssues: true})
	h.doctor(nil, "missing github: acme/widget at github.com is archived: nothing can be written", "missing github: issues are switched off in acme/widget at github.com",
		"ok token: of ada", gone, issueLine)
	h.forge.Configure(hubRepo, githubtest.Settings{DefaultBranch: "trunk"})
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.State = "closed" })
	h.doctor(nil, "hint github: the default branch is trunk there, and main here", "ok token: of ada", "! .*|ok rights: .*", gone, "missing issue: issue 7 of acme/widget is closed: .*")
}

// What cannot be asked is a hint, and soon over.
func TestDoctorWithoutNetwork(t *testing.T) {
	h := newPatient(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	testenv.Must(t, err)
	nobody := "http://" + l.Addr().String()
	testenv.Must(t, l.Close())
	h.doctor([]string{"GITHUB_API_URL=" + nobody}, "hint github: not checked: read the repository acme/widget: .* cannot be reached: .*")
	h.forge.Fault("GET /repos/acme/widget", githubtest.LimitReached(time.Now().Add(time.Hour)))
	h.doctor(nil, "hint github: not checked: .* takes no more requests until .*")
	h.forge.Fault("GET /repos/acme/widget", githubtest.Page(200))
	h.doctor(nil, "missing github: .*answered with a web page instead of JSON.*")
	h.doctor([]string{"GITHUB_SERVER_URL=https://ghe.example.com"}, "hint github: origin is not at ghe.example.com: .*")
}

// A job whose token lacks rights says so, all at once, and asks no model.
func TestJobThatLacksRights(t *testing.T) {
	h := newHub(t)
	h.forge.Allow(hubToken, hubRepo, map[string]string{"issues": "write", "contents": "read", "actions": "read"})
	j := h.comment("ada", "/run").end(anyCode).wants("reason-code", "credentials_missing")
	for _, needs := range []string{"contents: write", "pull-requests: write"} {
		testenv.Has(t, "what is said", j.said.String(), "the token needs "+needs)
	}
	if h.origin("7") != "" {
		t.Error("it pushed a branch")
	}
}
