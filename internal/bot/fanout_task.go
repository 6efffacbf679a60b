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
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// IsPartJob reports whether a job was asked to do one part.
func IsPartJob(env environ.Env) bool {
	word, _, _ := strings.Cut(strings.TrimSpace(env.Getenv("INPUT_COMMAND")), " ")
	return word == setup.TaskOnly
}

// DoPart is a step of a workflow that does the Task of one part.
func DoPart(ctx context.Context, env environ.Env) error {
	j, in, err := inbox.Begin(env)
	defer func() { _ = j.Log.Close() }() // as for every other line, nobody can be told
	t := &partJob{place: &place{job: j, Source: inbox.Source{Env: j.Env, In: in}}}
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

// partJob is a job that does one part.
type partJob struct {
	*place
	inbox *inbox.Inbox
	w     *workspace.Workspace
}

// do opens the run and does the part, and says how that stands then: for programs, and as
// Markdown in the language of the run. Both are "" if the part is not for this job.
func (t *partJob) do(ctx context.Context) (became, shown string, err error) {
	if err := t.open(ctx); err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, t.w.Close()) }()
	view := terminal.NewView(t.Env.Stdout, terminal.Options{Plan: t.w.Plan, Verbose: t.In.Show, Group: t.job.Group})
	run, no, err := Task{t.w, t.options(), t.me, view, t}.Do(ctx)
	t.job.Group("")
	if no != "" {
		t.job.Notice(no)
		return "", "", nil
	}
	if t.In.Upload {
		t.warnOf(runs.KeepTalk(t.job, t.w))
	}
	if err != nil {
		return "", "", err
	}
	became, shown = PartShown(run, t.In.Part)
	return became, fmt.Sprintf("`%s`: %s\n", t.In.Part, shown), nil
}

// PartShown says how a part stands: for programs, and for people in the language of the run.
func PartShown(run metadata.Run, part string) (became, shown string) {
	rec, words := run.Phase(part), prompts.Words(run.Language)
	status, next := words.Word("statuses", string(rec.Status)), words.Shown("part left none")
	if rec.CurrentStep != "" {
		next = words.Shown("part left", "step", words.Word("steps", string(rec.CurrentStep)))
	}
	return fmt.Sprintf("%s, %s", rec.Status, cmp.Or(string(rec.CurrentStep), "nothing is left to do")), text.Join(" · ", status, next)
}

// open opens the run and reads what people have asked of it.
func (t *partJob) open(ctx context.Context) error {
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
	t.w.Warn = t.warn
	if t.w.Fresh {
		return errors.Join(fmt.Errorf("issue %s has no run", t.In.Issue), t.w.Close())
	}
	t.inbox.Follow(t.w.Run.PRNumber)
	if err := cmp.Or(t.letSign(ctx, t.w), t.inbox.Reach(ctx, t.w.Run)); err != nil {
		return errors.Join(err, t.w.Close())
	}
	return nil
}

// options are those with which the run is opened.
func (t *partJob) options() workspace.Options {
	return workspace.Options{
		Query:  issue.Query{Id: t.In.Issue, Online: true},
		Choice: workspace.Choice{Agent: t.In.Agent, Installed: t.In.There, Model: t.In.Model, Policy: t.In.Policy},
		Repo:   t.workFolder(), Sandbox: t.In.Sandbox, Token: t.In.Token, Author: t.author, Push: new(true), Only: t.In.Part, Jobs: 1,
	}
}

func (t *partJob) warn(err error) { t.job.Warning(err.Error()) }

// errEnded is the error by which people end the work on a part.
var errEnded = errors.New("people have asked for something else; the job that joins the parts does it")

// Steer takes no command: the job that joins the parts does. It ends the work if one
// makes it pointless or says to begin no more.
func (t *partJob) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	t.inbox.Look(ctx, false)
	if t.endedBy(ctx, run, "pause", "cancel", "rollback", "skip") {
		return run, errEnded
	}
	return run, nil
}

// Urgent looks at the comments while an agent works, until one of them makes that work pointless.
func (t *partJob) Urgent(ctx context.Context, now func() metadata.Run) error {
	return listen(ctx, t.inbox, func() error {
		if t.endedBy(ctx, now(), "cancel", "rollback", "skip") {
			return engine.ErrCancelled
		}
		return nil
	})
}

// endedBy reports whether one of some commands has ended the work on the part.
func (t *partJob) endedBy(ctx context.Context, run metadata.Run, commands ...string) bool {
	return slices.ContainsFunc(t.inbox.Pending(run), func(c inbox.Waiting) bool {
		return ends(ctx, t.inbox, phases.On(t.w.Plan, run), c, t.In.Part, commands...)
	})
}
