package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-github/v60/github"
)

// Checks is what runs on the commits of one repository: check runs, commit statuses and workflow runs. It asks
// cheaply: what has not changed is not sent again. One goroutine uses it.
type Checks struct {
	Repo
	// Own is the path of the workflow that reprise itself runs in; what that does is
	// no check of the work. Empty: it is none.
	Own string
}

// checkState is how far a check has come.
type checkState string

// The states of a check.
const (
	Pending checkState = "pending"
	Passed  checkState = "passed"
	Skipped checkState = "skipped" // it has ended without having looked at anything
	Failed  checkState = "failed"
	Stopped checkState = "stopped" // somebody or something has cancelled it: it says nothing of the work
)

// Check is one thing that runs on a commit. Its words are those of strangers.
type Check struct {
	Name     string // of a job, of a status, or of a workflow that has no job that says more
	Workflow string // name of the file of the workflow it is in, such as ci.yml; "" if it is in none
	Title    string // what that workflow calls itself
	State    checkState
	Waits    bool   // for a person at GitHub, to let it begin or go on
	Said     string // GitHub's word for how it ended, such as timed_out, or what a status says
	Run      int64  // number of the check run; 0: it is none
	Job      bool   // that is the number of a job, too, which has a log
}

// OwnStatus is the context of the status that reprise itself gives a commit.
const OwnStatus = "reprise"

// mostCheckPages is how many pages of a hundred are read of each list.
const mostCheckPages = 10

// workflowRuns are runs of workflows with their files, which the library does not know.
type workflowRuns struct {
	Runs []workflowRun `json:"workflow_runs"`
}

type workflowRun struct {
	github.WorkflowRun
	Path string `json:"path"`
}

// file is the path of the workflow's file, without the branch that may follow it.
func (w workflowRun) file() string {
	file, _, _ := strings.Cut(w.Path, "@")
	return file
}

// Of gives all that runs on a commit, by name. A forge without one of the lists has nothing there. Errors are an
// *Error, why ctx was cancelled, or that a list is longer than what is read: the rest of it might be red.
func (r *Checks) Of(ctx context.Context, commit string) ([]Check, error) {
	commit = url.PathEscape(commit)
	runs, err := listed[workflowRuns](ctx, r, "read what workflows run", "actions: read", "/actions/runs?head_sha="+commit+"&per_page=100")
	if err != nil {
		return nil, err
	}
	found, err := listed[github.ListCheckRunsResults](ctx, r, "read the checks", "checks: read", "/commits/"+commit+"/check-runs?per_page=100")
	if err != nil {
		return nil, err
	}
	statuses, err := listed[github.CombinedStatus](ctx, r, "read the statuses", "statuses: read", "/commits/"+commit+"/status?per_page=100")
	if err != nil {
		return nil, err
	}
	suites := map[int64]workflowRun{} // of each the newest run
	for _, l := range runs {
		for _, w := range l.Runs {
			if newest := suites[w.GetCheckSuiteID()]; w.GetID() > newest.GetID() {
				suites[w.GetCheckSuiteID()] = w
			}
		}
	}
	out := r.merge(suites, found)
	for _, l := range statuses {
		for _, w := range l.Statuses {
			if w.GetContext() != OwnStatus {
				state := map[string]checkState{"success": Passed, "pending": Pending}[w.GetState()]
				out = append(out, Check{Name: w.GetContext(), State: cmp.Or(state, Failed), Said: cmp.Or(w.GetDescription(), w.GetState())})
			}
		}
	}
	slices.SortFunc(out, func(a, b Check) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Run, b.Run)) })
	return out, nil
}

// merge makes one list. A workflow is only named where it has not ended, or where
// none of its jobs says why it failed.
func (r *Checks) merge(suites map[int64]workflowRun, found []github.ListCheckRunsResults) (out []Check) {
	told := map[int64]bool{}
	for _, l := range found {
		for _, w := range l.CheckRuns {
			suite := w.GetCheckSuite().GetID()
			in := suites[suite]
			if r.Own != "" && in.file() == r.Own {
				continue
			}
			c := checkOf(in, w.GetStatus(), w.GetConclusion())
			c.Name, c.Title, c.Said = w.GetName(), in.GetName(), w.GetConclusion()
			c.Run, c.Job = w.GetID(), w.GetApp().GetSlug() == "github-actions"
			told[suite] = told[suite] || c.State == Failed || c.State == Stopped
			out = append(out, c)
		}
	}
	for id, w := range suites {
		c := checkOf(w, w.GetStatus(), w.GetConclusion())
		if c.State == Passed || c.State == Skipped || c.State != Pending && told[id] || r.Own != "" && w.file() == r.Own {
			continue
		}
		c.Name, c.Title, c.Said = w.GetName(), w.GetName(), cmp.Or(w.GetConclusion(), w.GetStatus())
		out = append(out, c)
	}
	return out
}

