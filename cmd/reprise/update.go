package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// updateCommand merges the base into a run by hand. Agents are called by "reprise run".
func updateCommand(env environ.Env) *cobra.Command {
	return steerCommand(func(c *cobra.Command, s steerRequest) error { return runUpdate(c.Context(), env, s) },
		"update --issue ID", "Merge what the base has got since into the branch of a run",
		`Merge what the base has got since into the branch of a run, at once. Checks of the
code run again when the run goes on, and conflicts go to an agent then.`, func(*cobra.Command, *steerRequest) {})
}

func runUpdate(ctx context.Context, env environ.Env, s steerRequest) (err error) {
	if err := s.Check(); err != nil {
		return err
	}
	w, err := openClaimed(ctx, env, s.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	o := command.Request{Command: s.Command, By: w.Source.UserName, At: env.Now()}
	x, err := o.Apply(w.Plan, w.Run, false)
	if err != nil {
		return exit.AsUsage(err)
	}
	u := updaterOf(w, env)
	run := w.Run
	due, err := u.Look(ctx, run)
	if err != nil {
		return err
	}
	if due {
		taken := phases.Take(run, x.Run, phases.Command{Name: o.Name, Text: o.Line(), By: o.By, Phase: x.Phase, Why: x.Why, At: o.At})
		if run, err = bringBase(ctx, w, env, s, u, taken); err != nil {
			return err
		}
	}
	warnOfSteering(w, env)
	tellUpdate(w, env, run, due)
	if s.JSON {
		err = text.PrintJSON(env.Stdout, view.Result(w.Plan, run))
	}
	if due && run.Stop != nil && run.Stop.Code == metadata.Conflicts {
		err = errors.Join(err, exit.Code(exit.Failed))
	}
	return err
}

// bringBase commits that a person asks for the base, and the merge. A run that has nothing
// else to do stops as it had.
func bringBase(ctx context.Context, w *workspace.Workspace, env environ.Env, s steerRequest, u *delivery.BaseUpdater, taken metadata.Run) (metadata.Run, error) {
	e, err := w.Engine(env, s.Options, engine.Quiet{})
	if err != nil {
		return w.Run, err
	}
	if err := e.Amend(ctx, taken, "update"); err != nil {
		return w.Run, err
	}
	run, _, err := u.Bring(ctx, e, taken)
	if err == nil && run.Status == metadata.Running && phases.Decide(w.Plan, run).Final() {
		if run, err = e.Run(ctx, run); err == nil {
			err = e.Finish(ctx, run, false)
		}
	}
	return run, err
}

// tellUpdate says what became of it.
func tellUpdate(w *workspace.Workspace, env environ.Env, run metadata.Run, due bool) {
	c := w.Catalogue()
	if !due {
		_, _ = fmt.Fprintln(env.Stderr, text.Capitalize(metadata.Because("base_has", "branch", delivery.BaseName(run, w.Source)).In(c)))
		return
	}
	said := phases.NewestMerge(run)
	if run.Stop != nil && run.Stop.Code == metadata.Conflicts {
		said = run.Stop.Why
	}
	terminal.Tell(env.Stderr, text.Capitalize(said.In(c))+"\n"+w.Shown("committed", "commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", goOnCommand(w, run)))
}
