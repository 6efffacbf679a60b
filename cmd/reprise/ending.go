package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// tellEnd prints how the run ended and gives its exit code.
func tellEnd(ctx context.Context, w *workspace.Workspace, env environ.Env, o runOptions, run metadata.Run) error {
	s := view.Result(w.Plan, run)
	s.Head = w.Repo.Tip()
	out := env.Stdout
	if o.json || o.log.json() {
		out = env.Stderr // standard output is for programs
	}
	if o.json {
		if err := text.PrintJSON(env.Stdout, s); err != nil {
			return err
		}
	}
	warnOfSteering(w, env)
	if o.dry && !(o.json && o.log.json()) { // the log has that stream for itself
		if err := showRehearsal(ctx, w, out, run, page.StartLabel); err != nil {
			return err
		}
	}
	if o.log.json() {
		terminal.LogSummary(logOf(o, env), env.Now(), run.Status, s, o.dry)
	} else {
		farewell(w, out, o, run)
	}
	if w.Paused(run) {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+w.Shown("pausing"))
		return exit.Code(exit.Waiting)
	}
	if code := view.ExitCode(run); code != exit.Done {
		return exit.Code(code)
	}
	return nil
}

// farewell says in a few lines how the run ended and what can be done now.
func farewell(w *workspace.Workspace, out io.Writer, o runOptions, run metadata.Run) {
	terminal.Tell(out, "\n"+w.Shown("issue ends", "issue", text.Cut(text.IssueName(run.IssueNumber, run.IssueTitle), 100), "how", ending(run)))
	if o.dry {
		says := w.Shown("nothing left")
		if run.Status != metadata.Failed {
			says = text.Join(" ", says, w.Shown("for real"))
		}
		terminal.Tell(out, says)
		return
	}
	terminal.Tell(out, w.Shown("branch at", "branch", run.BranchName, "commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "command", "reprise status --issue "+run.IssueNumber))
	if run.Status == metadata.Completed {
		terminal.Tell(out, w.Shown("merge", "command", "reprise rollback --issue "+run.IssueNumber+" --to-phase PHASE --reason TEXT"))
		return
	}
	terminal.Tell(out, goOnCommand(w, run))
}

// ending says how a run ended.
func ending(run metadata.Run) string {
	c := prompts.Words(run.Language)
	status := terminal.WordFor(c, "statuses", string(run.Status))
	cost := text.Join(", ", c.Shown("attempts", "n", phases.SpentOf(run).Attempts, "usd", text.USD(run.Cost.USD)), view.Together(c, run))
	if run.Stop == nil {
		return c.Shown("ends", "status", status, "cost", cost)
	}
	where := text.Join(" ", run.Stop.Phase, terminal.WordFor(c, "steps", string(run.Stop.Step)))
	code := string(run.Stop.Code)
	if code == string(run.Status) || run.Status == metadata.Interrupted {
		code = "" // to be interrupted is not to be cancelled
	}
	return c.Shown("ends at", "status", status, "where", where, "why", text.Join(": ", code, text.JoinLines(run.Stop.Why.In(c))), "cost", cost)
}

// broken is an error that stopped a run, with the result so far.
type broken struct {
	error
	so view.Summary
}

// Unwrap returns the error.
func (b broken) Unwrap() error { return b.error }

// broke says what stopped the process, and how to go on. The record is as it
// was last committed, so starting again goes on from there.
func broke(w *workspace.Workspace, run metadata.Run, err error) error {
	so := view.SummaryOf(w.Plan, run)
	so.Status, so.Code, so.Head = "failed", exit.ReasonFor(err), w.Repo.Tip()
	way := w.Shown("start again", "command", "reprise run --issue "+w.Issue.ID)
	if moved := new(git.Moved); errors.As(err, &moved) {
		way = "" // that alone would not help, see explain
	}
	says := text.Join(" ", w.Shown("not lost"), way)
	if w.Fresh && w.Repo.Tip() == run.BaseCommit {
		says = w.Shown("not begun") // there is no run that could be named
	}
	err = fmt.Errorf("%w\n%s", err, says)
	so.Error = err.Error()
	return broken{err, so}
}

// alwaysJSON prints a result also where an error kept the run from giving one.
func alwaysJSON(env environ.Env, err error) error {
	var code exit.Code
	var b broken
	switch {
	case err == nil, errors.As(err, &code):
		return err // it has been printed
	case errors.As(err, &b):
	default:
		b.so = view.Summary{Status: "failed", Code: exit.ReasonFor(err), Steps: []view.SummaryStep{}, Start: env.Now(), End: env.Now(), Error: err.Error()}
	}
	return errors.Join(err, text.PrintJSON(env.Stdout, b.so))
}
