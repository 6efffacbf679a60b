package engine

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/branch"
	"github.com/reprise-ci/reprise/phases/message"
	"github.com/reprise-ci/reprise/prompts"
)

// Land takes work of parts into the record, in one commit, and returns the record as it
// was last committed. Last says that no other part is at work.
func (e *Engine) Land(ctx context.Context, run metadata.Run, last bool, works ...Work) (metadata.Run, error) {
	next, all, done := run, effects{files: map[string][]byte{}}, []effects(nil)
	for _, w := range works {
		d, x, before := w.Of, w.x, next
		if phases.IsVoid(next.Phase(d.Phase), *phases.AttemptOf(&next, d.Phase)) {
			x = effects{outcome: x.outcome}
		}
		var err error
		if next, err = e.apply(next, d, x.outcome); err == nil {
			next, err = e.consequences(ctx, before, next, d, &x)
		}
		if err == nil && last && len(works) == 1 {
			next, err = e.stopAfter(ctx, next, d)
		}
		if err != nil {
			return run, fmt.Errorf("%s: %w", message.Heading(d), err)
		}
		done = append(done, x)
	}
	for i, x := range done {
		phase := works[i].Of.Phase
		rec := next.Phase(phase)
		if gone := rec == nil || rec.Generation != phases.AttemptOf(&next, phase).Generation; gone && x.back == nil {
			x = effects{outcome: x.outcome} // another one of works has made it void
		}
		maps.Copy(all.files, x.files)
		all.outcome, all.moves, all.back, all.take = x.outcome, x.moves, x.back, x.take
		all.beside = append(all.beside, x.beside...)
		if x.outcome.Head != "" {
			all.heads = append(all.heads, x.outcome.Head)
		}
	}
	next.Revision = run.Revision + 1
	err := metadata.Follow(run, next)
	if err == nil {
		err = e.record(ctx, next, works[len(works)-1].Of, all)
	}
	var kept *branch.NotPushed
	if err != nil && !errors.As(err, &kept) {
		return run, err
	}
	for i, w := range works {
		shown := next
		if i < len(works)-1 { // that the run stops is said once
			shown.Status, shown.Stop = run.Status, run.Stop
		}
		e.Report.Report(Event{At: e.Now(), Run: shown, Of: w.Of, Done: &w.x.outcome})
	}
	return next, err
}

// record commits the record together with the work it describes.
func (e *Engine) record(ctx context.Context, run metadata.Run, d phases.Decision, x effects) error {
	m := message.Commit{
		Subject: message.Heading(d) + ": " + message.Result(run, d, x.outcome), Why: x.outcome.Why.In(prompts.Words(run.Language)), Phase: d.Phase, Step: string(d.Do),
	}
	if d.Final() {
		m.Why = d.Why.In(prompts.Words(run.Language))
	} else {
		m.Attempt, m.USD = phases.AttemptOf(&run, d.Phase).N, x.outcome.Usage.USD
	}
	if x.back != nil {
		m.Why = strings.TrimSpace(fmt.Sprintf("%s\n\nTaken back to %s %s: %s", m.Why, x.back.ToPhase, x.back.ToStep, x.back.Reason))
	}
	return e.Write(ctx, run, branch.Commit{
		Message: m.Text(run), Files: x.files, Staged: x.staged, Moves: x.moves, Take: x.take, Beside: x.beside, Parents: x.heads,
	})
}
