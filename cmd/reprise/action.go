package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// showRehearsal prints what a dry run would have left behind: the commits, the comment, and the issues.
func showRehearsal(ctx context.Context, w *workspace.Workspace, out io.Writer, run metadata.Run, trigger string) error {
	log, err := w.Repo.Log(context.WithoutCancel(ctx), run.BaseCommit)
	if err != nil {
		return err
	}
	terminal.Tell(out, "\nCommits on "+run.BranchName+" (oldest first):\n")
	for i := len(log) - 1; i >= 0; i-- {
		lead := fmt.Sprintf("  %.12s  ", log[i].Commit)
		_, _ = fmt.Fprintf(out, "%s%s\n", lead, terminal.Hanging(log[i].Subject, len(lead), terminal.Width(out)))
	}
	terminal.Tell(out, "\nThe comment on the issue would read:\n\n"+page.WithoutState(page.LiveComment(phases.On(w.Plan, run), page.Notices{})))
	for _, i := range wouldOpen(w, run, trigger) {
		terminal.Tell(out, text.Join(" ", "An issue", text.Prefixed("with the labels ", strings.Join(text.FlatAll(i.Labels), ", ")), "would be opened:\n\n# "+i.Title+"\n\n"+i.Body))
	}
	return nil
}

// wouldOpen gives the issues that a run would open on GitHub as it stands.
func wouldOpen(w *workspace.Workspace, run metadata.Run, trigger string) (all []page.ChildIssue) {
	for _, child := range phases.ToOpen(phases.On(w.Plan, run)) {
		all = append(all, page.NewChildIssue(run, child, trigger))
	}
	if left := page.NewFollowUp(run, run.Issue.Labels, trigger); left != nil && run.Status == metadata.Completed {
		all = append(all, *left)
	}
	return all
}

// loud is an agent whose prompts are printed.
type loud struct {
	engine.Agent
	out io.Writer
}

// Run prints the prompt and hands the task on.
func (l loud) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	_, _ = fmt.Fprintf(l.out, "----- prompt: %s %s, %d bytes -----\n%s\n----- end of prompt -----\n", t.Phase, t.Step, len(t.Prompt), t.Prompt)
	return l.Agent.Run(ctx, t)
}

func actionCommand(env environ.Env) *cobra.Command {
	return &cobra.Command{
		Use: "action", Hidden: true, Short: "Do what the event asks that started a workflow (for action.yml)",
		RunE: func(c *cobra.Command, _ []string) error {
			env, err := env.Unpack()
			if err == nil {
				err = os.Unsetenv(environ.HandedOver) // no program that is started has them all
			}
			if err != nil {
				return exit.AsUsage(err)
			}
			ctx, end := telemetry.Begin(c.Context(), env)
			defer end()
			return bot.Act(ctx, env, rehearse)
		},
	}
}

// rehearse carries a dry run on for a job, and prints what it would have left behind.
func rehearse(ctx context.Context, w *workspace.Workspace, o workspace.Options, in bot.Inputs) (metadata.Run, error) {
	log := logForm("text")
	if in.Show {
		log = "verbose"
	}
	run, err := runSession{w, runOptions{Options: o, dry: true, log: log}}.carryOn(ctx)
	if err != nil {
		return run, err
	}
	return run, showRehearsal(ctx, w, w.Env.Stdout, run, in.Label)
}
