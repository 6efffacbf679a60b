package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// showRehearsal prints what a dry run would have left behind: the commits, the
// comment, and the issues. Trigger is the label that starts a run.
func (w *workspace) showRehearsal(ctx context.Context, out io.Writer, run metadata.Run, trigger string) error {
	log, err := w.repo.Log(context.WithoutCancel(ctx), run.BaseCommit)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\nCommits on %s (oldest first):\n\n", run.BranchName)
	for i := len(log) - 1; i >= 0; i-- {
		_, _ = fmt.Fprintf(out, "  %.12s  %s\n", log[i].Commit, log[i].Subject)
	}
	_, _ = fmt.Fprintf(out, "\nThe comment on the issue would read:\n\n%s\n", comment(w.plan, run, links{}))
	for _, i := range w.wouldOpen(run, trigger) {
		_, _ = fmt.Fprintf(out, "%s would be opened:\n\n%s\n", joined(" ", "An issue", prefixed("with the labels ", strings.Join(flatAll(i.Labels), ", "))), "# "+i.Title+"\n\n"+i.Body)
	}
	return nil
}

// showPrompts makes an engine print every prompt before it is sent.
func showPrompts(e *phases.Engine, out io.Writer) {
	inner := e.Agent
	e.Agent = func(name string) (phases.Agent, error) {
		a, err := inner(name)
		return loud{a, out}, err
	}
}

// loud is an agent whose prompts are printed.
type loud struct {
	phases.Agent
	out io.Writer
}

// Run prints the prompt and hands the task on.
func (l loud) Run(ctx context.Context, t phases.Task) (phases.Result, error) {
	_, _ = fmt.Fprintf(l.out, "----- prompt: %s %s, %d bytes -----\n%s\n----- end of prompt -----\n", t.Phase, t.Step, len(t.Prompt), t.Prompt)
	return l.Agent.Run(ctx, t)
}
