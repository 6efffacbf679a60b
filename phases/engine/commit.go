package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/placing"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/boundary"
	"github.com/reprise-ci/reprise/phases/files"
	"github.com/reprise-ci/reprise/phases/lanes"
	"github.com/reprise-ci/reprise/phases/merging"
	"github.com/reprise-ci/reprise/phases/message"
	"github.com/reprise-ci/reprise/phases/opened"
	"github.com/reprise-ci/reprise/phases/order"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// flushTime is how long an interrupted run has to save and push its state.
// GitHub kills a cancelled job ten seconds after it told it.
const flushTime = 5 * time.Second

// Begin commits the first record of a run, before anything is spent: a branch
// that cannot be pushed is noticed here. What an earlier run of the issue has
// left in the folder, because its branch was merged, is put aside: it stays in
// the history.
func (e *Engine) Begin(ctx context.Context, run metadata.Run) error {
	return e.commit(ctx, run, Commit{Message: message.Commit{Subject: "start: " + e.Plan.Name + " pipeline"}.Text(run), Files: maps.Clone(e.Frozen), Anew: true})
}

// Rollback carries out what phases.PlanRollback computed, as one commit. Staged is
// the code that goes back with it; nil: none.
func (e *Engine) Rollback(ctx context.Context, r phases.RollbackPlan, staged Staged) error {
	if err := metadata.Follow(r.Before, r.Run); err != nil {
		return err
	}
	if err := e.present(ctx, staged, r.Moves); err != nil {
		return err
	}
	m := message.Commit{
		Subject: fmt.Sprintf("%s: taken back to %s", r.Entry.ToPhase, r.Entry.ToStep), Why: r.Entry.Reason,
		Phase: r.Entry.ToPhase, Step: string(r.Entry.ToStep),
	}
	return e.commit(ctx, r.Run, Commit{
		Message: m.Text(r.Run), Files: map[string][]byte{r.ReasonFile: files.Reason(r)}, Moves: r.Moves, Staged: staged,
	})
}

