package github

import (
	"strings"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

func TestJobOver(t *testing.T) {
	s, r := newChecks(t)
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
		if over, err := r.JobOver(t.Context(), Attempt{tt.id, int64(tt.attempt)}, mine); err != nil || over != tt.want {
			t.Errorf("attempt %d of run %d, %q: over %t, error %v", tt.attempt, tt.id, tt.runner, over, err)
		}
	}
	s.Fault("GET /repos/acme/widget/actions/runs/1", githubtest.Fault{Body: `{"id":1}`})
	_, err := r.JobOver(t.Context(), Attempt{1, 1}, nobody)
	if err == nil || !strings.Contains(err.Error(), "another run, or none") {
		t.Errorf("of another run it says %v", err)
	}
	// A forge that knows runs and no jobs leaves it at what the run says.
	const jobs = "GET /repos/acme/widget/actions/runs/1/attempts/2/jobs"
	s.Fault(jobs, githubtest.Status(404, "Not Found"))
	if over, err := r.JobOver(t.Context(), Attempt{1, 2}, nobody); err != nil || over {
		t.Errorf("without jobs: over %t, error %v", over, err)
	}
	s.Fault(jobs, githubtest.Status(403, "Resource not accessible by integration"))
	_, err = r.JobOver(t.Context(), Attempt{1, 2}, nobody)
	if err == nil || !strings.Contains(err.Error(), "the token needs actions: read") {
		t.Errorf("without the right it says %v", err)
	}
}

func nobody(string) bool { return false }

func TestDispatch(t *testing.T) {
	s, r := newChecks(t)
	s.SetBranch(widget, "work", checked)
	for _, wrong := range [][2]string{{"../ci.yml", "work"}, {"ci.yml", ""}} {
		if err := r.Dispatch(t.Context(), wrong[0], wrong[1]); err == nil || len(s.Requests()) != 0 {
			t.Errorf("%q is started: %v", wrong, err)
		}
	}
	// What is not clear is not asked for again.
	s.Fault("POST /repos/acme/widget/actions/workflows/ci.yml/dispatches", githubtest.After(githubtest.Status(429, "Too many requests")))
	if err := r.Dispatch(t.Context(), "ci.yml", "work"); err == nil {
		t.Error("nothing is said")
	}
	if n := len(s.Dispatches(widget)); n != 1 {
		t.Errorf("started %d times", n)
	}
}
