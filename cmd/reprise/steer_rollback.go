package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// RollBack takes a run back to where o says. Reasoned is whether a reason was given as text,
// be it empty.
func rollBack(ctx context.Context, env environ.Env, o rollbackRequest, reasoned bool) (err error) {
	switch {
	case issue.CheckID(o.Id) != nil:
		return issue.CheckID(o.Id)
	case o.To == "":
		return exit.Usagef("back to which phase? Give --to-phase PHASE")
	case countFlags(reasoned, o.ReasonFile != "", o.Interactive) != 1:
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
	if reason = env.Finder().MaskKnown(reason); !o.Dry { // reading the rules would take longer than all the rest
		reason = env.Finder().Mask(reason)
	}
	back, err := phases.PlanRollback(r.Plan, r.Run, phases.Rollback{
		To: o.To, Step: metadata.Step(o.Step), From: cmp.Or(o.From, command.StandsAt(r.Plan, r.Run, o.To)), Reason: reason, ReviewResult: review,
		By: r.Source.UserName, Trigger: metadata.Manual, Restore: o.Restore, At: env.Now(),
	})
	if err != nil {
		return exit.AsUsage(command.WithNearest(err))
	}
	if o.Dry && o.Restore {
		if _, err := w.Restore(ctx, &back); err != nil {
			return err
		}
	}
	if o.JSON {
		defer func() {
			if err == nil {
				err = text.PrintJSON(env.Stdout, map[string]any{"dry_run": o.Dry, "entry": back.Entry, "moves": back.Moves, "restored": text.List(back.Paths)})
			}
		}()
	} else {
		terminal.ShowRollback(env.Stdout, r.Plan, back, terminal.ShowOptions(env))
	}
	if o.Dry {
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
func (o rollbackRequest) open(ctx context.Context, env environ.Env) (*workspace.Recorded, *workspace.Workspace, error) {
	if o.Dry && !o.Restore {
		r, err := workspace.Look(ctx, env, o.Repo, o.Id)
		return r, nil, err
	}
	o.Scratch, o.Still = o.Dry, true
	opens := openClaimed
	if o.Dry {
		opens = workspace.Open
	}
	w, err := opens(ctx, env, o.Options)
	if err != nil {
		return nil, nil, err
	}
	return &workspace.Recorded{Definition: w.Definition, Source: w.Source, Issue: w.Issue, Run: w.Run}, w, nil
}

// confirmed asks on a terminal, unless told not to. Nobody is asked in CI.
func (o rollbackRequest) confirmed(env environ.Env, c prompts.Catalogue) (bool, error) {
	if o.Force || env.Getenv("CI") != "" || !environ.IsTerminal(env.Stdin) {
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
