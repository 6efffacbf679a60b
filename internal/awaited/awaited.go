// Package awaited is the issues that runs on a forge wait for, as the forge has them.
package awaited

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/dependency"
)

// Place is where the issues and the branches of their runs are.
type Place struct {
	GitHub      *github.Client
	Owner, Name string // of the repository
	Env         environ.Env
}

// Look looks at issues that the run of another one waits for. The circle is the way over
// them back to that one, if their runs wait for it in turn. Errors are a *github.Error,
// or why ctx was cancelled.
func (p Place) Look(ctx context.Context, issue int, at []int) (found []dependency.Issue, circle []int, err error) {
	var open []int
	for _, n := range at {
		is, err := p.GitHub.Issue(ctx, p.Owner, p.Name, n)
		var e *github.Error
		if errors.As(err, &e) && slices.Contains([]github.Kind{github.NotFound, github.Gone}, e.Kind) {
			is, err = github.Issue{}, nil // a person has to say what is meant
		}
		if err != nil {
			return nil, nil, err
		}
		found = append(found, dependency.Issue{Number: n, Title: is.Title, Closed: is.State == "closed"})
		if is.State != "closed" {
			open = append(open, n)
		}
	}
	circle = dependency.Circle(issue, open, func(n int) []int {
		_, waits := dependency.Of(p.runOf(ctx, n))
		return waits
	})
	return found, circle, nil
}

// runOf is the run of an issue, as its branch on the forge has it; without a record if
// there is none that can be read.
func (p Place) runOf(ctx context.Context, issue int) metadata.Run {
	id := strconv.Itoa(issue)
	data, err := p.GitHub.File(ctx, p.Owner, p.Name, p.Env.Branch(id), workspace.RecordFile(id))
	if err != nil {
		return metadata.Run{} // nothing is known to wait
	}
	run, err := metadata.Parse(data, workspace.RecordFile(id))
	if err != nil {
		return metadata.Run{}
	}
	return run
}

// mostWaiting is how many runs are looked at for one that waits for an issue.
const mostWaiting = 30

// By gives the issue of the run that waits for another issue: the lowest number, among
// the newest open issues with the label of runs that wait; 0 if none does. Where nothing
// waits, that is one call, since anybody can close an issue of their own. Errors are a
// *github.Error, or why ctx was cancelled.
func (p Place) By(ctx context.Context, issue int, label string) (first int, err error) {
	var list []struct {
		Number int `json:"number"`
	}
	query := url.Values{"state": {"open"}, "labels": {label}, "sort": {"created"}, "direction": {"desc"}, "per_page": {strconv.Itoa(mostWaiting)}}
	if _, err := p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: "list the issues whose runs wait", Needs: "issues: read", Method: http.MethodGet, Path: "/issues?" + query.Encode(),
	}, &list); err != nil {
		return 0, err
	}
	for _, is := range list[:min(len(list), mostWaiting)] {
		if is.Number == issue || first > 0 && is.Number > first {
			continue
		}
		if _, waits := dependency.Of(p.runOf(ctx, is.Number)); slices.Contains(waits, issue) {
			first = is.Number
		}
	}
	return first, nil
}
