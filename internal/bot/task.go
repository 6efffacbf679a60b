package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Task is one part of a run that was left to those that do its parts. It is done on this machine and pushed to a ref of
// its own. The record of the run stays as it is: it is for whoever joins the parts.
type Task struct {
	*workspace.Workspace
	Options  workspace.Options // with which it was opened: Only names the part, Jobs is 1
	Me       string            // this process, in a lease; "": no workflow has started it
	Report   engine.Reporter
	Steering engine.Steering // nil: nobody can reach the task
}

// Do goes on with the part until others have to: from where an earlier task of it has got to. It
// gives the record that this machine has of the run then, or says why the part is not done here.
func (t Task) Do(ctx context.Context) (run metadata.Run, no string, err error) {
	w, part := t.Workspace, t.Options.Only
	parts := phases.PartsOfWave(phases.On(w.Plan, w.Run))
	if !sharedLease(t.Me, w.Run.Execution.Lease) || !slices.Contains(parts, part) {
		return w.Run, fmt.Sprintf("%s of issue %s is not done here: the run was not left to tasks for it, or has gone another way since", part, w.Issue.ID), nil
	}
	if err := w.Ready(t.Options); err != nil {
		return w.Run, "", err
	}
	w.SayLacking()
	e, err := w.Engine(t.Options, t.Report)
	if err != nil {
		return w.Run, "", err
	}
	if err := process.Harden(); err != nil {
		w.Warn(err)
	}
	e.Committed, e.Told = nil, nil // hooks are told by who joins the parts
	e.Steering = t.Steering
	e.Sources = []engine.Source{func(context.Context, metadata.Run, phases.Decision) (engine.Take, error) { return nil, errEnded }} // for others to go on
	share, err := t.share(ctx, e, len(parts))
	if err == nil {
		err = t.resume(ctx, e)
	}
	if err != nil {
		return w.Run, "", err
	}
	run = w.Run
	if t.Steering != nil {
		if _, err := t.Steering.Steer(ctx, run); errors.Is(err, errEnded) {
			return run, "", nil
		} else if err != nil {
			return run, "", err
		}
	}
	run.Budget = share
	telemetry.Follow(ctx, e, w.Run)
	if run, err = e.Run(ctx, run); errors.Is(err, errEnded) {
		err = nil
	}
	return run, "", err
}

// share gives what one of n tasks may spend: of what is left to the run, and of what may still be spent on this day.
func (t Task) share(ctx context.Context, e *engine.Engine, n int) (metadata.Budget, error) {
	run, _ := phases.ShareOfPart(t.Run, n)
	left, why, err := e.RemainingToday(ctx, run)
	if left /= float64(n); err == nil && why == "" && left > 0 && (run.Budget.USD == 0 || left < run.Budget.USD) {
		run.Budget.USD, run.Budget.Since.USD = left, run.Cost.USD
	}
	return run.Budget, err
}

// resume takes what an earlier task of the part has pushed into the record. It is committed only if
// there is a step to go on with.
func (t Task) resume(ctx context.Context, e *engine.Engine) error {
	part, f := t.Options.Only, &folding{w: t.Workspace, e: e, warn: t.Warn}
	if !f.pushed() {
		return errors.New("a run that is not pushed cannot be done by several machines")
	}
	of, err := f.list(ctx)
	if err != nil {
		return err
	}
	maps.DeleteFunc(of, func(other string, _ git.Ref) bool { return other != part })
	if err := f.gather(ctx, of); err != nil {
		return err
	}
	f.spent(part, t.Left)
	if _, more := phases.NextForPart(phases.On(t.Plan, f.next), part); more && len(f.files)+len(f.heads) > 0 {
		return f.commit(ctx, "task: goes on with what was pushed of "+part)
	}
	t.Run = f.next
	return nil
}

