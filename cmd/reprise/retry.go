package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/phases"
)

func retryCommand(env environment) *cobra.Command {
	var o runOptions
	var phase string
	c := &cobra.Command{
		Use:   "retry --issue ID [--phase PHASE]",
		Short: "Give a stopped run a fresh allowance and continue it",
		Long: `Give a run that failed or waits for a person a fresh allowance, and continue it:
its phase has all its revises again, and calls that failed no longer count. To
change what was decided in an earlier phase, take the run back with rollback.`,
		RunE: func(c *cobra.Command, _ []string) error { return runRetry(c.Context(), env, o, phase) },
	}
	f := c.Flags()
	repoFlag(c, &o.repo)
	issueFlag(c, &o.id)
	f.StringVar(&phase, "phase", "", "phase to try again (default: the one the run stopped at)")
	budgetFlags(c, &o.more)
	pushFlag(c, &o.push)
	sandboxFlag(c, &o.sandbox)
	f.BoolVar(&o.json, "json", false, "print the result as one JSON object on standard output")
	f.BoolVar(&o.verbose, "verbose", false, "print what agents do, too")
	f.StringVar(&o.logFormat, "log-format", "text", "how progress is printed: text or json")
	return c
}

// runRetry gives a fresh allowance, commits that, and goes on.
func runRetry(ctx context.Context, env environment, o runOptions, phase string) (err error) {
	if err := checkID(o.id); err != nil {
		return err
	}
	if o.json {
		defer func() { err = alwaysJSON(env, err) }()
	}
	if err := o.check(); err != nil {
		return err
	}
	w, err := openWorkspace(ctx, env, o.opening)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.busy(env.now()); err != nil {
		return err
	}
	run, err := phases.Retry(w.plan, w.run, phase, phases.Start{At: env.now(), More: o.more})
	if err != nil {
		return usage(meant(err))
	}
	opts, err := agentOptions(env, w, o.opening)
	if err != nil {
		return err
	}
	if err := w.ready(opts); err != nil {
		return err
	}
	e, err := w.engine(env, o.opening, quiet{})
	if err != nil {
		return err
	}
	if err := e.Amend(ctx, run, fmt.Sprintf("%s: retry", run.CurrentPhase)); err != nil {
		return err
	}
	w.run = run
	return w.finish(ctx, env, o)
}
