package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// AwaitedPlace is where the issues and the branches of their runs are.
type AwaitedPlace struct {
	GitHub      *github.Client
	Owner, Name string // of the repository
	Env         environ.Env
}

// Look looks at issues that the run of another one waits for. Errors are a *github.Error, or why ctx was cancelled.
func (p AwaitedPlace) Look(ctx context.Context, at []int) (found []phases.AwaitedIssue, err error) {
	for _, n := range at {
		is, err := p.GitHub.Issue(ctx, p.Owner, p.Name, n)
		if github.IsKind(err, github.NotFound, github.Gone) {
			is, err = github.Issue{}, nil // a person has to say what is meant
		}
		if err != nil {
			return nil, err
		}
		found = append(found, phases.AwaitedIssue{Number: n, Title: is.Title, Closed: is.State == "closed"})
	}
	return found, nil
}

// runOf is the run of an issue, as its branch on the forge has it; without a record if
// there is none that can be read.
func (p AwaitedPlace) runOf(ctx context.Context, issue int) (metadata.Run, error) {
	id := strconv.Itoa(issue)
	data, err := p.GitHub.File(ctx, p.Owner, p.Name, p.Env.Branch(id), phases.RecordFile(id))
	if errors.Is(err, fs.ErrNotExist) {
		return metadata.Run{}, nil
	}
	if err != nil {
		return metadata.Run{}, err
	}
	run, err := metadata.ParseOf(id, data, phases.RecordFile(id))
	if err != nil {
		return metadata.Run{}, nil // nothing is known to wait
	}
	return run, nil
}

// mostWaiting is how many runs are looked at for one that waits for an issue.
const mostWaiting = 30

// By gives the issues of the runs that wait for another issue, by their numbers, among the newest open issues with
// the label of runs that wait. Where nothing waits, that is one call, since anybody can close an issue of their own.
// Errors are a *github.Error, or why ctx was cancelled: then nobody knows which of them wait.
func (p AwaitedPlace) By(ctx context.Context, issue int, label string) (all []int, err error) {
	var list []struct {
		Number int `json:"number"`
	}
	query := url.Values{"state": {"open"}, "labels": {label}, "sort": {"created"}, "direction": {"desc"}, "per_page": {strconv.Itoa(mostWaiting)}}
	if _, err := p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: "list the issues whose runs wait", Needs: "issues: read", Path: "/issues?" + query.Encode(),
	}, &list); err != nil {
		return nil, err
	}
	for _, is := range list[:min(len(list), mostWaiting)] {
		if is.Number == issue {
			continue
		}
		run, err := p.runOf(ctx, is.Number)
		if err != nil {
			return nil, err
		}
		if _, waits := phases.AwaitedBy(run); slices.Contains(waits, issue) {
			all = append(all, is.Number)
		}
	}
	slices.Sort(all)
	return all, nil
}

// Wake has a job begin for each of some issues whose runs wait: one job works on one run.
// It asks for nothing but to look again, so it does no harm twice.
func (p AwaitedPlace) Wake(ctx context.Context, issues []int) error {
	var lost error
	for _, n := range issues {
		_, err := p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
			What: fmt.Sprintf("have the run of issue %d go on, for which somebody can say /run there", n), Needs: "contents: write", Method: http.MethodPost, Repeatable: true,
			Path: "/dispatches", Body: map[string]any{"event_type": Dispatched, "client_payload": map[string]string{"issue": strconv.Itoa(n), Awaited: "closed"}},
		}, nil)
		lost = errors.Join(lost, err)
	}
	return lost
}