// doPart does the Task of one part, and says how that stands then: for programs, and as
// Markdown in the language of the run.
func (b *bot) doPart(ctx context.Context) error {
	b.delivery = b.newDelivery()
	if code, why := b.closed(ctx); code == metadata.StaleEvent {
		return b.ignore(code, why)
	}
	run, no, err := b.part(ctx)
	b.job.Group("")
	switch {
	case err != nil:
		return &jobEnd{decision: denied, err: err}
	case no != "":
		return b.ignore(metadata.NothingDone, metadata.Said(no))
	}
	became, shown := PartShown(run, b.In.Part)
	return &jobEnd{decision: toRun, part: became, text: fmt.Sprintf("`%s`: %s\n", b.In.Part, shown)}
}

// part opens the run, reads what people have asked of it, and does the part.
func (b *bot) part(ctx context.Context) (run metadata.Run, no string, err error) {
	ctx, stop := b.In.within(ctx)
	defer stop()
	b.sign(ctx)
	o := workspace.Options{
		Query:  issue.Query{Id: b.id(), Online: true},
		Choice: workspace.Choice{Agent: b.In.Agent, Installed: b.In.There, Model: b.In.Model, Policy: b.In.Policy},
		Repo:   b.workFolder(), Sandbox: b.In.Sandbox, Token: b.In.Token, Author: b.author, Push: new(true), Only: b.In.Part, Jobs: 1,
	}
	w, err := workspace.Open(ctx, b.Env, o)
	if err != nil {
		return run, "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	w.Warn = b.Warn
	if w.Fresh {
		return run, "", fmt.Errorf("issue %s has no run", b.id())
	}
	b.inbox.follow(w.Run.PRNumber)
	if err := cmp.Or(b.letSign(ctx, w), b.inbox.reach(ctx, w.Run)); err != nil {
		return run, "", err
	}
	view := terminal.NewView(b.Env.Stdout, terminal.Options{Plan: w.Plan, Verbose: b.In.Show, Group: b.job.Group})
	run, no, err = Task{w, o, b.me, view, partSteering{b.inbox, w.Plan, b.In.Part}}.Do(ctx)
	if no == "" && b.In.Upload {
		b.warnOf(runs.KeepTalk(b.job, w))
	}
	return run, no, err
}

// PartShown says how a part stands: for programs, and for people in the language of the run.
func PartShown(run metadata.Run, part string) (became, shown string) {
	rec, words := run.Phase(part), prompts.Words(run.Language)
	status, next := words.Word("statuses", string(rec.Status)), words.Shown("part left none")
	if rec.CurrentStep != "" {
		_, spent := phases.LimitReached(run) // its share, until the parts are joined
		next = text.Join(" · ", words.Shown("part left", "step", words.Word("steps", string(rec.CurrentStep))), spent.In(words))
	}
	return fmt.Sprintf("%s, %s", rec.Status, cmp.Or(string(rec.CurrentStep), "nothing is left to do")), text.Join(" · ", status, next)
}

// errEnded is the error by which people end the work on a part.
var errEnded = errors.New("people have asked for something else; the job that joins the parts does it")

// partSteering is how people reach a job that does one part.
type partSteering struct {
	inbox *inbox
	plan  *pipelines.Pipeline
	part  string
}

// Steer takes no command: the job that joins the parts does. It ends the work if one
// makes it pointless or says to begin no more.
func (s partSteering) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	s.inbox.look(ctx, false)
	if s.endedBy(ctx, run, "pause", "cancel", "rollback", "skip") {
		return run, errEnded
	}
	return run, nil
}

// Urgent looks at the comments while an agent works, until one of them makes that work pointless.
func (s partSteering) Urgent(ctx context.Context, now func() metadata.Run) error {
	return listen(ctx, s.inbox, func() error {
		if s.endedBy(ctx, now(), "cancel", "rollback", "skip") {
			return engine.ErrCancelled
		}
		return nil
	})
}

// endedBy reports whether one of some commands has ended the work on the part.
func (s partSteering) endedBy(ctx context.Context, run metadata.Run, commands ...string) bool {
	return slices.ContainsFunc(s.inbox.pending(run), func(c waiting) bool {
		return ends(ctx, s.inbox, phases.On(s.plan, run), c, s.part, commands...)
	})
}
