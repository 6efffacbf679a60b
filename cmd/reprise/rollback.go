package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

func rollbackCommand(env environ.Env) *cobra.Command {
	var o rollbackOptions
	c := &cobra.Command{
		Use:   "rollback --issue ID (--to-phase PHASE (--reason TEXT | --reason-file FILE | --interactive) | --auto)",
		Short: "Take a run back to a phase, with a reason",
		Long: `Take a run back to a step of a phase. The reason reaches the next agent, first
thing in its prompt; later phases run again. Nothing is deleted: what later
phases wrote is kept under superseded/, and the history of the branch only grows.
Continue afterwards with: reprise run --issue ID

With --auto an agent, the reviewer of the phase that the run is at, reads the
record and the newest reviews and says where to go back to, and why. If it is
sure, the run is taken back; otherwise the command that does it is printed, and
the exit code is 3. If the issue is on GitHub and there is a token, the command
is proposed in a comment on it, too. With --reason the agent is told what you
have seen; then it is asked even if there is no open finding and no failed check.
What the call costs counts against the budget of the run.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.auto {
				return runAuto(c.Context(), env, o, c.Flags().Changed)
			}
			for _, flag := range []string{"agent", "stubs", "sandbox"} {
				if c.Flags().Changed(flag) {
					return exit.Usagef("--%s goes with --auto: without it no agent is asked", flag)
				}
			}
			return runRollback(c.Context(), env, o, c.Flags().Changed("reason"))
		},
	}
	f := c.Flags()
	repoFlag(c, &o.Repo)
	issueFlag(c, &o.Id)
	f.StringVar(&o.to, "to-phase", "", "phase to take the run back to")
	f.StringVar(&o.step, "to-step", string(metadata.Revise), "step to go on with: execute, review or revise")
	f.StringVar(&o.from, "from-phase", "", "phase the run comes from (default: where it is)")
	f.StringVar(&o.reason, "reason", "", "why, in at most 1,000 characters; with --auto: what you have seen, if anything")
	f.StringVar(&o.file, "reason-file", "", "file that says why, at most 100 KB")
	f.BoolVar(&o.interactive, "interactive", false, "type the reason")
	f.BoolVar(&o.restore, "restore", false, "also take the code back to what it was when the phase ended")
	f.BoolVar(&o.force, "force", false, "do not ask")
	f.BoolVar(&o.dry, "dry-run", false, "show what would change, and change nothing (with --auto: but what the call costs is recorded)")
	f.BoolVar(&o.auto, "auto", false, "let an agent find out whether to go back, where to, and why")
	f.StringVar(&o.Agent, "agent", "", "with --auto: agent to ask (default: the reviewer of the phase that the run is at)")
	f.StringVar(&o.Stubs, "stubs", "", "with --auto: file of scripted answers, for the rehearsal agent")
	sandboxFlag(c, &o.Sandbox)
	pushFlag(c, &o.Push)
	f.BoolVar(&o.json, "json", false, "print what changed as one JSON object")
	return c
}

// runRollback takes a run back.
func runRollback(ctx context.Context, env environ.Env, o rollbackOptions, reasoned bool) (err error) {
	switch {
	case issue.CheckID(o.Id) != nil:
		return issue.CheckID(o.Id)
	case o.to == "":
		return exit.Usagef("back to which phase? Give --to-phase PHASE")
	case given(reasoned, o.file != "", o.interactive) != 1:
		return exit.Usagef("a rollback needs one reason, it is what the next agent is told: give --reason TEXT, --reason-file FILE or --interactive")
	}
	r, w, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	if w != nil {
		defer func() { err = errors.Join(err, w.Close()) }()
	}
	reason, review, err := o.readReason(env, r)
	if err != nil {
		return err
	}
	if reason = env.Finder().MaskKnown(reason); !o.dry { // reading the rules would take longer than all the rest
		reason = env.Finder().Mask(reason)
	}
	back, err := phases.PlanRollback(r.Plan, r.Run, phases.Rollback{
		To: o.to, Step: metadata.Step(o.step), From: o.from, Reason: reason, Reviewed: engine.CountOpen(reason), ReviewResult: review,
		By: r.Source.UserName, Trigger: metadata.Manual, Restore: o.restore, At: env.Now(),
	})
	if err != nil {
		return exit.AsUsage(command.WithNearest(err))
	}
	if o.dry && o.restore {
		if _, err := w.Restore(ctx, &back); err != nil {
			return err
		}
	}
	if o.json {
		defer func() {
			if err == nil {
				err = text.PrintJSON(env.Stdout, map[string]any{"dry_run": o.dry, "entry": back.Entry, "moves": back.Moves, "restored": text.List(back.Paths)})
			}
		}()
	} else {
		terminal.ShowRollback(env.Stdout, r.Plan, back)
	}
	if o.dry {
		_, _ = fmt.Fprintln(env.Stderr, r.Catalogue().Shown("dry"))
		return nil
	}
	if ok, err := o.confirmed(env, r.Catalogue()); err != nil || !ok {
		return err
	}
	return commitRollback(ctx, w, env, o, &back)
}

// open takes the run, or for a dry run only looks at it: then there is no
// workspace, but a scratch one where the code has to be gone back with.
func (o rollbackOptions) open(ctx context.Context, env environ.Env) (*workspace.Recorded, *workspace.Workspace, error) {
	if o.dry && !o.restore {
		r, err := workspace.Look(ctx, env, o.Repo, o.Id)
		return r, nil, err
	}
	o.Scratch = o.dry
	w, err := workspace.Open(ctx, env, o.Options)
	if err != nil {
		return nil, nil, err
	}
	if err := w.Busy(env.Now()); err != nil && !o.dry {
		return nil, nil, errors.Join(err, w.Close())
	}
	return &workspace.Recorded{Definition: w.Definition, Source: w.Source, Issue: w.Issue, Run: w.Run}, w, nil
}

// confirmed asks on a terminal, unless told not to. Nobody is asked in CI.
func (o rollbackOptions) confirmed(env environ.Env, c prompts.Catalogue) (bool, error) {
	if o.force || env.Getenv("CI") != "" || !environ.IsTerminal(env.Stdin) {
		return true, nil
	}
	_, _ = fmt.Fprint(env.Stderr, c.Shown("ask"))
	answer, err := bufio.NewReader(env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return true, nil
	}
	_, _ = fmt.Fprintln(env.Stderr, c.Shown("unchanged"))
	return false, exit.Code(exit.Cancelled)
}
