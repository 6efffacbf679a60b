package github

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

var checked = strings.Repeat("c", 40)

func newChecks(t *testing.T) (*githubtest.Server, *Checks) {
	t.Helper()
	s := githubtest.New(t)
	s.AddToken("hush", "ada")
	s.Permit(widget, "ada", "write")
	gh := clientOf(t, Options{APIURL: s.URL, Token: "hush", Sleep: func(context.Context, time.Duration) error { return nil }})
	return s, &Checks{Repo: gh.In("acme/widget"), Own: ".github/workflows/reprise.yml"}
}

// shown is a list of checks on lines.
func shown(t *testing.T, r *Checks) string {
	t.Helper()
	all, err := r.Of(t.Context(), checked)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range all {
		fmt.Fprintf(&b, "%s in %q: %s, %q, job %t%s\n", c.Name, c.Workflow, c.State, c.Said, c.Job, map[bool]string{true: ", waits"}[c.Waits])
	}
	return b.String()
}

// All that runs on a commit is one list; what reprise itself does there is not in it.
func TestOf(t *testing.T) {
	s, r := newChecks(t)
	made := githubtest.NewChecks(s, widget, t.Cleanup)
	if got := shown(t, r); got != "" {
		t.Errorf("on a commit without any there are\n%s", got)
	}
	for _, c := range []githubtest.Check{
		{Name: "build", Workflow: "ci.yml", Conclusion: "success"},
		{Name: "test", Workflow: "ci.yml", Conclusion: "failure"},
		{Name: "deploy", Workflow: "slow.yml"},
		{Name: "optional", Conclusion: "neutral"},
		{Name: "not of drafts", Workflow: "ready.yml", Conclusion: "skipped"},
		{Name: "by hand", Conclusion: "action_required"},
		{Name: "jenkins", Status: "error", Says: "it broke"},
		{Name: "later", Status: "pending"},
		{Name: "reprise", Status: "failure"},
		{Name: "run", Workflow: "reprise.yml"},
	} {
		made.Set(checked, c)
	}
	const want = `build in "ci.yml": passed, "success", job true
by hand in "": pending, "action_required", job false, waits
deploy in "slow.yml": pending, "", job true
jenkins in "": failed, "it broke", job false
later in "": pending, "pending", job false
not of drafts in "ready.yml": skipped, "skipped", job true
optional in "": passed, "neutral", job false
slow.yml in "slow.yml": pending, "in_progress", job false
test in "ci.yml": failed, "failure", job true
`
	if got := shown(t, r); got != want {
		t.Errorf("the checks are\n%s", got)
	}
	before := s.Counts()
	if got := shown(t, r); got != want {
		t.Errorf("asked again, the checks are\n%s", got)
	}
	if c := s.Counts(); c.Calls-before.Calls != 3 || c.Free-before.Free != 3 {
		t.Errorf("asking again took %d calls, of which %d were free", c.Calls-before.Calls, c.Free-before.Free)
	}
	made.Set(checked, githubtest.Check{Name: "test", Workflow: "ci.yml", Conclusion: "timed_out"})
	if got := shown(t, r); !strings.Contains(got, `test in "ci.yml": failed, "timed_out"`) {
		t.Errorf("after a change the checks are\n%s", got)
	}
}

// A forge that does not have a list has nothing there; one that does not show it
// says what it takes.
func TestOfWhereThereIsNothing(t *testing.T) {
	s, r := newChecks(t)
	if got := shown(t, r); got != "" {
		t.Errorf("there are\n%s", got)
	}
	githubtest.NewChecks(s, widget, t.Cleanup)
	s.Fault("GET /repos/acme/widget/commits/"+checked+"/check-runs", githubtest.Status(403, "Resource not accessible by integration"))
	if _, err := r.Of(t.Context(), checked); err == nil || !strings.Contains(err.Error(), "the token needs checks: read") {
		t.Errorf("it says %v", err)
	}
}

// Of more checks than are read nobody can say that all of them pass.
func TestOfWhereThereAreTooMany(t *testing.T) {
	s, r := newChecks(t)
	made := githubtest.NewChecks(s, widget, t.Cleanup)
	for n := range mostCheckPages * 100 {
		made.Set(checked, githubtest.Check{Name: fmt.Sprint("check ", n), Conclusion: "success"})
	}
	if all, err := r.Of(t.Context(), checked); err != nil || len(all) != mostCheckPages*100 {
		t.Fatalf("of %d checks %d are read, %v", mostCheckPages*100, len(all), err)
	}
	made.Set(checked, githubtest.Check{Name: "red", Conclusion: "failure"})
	if all, err := r.Of(t.Context(), checked); err == nil || !strings.Contains(err.Error(), "more than 1000, and whether all of them pass is not known") {
		t.Errorf("of one more %d are read, %v", len(all), err)
	}
}

// Logs are on another host, which does not get the token.
func TestEvidence(t *testing.T) {
	s, r := newChecks(t)
	made := githubtest.NewChecks(s, widget, t.Cleanup)
	made.Set(checked, githubtest.Check{
		Name: "test", Workflow: "ci.yml", Conclusion: "failure", Log: strings.Repeat("compiling\n", 20_000) + "--- FAIL: TestSum\n",
		Notes: []githubtest.Note{{Path: "sum.go", Line: 3, Level: "failure", Message: "2 and 2 is 5"}},
	})
	all, err := r.Of(t.Context(), checked)
	if err != nil || len(all) != 1 {
		t.Fatal(all, err)
	}
	log, err := r.Log(t.Context(), all[0], 30)
	if err != nil || len(log) != 30 || !strings.HasSuffix(string(log), "--- FAIL: TestSum\n") {
		t.Errorf("the end of the log is %q, %v", log, err)
	}
	notes, err := r.Annotations(t.Context(), all[0])
	if err != nil || len(notes) != 1 || notes[0] != (Annotation{Path: "sum.go", Line: 3, Level: "failure", Message: "2 and 2 is 5"}) {
		t.Errorf("the annotations are %+v, %v", notes, err)
	}
	if len(made.Tokens) != 0 {
		t.Error("the host of the logs got the token")
	}
	all[0].Run++
	if _, err := r.Log(t.Context(), all[0], 30); err == nil || strings.Contains(err.Error(), "hush") {
		t.Errorf("of a log that is not there it says %v", err)
	}
}