// checkOf is a check in a workflow, or in none. One that waits for a person has not ended.
func checkOf(in workflowRun, status, conclusion string) Check {
	ended := map[string]checkState{"success": Passed, "neutral": Passed, "skipped": Skipped, "cancelled": Stopped, "stale": Stopped, "action_required": Pending}
	c := Check{State: cmp.Or(ended[conclusion], Failed), Waits: status == "waiting" || conclusion == "action_required"}
	if status != "completed" {
		c.State = Pending
	}
	if file := in.file(); file != "" {
		c.Workflow = path.Base(file)
	}
	return c
}

// listed reads all pages of a list. Where the forge does not have it, it is empty. Of one with
// too many pages it gives none.
func listed[T any](ctx context.Context, r *Checks, what, needs, from string) (out []T, err error) {
	what += " of a commit of " + r.Name
	for n := 1; n <= mostCheckPages; n++ {
		value, got, err := do[T](ctx, r.api, Request{What: what, Needs: needs, Cached: true, Path: fmt.Sprintf("%s%s&page=%d", r.path(), from, n)})
		switch {
		case IsKind(err, NotFound, Gone):
			return out, nil
		case err != nil:
			return nil, err
		}
		if out = append(out, value); !got.More {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s: there are more than %d, and whether all of them pass is not known", what, mostCheckPages*100)
}

// Annotation is what a check run says about a line.
type Annotation struct {
	Path    string
	Line    int
	Level   string // notice, warning or failure
	Title   string
	Message string
}

// Annotations reads what a check run says about lines: the first hundred.
func (r *Checks) Annotations(ctx context.Context, c Check) (out []Annotation, err error) {
	list, _, err := do[[]*github.CheckRunAnnotation](ctx, r.api, Request{
		What: fmt.Sprintf("read what check run %d says about lines", c.Run), Needs: "checks: read",
		Path: fmt.Sprintf("%s/check-runs/%d/annotations?per_page=100", r.path(), c.Run),
	})
	for _, w := range list {
		out = append(out, Annotation{w.GetPath(), w.GetStartLine(), w.GetAnnotationLevel(), w.GetTitle(), w.GetMessage()})
	}
	return out, err
}

// Log reads the end of a job's log: at most so many bytes.
func (r *Checks) Log(ctx context.Context, c Check, most int) ([]byte, error) {
	return r.tail(ctx, Request{
		What: fmt.Sprintf("read the log of job %d of %s", c.Run, r.Name), Needs: "actions: read",
		Path: fmt.Sprintf("/actions/jobs/%d/logs", c.Run),
	}, most)
}

var workflowFile = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// Dispatch starts a workflow on a branch or tag, by the name of its file such as ci.yml. It is not asked for twice:
// where the answer is lost, the error says so, and the workflow may have started.
func (r *Checks) Dispatch(ctx context.Context, workflow, ref string) error {
	if !workflowFile.MatchString(workflow) || ref == "" {
		return fmt.Errorf("start workflow %q on %q: it takes the name of a file in .github/workflows, and a branch", workflow, ref)
	}
	_, err := r.Ask(ctx, Request{
		What: fmt.Sprintf("start workflow %s of %s on %s", workflow, r.Name, ref), Needs: "actions: write", Method: http.MethodPost,
		Path: "/actions/workflows/" + workflow + "/dispatches", Body: map[string]any{"ref": ref},
	}, nil)
	return err
}

// Attempt names an attempt of a run of a workflow. Attempts count from 1.
type Attempt struct{ Run, N int64 }

// JobOver reports whether a job of an attempt of a workflow run has ended, however it did: the run is completed,
// there is a newer attempt, the run is not there any more, or the job itself is completed. The job is the one whose
// machine has a name that mine accepts; if several have, all of them must have ended.
func (r *Checks) JobOver(ctx context.Context, of Attempt, mine func(runner string) bool) (over bool, err error) {
	ask := Request{
		What: fmt.Sprintf("read workflow run %d of %s", of.Run, r.Name), Needs: "actions: read",
		Path: fmt.Sprintf("%s/actions/runs/%d", r.path(), of.Run),
	}
	run, _, err := do[github.WorkflowRun](ctx, r.api, ask)
	switch {
	case IsKind(err, NotFound, Gone):
		return true, nil
	case err != nil:
		return false, err
	case run.GetID() != of.Run || run.GetStatus() == "":
		return false, fmt.Errorf("%s: what came is another run, or none", ask.What)
	case run.GetStatus() == "completed" || int64(run.GetRunAttempt()) > of.N:
		return true, nil
	}
	jobs := fmt.Sprintf("%s/attempts/%d/jobs?per_page=100&page=", ask.Path, of.N)
	for n := 1; n <= mostCheckPages; n++ {
		ask.Path = fmt.Sprint(jobs, n)
		list, answer, err := do[github.Jobs](ctx, r.api, ask)
		if IsKind(err, NotFound, Gone) {
			return false, nil // a forge that does not tell of jobs
		}
		if err != nil {
			return false, err
		}
		for _, j := range list.Jobs {
			if !mine(j.GetRunnerName()) {
				continue
			}
			if j.GetStatus() != "completed" {
				return false, nil
			}
			over = true
		}
		if len(list.Jobs) == 0 || !answer.More {
			break
		}
	}
	return over, nil
}
