package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// Consultation is what it takes to ask an agent about a run.
type Consultation struct {
	Env      environ.Env
	Language string // of what is said in the log
	Warn     func(err error)
	Open     *workspace.Workspace
	Engine   *engine.Engine
	Agents   workspace.Options
	Keep     func(run metadata.Run) // notes what was committed
}

// Ask asks an agent whether the run has to go back. If it is sure, the effect
// is the rollback; otherwise it is nothing but what the call cost. An error that
// is a *command.Refusal comes with an effect, too, if an agent was called. Any
// other one leaves the command to be taken again.
func (c Consultation) Ask(ctx context.Context, run metadata.Run, o command.Request) (command.Effect, error) {
	if err := c.mayAsk(run); err != nil {
		return command.Effect{}, err
	}
	asks, since := command.AskedWhether(c.Open.Plan, run), phases.Touch(run, c.Env.Now())
	// Before anything is spent, nobody else may have taken the run.
	if err := c.Engine.Amend(ctx, since, asks.In(prompts.Words("en"))); err != nil {
		return command.Effect{}, err
	}
	c.Keep(since)
	_, _ = fmt.Fprintln(c.Env.Stdout, text.Flat(asks.In(prompts.Words(c.Language))))
	if err := process.Harden(); err != nil {
		c.Warn(err)
	}
	next, d, err := c.Engine.Examine(ctx, since, o.Text)
	if next.Revision == since.Revision { // no agent was called
		return command.Effect{}, err
	}
	x := command.Effect{Since: &since, Run: next, Phase: next.CurrentPhase}
	if err == nil {
		return c.follow(ctx, x, d, o)
	}
	code, told := command.Undiagnosed(ctx, err)
	if !told {
		if noted := c.Engine.Amend(ctx, next, "diagnosed"); noted != nil {
			return command.Effect{}, errors.Join(err, noted)
		}
		c.Keep(next)
		return command.Effect{}, err
	}
	return x, command.Refuse(code, metadata.Because("undiagnosed", "diagnosed", command.LastWhy(next)))
}

// mayAsk says what is missing for an agent to be asked.
func (c Consultation) mayAsk(run metadata.Run) error {
	opts, err := workspace.AgentOptions(c.Env, c.Open, c.Agents)
	if err != nil {
		return err
	}
	if why := c.Open.Missing(phases.Diagnostician(c.Open.Plan, run), opts); len(why) > 0 {
		return command.Refuse(metadata.CredentialsMissing, metadata.Because("not_asked", "why", workspace.Lined(why)))
	}
	c.Open.SayLacking(c.Env)
	return nil
}

// follow gives what a diagnosis makes of the run of x: a rollback, or a proposal
// to people, or nothing.
func (c Consultation) follow(ctx context.Context, x command.Effect, d phases.Diagnosis, o command.Request) (command.Effect, error) {
	diagnosed := command.LastWhy(x.Run)
	if !d.NeedsRollback {
		x.Why = metadata.Because("auto_needless", "diagnosed", diagnosed, "analysis", command.Analysis(d))
		return x, nil
	}
	x.Phase = d.ToPhase
	back, err := phases.FollowDiagnosis(c.Open.Plan, x.Run, d, phases.Rollback{By: o.By, CommentURL: o.Url, Restore: o.Restore, At: c.Env.Now()})
	if err != nil {
		return x, command.Refuse(metadata.NotACommand, metadata.Because("rollback_impossible", "command", metadata.Said(command.ProposedBy(d, o.Restore).Line()), "why", exit.Why(err)))
	}
	not := command.Reluctance(d, x.Run, o.DryRun)
	if not == "" && o.Restore {
		if _, missing := c.Open.EndOf(ctx, d.ToPhase); missing != nil {
			not = exit.Why(missing)
		}
	}
	if not != "" {
		x.Why = command.Proposal(diagnosed, d, not)
		return x, nil
	}
	back.Before = *x.Since
	x.Run, x.Back = back.Run, &back
	x.Why = metadata.Because("auto_done", "diagnosed", diagnosed, "analysis", command.Analysis(d))
	return x, nil
}
