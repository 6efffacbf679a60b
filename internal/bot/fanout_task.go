package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// IsTask reports whether a job was asked to do one part.
func IsPartJob(env environ.Env) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(env.Getenv("INPUT_COMMAND")), " ")
	return word == setup.TaskOnly
}

// Task is a step of a workflow that does one part of a run and pushes what comes of it.
// The record of the run stays as it is; it is for the job that joins the parts.
func DoPart(ctx context.Context, env environ.Env) error {
	j, in, err := inbox.Begin(env)
	defer func() { _ = j.Log.Close() }() // as for every other line, nobody can be told
	t := &task{place: &place{job: j, Source: inbox.Source{Env: j.Env, In: in}}}
	became, shown := "", ""
	if err == nil {
		ctx, stop := in.Within(ctx)
		defer stop()
		became, shown, err = t.do(ctx)
	}
	decision := "run"
	if became == "" {
		decision = "ignored"
	}
	if err != nil {
		j.Failure(err)
		decision = "denied"
	}
	said := []error{j.Output("decision", decision), j.Output("issue", in.Issue), j.Output("phase", in.Part)}
	if became != "" {
		said = append(said, j.Output("status", became), j.Summary(shown))
	}
	if err := errors.Join(said...); err != nil {
		j.Failure(err)
		return exit.Code(exit.Failed)
	}
	if err != nil {
		return exit.Code(exit.Failed)
	}
	return nil
}

// task is a job that does one part.
type task struct {
	*place
	inbox *inbox.Inbox
	w     *workspace.Workspace
}

// do opens the run and does the part, and says how that stands then: for programs, and as
// Markdown in the language of the run. Both are "" if the part is not for this job.
func (t *task) do(ctx context.Context) (became, shown string, err error) {
	if err := t.open(ctx); err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, t.w.Close()) }()
	parts := phases.PartsOfWave(phases.On(t.w.Plan, t.w.Run))
	if !sharedLease(t.me, t.w.Run.Execution.Lease) || !slices.Contains(parts, t.In.Part) {
		t.job.Notice(fmt.Sprintf("%s of issue %s is not done here: the run has gone another way since this workflow left it to its jobs", t.In.Part, t.w.Issue.ID))
		return "", "", nil
	}
	run, err := t.share(ctx, len(parts))
	if t.In.Upload {
		t.warnOf(runs.KeepTalk(t.job, t.w))
	}
	if err != nil {
		return "", "", err
	}
	rec := run.Phase(t.In.Part)
	return fmt.Sprintf("%s, %s", rec.Status, cmp.Or(string(rec.CurrentStep), "nothing is left to do")), shownOf(prompts.Words(run.Language), t.In.Part, rec), nil
}

// shownOf says for people how a part stands.
func shownOf(words prompts.Catalogue, part string, rec *metadata.Phase) string {
	status, next := words.Word("statuses", string(rec.Status)), words.Shown("part left none")
	if rec.CurrentStep != "" {
		next = words.Shown("part left", "step", words.Word("steps", string(rec.CurrentStep)))
	}
	return fmt.Sprintf("`%s`: %s\n", part, text.Join(" · ", status, next))
}

// open opens the run and reads what people have asked of it.
func (t *task) open(ctx context.Context) error {
	number, err := strconv.Atoi(t.In.Issue)
	if err != nil {
		return err
	}
	trigger := inbox.Trigger{Repository: t.Env.Getenv("GITHUB_REPOSITORY"), Number: number, CI: true}
	if t.place, err = newPlace(t.job, t.In, trigger); err != nil {
		return err
	}
	t.Warn = t.warn
	t.inbox = inbox.New(t.Source)
	t.sign(ctx)
	if t.w, err = workspace.Open(ctx, t.Env, t.options()); err != nil {
		return err
	}
	if t.w.Fresh {
		return errors.Join(fmt.Errorf("issue %s has no run", t.In.Issue), t.w.Close())
	}
	t.inbox.Follow(t.w.Run.PRNumber)
	if err := t.inbox.Reach(ctx, t.w.Run); err != nil {
		return errors.Join(err, t.w.Close())
	}
	return nil
}

