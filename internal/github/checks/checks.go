// Package checks is what runs on a commit at GitHub: check runs, commit statuses
// and workflow runs, with what they say of their failures. It asks cheaply: what
// has not changed is not sent again.
package checks

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/github"
)

// Repository is one repository. One goroutine uses it.
type Repository struct {
	GitHub      *github.Client
	Owner, Name string
	// Own is the path of the workflow that reprise itself runs in; what that does is
	// no check of the work. Empty: it is none.
	Own string

	pages map[string]page // by path
}

// page is an answer that may still hold.
type page struct {
	tag   string
	value any
	more  bool
}

// State is how far a check has come.
type State string

// The states of a check.
const (
	Pending State = "pending"
	Passed  State = "passed"
	Skipped State = "skipped" // it has ended without having looked at anything
	Failed  State = "failed"
)

// Check is one thing that runs on a commit. Its words are those of strangers.
type Check struct {
	Name     string // of a job, of a status, or of a workflow that has no job that says more
	Workflow string // name of the file of the workflow it is in, such as ci.yml; "" if it is in none
	Title    string // what that workflow calls itself
	State    State
	Waits    bool   // for a person at GitHub, to let it begin or go on
	Said     string // GitHub's word for how it ended, such as timed_out, or what a status says
	URL      string // for people
	Run      int64  // number of the check run; 0: it is none
	Job      bool   // that is the number of a job, too, which has a log
}

// mostPages is how many pages of a hundred are read of each list.
const mostPages = 10

// Of gives all that runs on a commit, by name. A forge without one of the lists has
// nothing there. Errors are a *github.Error, why ctx was cancelled, or that a list is
// longer than what is read: the rest of it might be red.
func (r *Repository) Of(ctx context.Context, commit string) ([]Check, error) {
	commit = url.PathEscape(commit)
	runs, err := list[runList](ctx, r, "read what workflows run", "actions: read", "/actions/runs?head_sha="+commit+"&per_page=100")
	if err != nil {
		return nil, err
	}
	found, err := list[checkList](ctx, r, "read the checks", "checks: read", "/commits/"+commit+"/check-runs?per_page=100")
	if err != nil {
		return nil, err
	}
	statuses, err := list[statusList](ctx, r, "read the statuses", "statuses: read", "/commits/"+commit+"/status?per_page=100")
	if err != nil {
		return nil, err
	}
	return r.merge(runs, found, statuses), nil
}

// merge makes one list. A workflow is only named where it has not ended, or where
// none of its jobs says why it failed.
func (r *Repository) merge(runs []runList, found []checkList, statuses []statusList) []Check {
	var out []Check
	suites := map[int64]wireRun{}
	for _, l := range runs {
		for _, w := range l.Runs {
			suites[w.Suite] = newer(suites[w.Suite], w)
		}
	}
	failed := map[int64]bool{}
	for _, l := range found {
		for _, w := range l.Checks {
			in := suites[w.Suite.ID]
			if r.Own != "" && in.file() == r.Own {
				continue
			}
			c := Check{Name: w.Name, Workflow: base(in.file()), Title: in.Name, State: stateOf(w.Status, w.Conclusion), Waits: waits(w.Status, w.Conclusion), Said: w.Conclusion, URL: cmp.Or(w.URL, w.Details), Run: w.ID, Job: w.App.Slug == "github-actions"}
			failed[w.Suite.ID] = failed[w.Suite.ID] || c.State == Failed
			out = append(out, c)
		}
	}
	for id, w := range suites {
		state := stateOf(w.Status, w.Conclusion)
		if state == Passed || state == Skipped || state == Failed && failed[id] || r.Own != "" && w.file() == r.Own {
			continue
		}
		out = append(out, Check{Name: w.Name, Workflow: base(w.file()), Title: w.Name, State: state, Waits: waits(w.Status, w.Conclusion), Said: cmp.Or(w.Conclusion, w.Status), URL: w.URL})
	}
	for _, l := range statuses {
		for _, w := range l.Statuses {
			if w.Context != OwnStatus {
				out = append(out, Check{Name: w.Context, State: stateOfStatus(w.State), Said: cmp.Or(w.Description, w.State), URL: w.Target})
			}
		}
	}
	slices.SortFunc(out, func(a, b Check) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Run, b.Run)) })
	return out
}