// present leaves out of moves what a later call has removed.
func (e *Engine) present(ctx context.Context, staged Staged, moves map[string]string) (err error) {
	if staged == nil && len(moves) > 0 {
		if staged, err = e.Tree.Stage(ctx); err != nil {
			return err
		}
	}
	for from := range moves {
		_, err := staged.Read(ctx, from)
		if errors.Is(err, fs.ErrNotExist) {
			delete(moves, from)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// Refreeze commits a record together with what it goes on with: the files of
// Frozen. What says in a few words what that is.
func (e *Engine) Refreeze(ctx context.Context, run metadata.Run, what string) error {
	return e.commit(ctx, run, Commit{Message: message.Commit{Subject: "refresh: " + what}.Text(run), Files: maps.Clone(e.Frozen)})
}

// Finish takes the run's folder off the branch, if all phases are done and the
// pipeline does not want it kept: what CI is asked about, and what is ready then, is
// that commit. By hand it is taken off in any case. The next step of the run puts it back.
func (e *Engine) Finish(ctx context.Context, run metadata.Run, byHand bool) error {
	done := run.Status == metadata.Completed || run.Stop != nil && run.Stop.Code == metadata.AwaitingCI
	if !done || !byHand && e.Plan.Finish == pipelines.FinishKeep {
		return nil
	}
	m := message.Commit{Subject: "finish: the folder of the run is taken off the branch, and kept"}
	ctx, stop := linger(ctx)
	defer stop()
	return e.Tree.Commit(ctx, Commit{Message: m.Text(run), Shelve: true, At: run.UpdatedAt})
}

// Amend commits a record that changed with no work attached, such as a retry.
func (e *Engine) Amend(ctx context.Context, run metadata.Run, subject string) error {
	return e.commit(ctx, run, Commit{Message: message.Commit{Subject: subject, Phase: run.CurrentPhase}.Text(run)})
}

// Approve commits a record in which a phase was approved, together with what that places at
// protected paths: the very texts that the record has, whatever is done to the tree meanwhile.
func (e *Engine) Approve(ctx context.Context, run metadata.Run, subject string) error {
	all, err := placing.Place(e.Tree.Dir(), phases.ToPlace(e.Plan, run))
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return e.Amend(ctx, run, subject)
	}
	staged, err := e.Tree.Stage(ctx, opened.Paths(all)...)
	if err != nil {
		return err
	}
	err = staged.Each(ctx, func(c boundary.Change, data []byte) error {
		if slices.ContainsFunc(all, func(o metadata.Opened) bool { return o.Path == c.Path && o.Text == string(data) && !c.Gone }) {
			return nil
		}
		return e.changedSince(c.Path, metadata.Because("protected"))
	})
	if err != nil {
		return errors.Join(err, e.Tree.Restore(context.WithoutCancel(ctx)))
	}
	return e.commit(ctx, run, Commit{Message: message.Commit{Subject: subject, Phase: run.CurrentPhase}.Text(run), Staged: staged})
}

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
	var kept *NotPushed
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

// Fold commits a record together with what was done of parts elsewhere: files of their
// folders, and the commits that have their code.
func (e *Engine) Fold(ctx context.Context, run metadata.Run, subject string, files map[string][]byte, heads []string) error {
	return e.commit(ctx, run, Commit{Message: message.Commit{Subject: subject, Phase: run.CurrentPhase}.Text(run), Files: files, Parents: heads})
}

// Merge commits a record together with a commit of the base, what the two make together,
// and files that say how they contradict each other.
func (e *Engine) Merge(ctx context.Context, run metadata.Run, base string, staged Staged, files map[string][]byte) error {
	last := run.Decisions[len(run.Decisions)-1]
	m := message.Commit{Subject: "base: " + last.Why.In(prompts.Words(run.Language)), Phase: last.Phase}
	return e.commit(ctx, run, Commit{Message: m.Text(run), Files: files, Staged: staged, Merges: base})
}

// record commits the record together with the work it describes.
func (e *Engine) record(ctx context.Context, run metadata.Run, d phases.Decision, x effects) error {
	if err := e.present(ctx, x.staged, x.moves); err != nil {
		return err
	}
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
	return e.commit(ctx, run, Commit{
		Message: m.Text(run), Files: x.files, Staged: x.staged, Moves: x.moves, Take: x.take, Beside: x.beside, Parents: x.heads,
	})
}

// commit commits and takes or renews the lease on the run.
func (e *Engine) commit(ctx context.Context, run metadata.Run, c Commit) error {
	return e.commitUnder(ctx, e.lease(ctx, run), run, c)
}

// commitUnder is the one place where a record is saved, committed and pushed. The
// lease is the one that the run has from then on; nil: none.
func (e *Engine) commitUnder(ctx context.Context, lease *metadata.Lease, run metadata.Run, c Commit) error {
	run.Execution.Lease = lease
	if e.Untold != nil {
		run.Execution.Untold = e.Untold()
	}
	data, err := metadata.Format(run)
	if err != nil {
		return fmt.Errorf("the next record would be invalid, nothing was saved: %w", err)
	}
	if c.Files == nil {
		c.Files = map[string][]byte{}
	}
	record := path.Join(phases.Folder(run.IssueNumber), metadata.File)
	c.Files[record] = data
	if err := e.maskFiles(c.Files, record); err != nil {
		return err
	}
	for _, rec := range run.Phases {
		if p := e.Plan.Phase(rec.Name); p != nil && order.Beside(e.Plan, &rec) && (rec.Lane == nil || rec.Lane.Conflict == nil) {
			c.Gone = append(c.Gone, phases.ConflictFolder(run, p))
		}
	}
	if folder := merging.Obsolete(e.Plan, run); folder != "" {
		c.Gone = append(c.Gone, folder)
	}
	c.Gone = append(c.Gone, lanes.GivenUp(e.Plan, run)...)
	c.Message = e.mask(c.Message)
	c.At = run.UpdatedAt
	c.Aside = run.Status != metadata.Running && c.Staged == nil && len(c.Moves) == 0 && !c.Anew
	ctx, stop := linger(ctx)
	defer stop()
	if err := e.Tree.Commit(ctx, c); err != nil {
		return err
	}
	e.until, e.StaleLease = time.Time{}, false
	if lease != nil {
		e.until = lease.Expires
	}
	if e.Committed != nil {
		e.Committed(ctx, run)
	}
	return nil
}

// linger gives a context that outlives ctx by flushTime, so that being told
// to stop never cuts a commit in half.
func linger(ctx context.Context) (context.Context, context.CancelFunc) {
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, cancel) })
	return longer, func() { stop(); cancel() }
}