// options are those with which the run is opened.
func (t *task) options() workspace.Options {
	o := workspace.Options{
		Query:  issue.Query{Id: t.In.Issue, Online: true},
		Choice: workspace.Choice{Agent: t.In.Agent, Installed: t.In.There, Model: t.In.Model, Policy: t.In.Policy},
		Repo:   t.workFolder(), Sandbox: t.In.Sandbox, Token: t.In.Token, Author: t.author, Push: new(bool), TakeTheirs: true, Only: t.In.Part, Jobs: 1,
	}
	*o.Push = true
	return o
}

// share does the part with its share of what the run may spend, and gives the record that
// this machine has of the run then.
func (t *task) share(ctx context.Context, n int) (metadata.Run, error) {
	w, o := t.w, t.options()
	if err := cmp.Or(t.letSign(ctx, w), w.Ready(o)); err != nil {
		return w.Run, err
	}
	w.SayLacking()
	t.warnOf(process.Harden())
	view := terminal.NewView(t.Env.Stdout, terminal.Options{Plan: w.Plan, Verbose: t.In.Show, Group: t.job.Group})
	e, err := w.Engine(o, view)
	if err != nil {
		return w.Run, err
	}
	e.Committed, e.Told = nil, nil // hooks are told by the job that joins the parts
	e.Steering, e.Due = t, func(context.Context, metadata.Run, phases.Decision) bool { return true }
	run, _ := phases.ShareOfPart(w.Run, n)
	if run, err = t.today(ctx, e, run, n); err != nil {
		return w.Run, err
	}
	telemetry.Follow(ctx, e, w.Run)
	run, err = e.Run(ctx, run)
	t.job.Group("")
	if errors.Is(err, errEnded) {
		err = nil
	}
	return run, err
}

// today limits the share to that of what may still be spent on this day.
func (t *task) today(ctx context.Context, e *engine.Engine, run metadata.Run, n int) (metadata.Run, error) {
	b := t.w.Plan.Budget
	if b.DayUSD+b.RepoDayUSD == 0 {
		return run, nil
	}
	var others []phases.DaySpent
	if e.Spent != nil {
		var err error
		if others, err = e.Spent(ctx, run); err != nil {
			return run, fmt.Errorf("what was spent today: %w", err)
		}
	}
	left, why := phases.RemainingToday(b, run, others, t.Env.Now())
	if left /= float64(n); why == "" && (run.Budget.USD == 0 || left < run.Budget.USD) {
		run.Budget.USD, run.Budget.Since.USD = left, run.Cost.USD
	}
	return run, nil
}

func (t *task) warn(err error) { t.job.Warning(err.Error()) }

// errEnded is the error by which people end the work on a part.
var errEnded = errors.New("people have asked for something else; the job that joins the parts does it")

// Steer takes no command: the job that joins the parts does. It ends the work if one
// makes it pointless or says to begin no more.
func (t *task) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	t.inbox.Look(ctx, false)
	if t.stoppedBy(ctx, run, "pause", "cancel", "rollback", "skip") {
		return run, errEnded
	}
	return run, nil
}

// Urgent looks at the comments while an agent works, until one of them makes that work pointless.
func (t *task) Urgent(ctx context.Context, now func() metadata.Run) error {
	return listen(ctx, t.inbox, func() error {
		if t.stoppedBy(ctx, now(), "cancel", "rollback", "skip") {
			return engine.ErrCancelled
		}
		return nil
	})
}

// stoppedBy reports whether somebody with the right has given one of the commands, and it ends the work on the part.
func (t *task) stoppedBy(ctx context.Context, run metadata.Run, commands ...string) bool {
	for _, c := range t.inbox.Pending(run) {
		if !slices.Contains(commands, c.Parsed.Command.Name) || !isSettled(ctx, t.inbox, c) {
			continue
		}
		o := t.inbox.Request(run, c)
		if o.Name == "cancel" || o.Name == "pause" {
			return true
		}
		x, err := o.Apply(phases.On(t.w.Plan, run), true)
		if err != nil {
			continue
		}
		now, then := run.Phase(t.In.Part), x.Run.Phase(t.In.Part)
		if then == nil || then.Generation != now.Generation || then.Status == metadata.PhaseSkipped {
			return true
		}
	}
	return false
}
