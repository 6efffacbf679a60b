package phases

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// consequences applies what follows from a step besides the step itself: what
// the report asks for, and the rules of the pipeline. Before is the record
// that the step began with. Nothing in here may fail for a reason that the
// next try would meet again: the step is paid for and not yet committed.
func (e *Engine) consequences(ctx context.Context, before, next metadata.Run, d Decision, x *effects) (metadata.Run, error) {
	was, rec := before.Phase(d.Phase), next.Phase(d.Phase)
	if rec == nil || d.Final() || next.Status != metadata.Running {
		return next, nil
	}
	ctx = context.WithoutCancel(ctx) // rules are quick, and being told to stop must not lose the step
	p, after := e.Plan.Phase(d.Phase), next
	if d.Do != DoReview && mayStandUnreviewed(p, rec) {
		after, _ = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip != "" })
	}
	var back *Rewound
	switch now := after.Phase(d.Phase); {
	case now.Status == was.Status:
	case now.Status == metadata.PhaseCompleted:
		if after, back = asks(e.Plan, after, p, e.Now()); back == nil {
			after, back = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Skip == "" })
		}
	case now.Status == metadata.PhaseFailed:
		after, back = e.fire(ctx, after, d.Phase, func(t pipelines.Then) bool { return t.Rollback != nil })
	}
	// Both changes are one for the record; each has to follow on the other.
	then := after.Clone()
	then.Revision = next.Revision + 1
	if err := follows(next, then); err != nil {
		return next, err
	}
	after.Revision = next.Revision
	return after, e.rewound(x, back)
}

// fire applies the rules after a phase whose conditions hold, of those that
// are of a kind, in their order. It ends with the first that skips the review
// or takes the run back. A rule that cannot be evaluated leaves it to a person
// to go on without it, unless it would only have saved a review.
func (e *Engine) fire(ctx context.Context, run metadata.Run, phase string, kind func(pipelines.Then) bool) (metadata.Run, *Rewound) {
	for i, r := range e.Plan.Rules {
		if r.After != phase || !kind(r.Then) {
			continue
		}
		name := metadata.Because("rule", "n", i+1, "does", thenText(r.Then))
		known, err := facts(run, run.Phase(phase), Issue{e.Issue.Labels, e.Issue.Title, e.Issue.Author})
		holds := false
		if err == nil {
			holds, err = e.Matches(ctx, r.When, known)
		}
		if err != nil {
			run = unclear(run, phase, metadata.Because("rule_unclear", "rule", name, "error", brief(err.Error())), r.Then, e.Now())
			continue
		}
		if !holds {
			continue
		}
		why := name
		if saw := seen(r.When, known); len(saw) > 0 {
			why = metadata.Because("rule_saw", "rule", name, "facts", saw)
		}
		var back *Rewound
		run, back = Fire(e.Plan, run, r, why, e.Now())
		if back != nil || r.Then.Skip != "" {
			return run, back
		}
	}
	return run, nil
}

// rewound adds what a rollback leaves to be committed to what its step does. A
// file that the step itself wrote is in no commit yet and cannot be moved
// there: it is written where it would be moved to.
func (e *Engine) rewound(x *effects, back *Rewound) error {
	if back == nil {
		return nil
	}
	if x.files == nil {
		x.files = map[string][]byte{}
	}
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was removed is removed
	x.moves = map[string]string{}
	for from, to := range back.Moves {
		body, dictated := x.files[from]
		if !dictated && !slices.Contains(x.paths, from) {
			x.moves[from] = to
			continue
		}
		if !dictated {
			if body, err = folders.ReadFile(root, from, maxFile); err != nil {
				return fmt.Errorf("put %s aside: %w", from, err)
			}
		}
		if err := root.Remove(filepath.FromSlash(from)); err != nil {
			return fmt.Errorf("put %s aside: %w", from, err)
		}
		delete(x.files, from)
		x.files[to] = body
		if !slices.Contains(x.paths, from) {
			x.paths = append(x.paths, from)
		}
	}
	for name, body := range back.Files {
		x.files[name] = body
	}
	x.back = &back.Entry
	return nil
}