// OwnStatus is the context of the status that reprise itself gives a commit.
const OwnStatus = "reprise"

// stateOf reads how far a check run or a workflow run has come. One that waits for
// a person has not ended.
func stateOf(status, conclusion string) State {
	switch {
	case status != "completed" || conclusion == "action_required":
		return Pending
	case conclusion == "skipped":
		return Skipped
	case conclusion == "success" || conclusion == "neutral":
		return Passed
	}
	return Failed
}

// waits says whether a check run or a workflow run is held up until a person approves it.
func waits(status, conclusion string) bool {
	return status == "waiting" || conclusion == "action_required"
}

func stateOfStatus(state string) State {
	switch state {
	case "success":
		return Passed
	case "pending":
		return Pending
	}
	return Failed
}

// base is the name of a file; "" of none.
func base(file string) string {
	if file == "" {
		return ""
	}
	return path.Base(file)
}

type runList struct {
	Runs []wireRun `json:"workflow_runs"`
}

type wireRun struct {
	ID         int64  `json:"id"`
	Name       string `json:"name"`
	Path       string `json:"path"`
	Suite      int64  `json:"check_suite_id"`
	Status     string `json:"status"`
	Conclusion string `json:"conclusion"`
	URL        string `json:"html_url"`
}

// file is the path of the workflow's file, without the branch that may follow it.
func (w wireRun) file() string {
	file, _, _ := strings.Cut(w.Path, "@")
	return file
}

func newer(a, b wireRun) wireRun {
	if a.ID > b.ID {
		return a
	}
	return b
}

type checkList struct {
	Checks []struct {
		ID         int64  `json:"id"`
		Name       string `json:"name"`
		Status     string `json:"status"`
		Conclusion string `json:"conclusion"`
		URL        string `json:"html_url"`
		Details    string `json:"details_url"`
		App        struct {
			Slug string `json:"slug"`
		} `json:"app"`
		Suite struct {
			ID int64 `json:"id"`
		} `json:"check_suite"`
	} `json:"check_runs"`
}

type statusList struct {
	Statuses []struct {
		Context     string `json:"context"`
		State       string `json:"state"`
		Description string `json:"description"`
		Target      string `json:"target_url"`
	} `json:"statuses"`
}

// list reads all pages of a list. Where the forge does not have it, it is empty. Of one with
// too many pages it gives none.
func list[T any](ctx context.Context, r *Repository, what, needs, from string) ([]T, error) {
	var out []T
	for n := 1; n <= mostPages; n++ {
		at := from
		if n > 1 {
			at += fmt.Sprintf("&page=%d", n)
		}
		was := r.pages[at]
		var value T
		answer, err := r.GitHub.Ask(ctx, r.Owner, r.Name, github.Request{
			What: what + " of a commit of " + r.Owner + "/" + r.Name, Needs: needs, Method: http.MethodGet, Path: at, Known: was.tag,
		}, &value)
		switch {
		case gone(err):
			return out, nil
		case err != nil:
			return nil, err
		case !answer.Same:
			if r.pages == nil {
				r.pages = map[string]page{}
			}
			was = page{answer.Header.Get("ETag"), value, answer.More}
			r.pages[at] = was
		}
		out = append(out, was.value.(T))
		if !was.more {
			return out, nil
		}
	}
	return nil, fmt.Errorf("%s of a commit of %s/%s: there are more than %d, and whether all of them pass is not known", what, r.Owner, r.Name, mostPages*100)
}
