package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/phases"
)

// severalRuns says that a command does not name a run, and that there are
// several.
type severalRuns struct {
	src *git.Source
	ids []string
}

// Error names the runs.
func (s severalRuns) Error() string {
	return "which issue? Give --issue ID; there are runs of: " + strings.Join(s.ids, ", ")
}

// atHand gives the id of the run that is meant where none is named: the one
// whose branch is checked out, else the only one there is.
func atHand(ctx context.Context, env environment, src *git.Source) (string, error) {
	ids, err := idsUnder(ctx, src, env.prefix())
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		if env.branch(id) == src.Branch {
			return id, nil
		}
	}
	switch len(ids) {
	case 0:
		return "", usagef("there is no run in this repository; start one with: reprise run --issue-file FILE, or name one that only origin has with --issue ID")
	case 1:
		return ids[0], nil
	}
	return "", usageError{severalRuns{src, ids}}
}

// list prints where each run is. One that cannot be read keeps none of the
// others from being listed.
func (s severalRuns) list(ctx context.Context, env environment, asJSON bool) error {
	var broken []error
	results, t := []phases.Summary{}, table{}
	t.add("issue", "status", "phase", "title")
	for _, id := range s.ids {
		r, err := lookAt(ctx, env, s.src, id)
		if errors.As(err, new(*noRunError)) {
			continue // a branch of another kind
		}
		if err != nil {
			broken = append(broken, fmt.Errorf("issue %s: %w", id, err))
			continue
		}
		results = append(results, resultOf(r.plan, r.run))
		t.add(id, words(r.run.Status), flat(doing(r.plan, r.run).Phase), flat(r.run.IssueTitle))
	}
	if asJSON {
		broken = append(broken, printJSON(env.stdout, map[string]any{"runs": results}))
	} else {
		out := newReport(env.stdout, showOptions(env))
		out.table(&t, "")
		out.line("")
		out.line("One of them is shown with: reprise status --issue ID")
	}
	return errors.Join(broken...)
}
