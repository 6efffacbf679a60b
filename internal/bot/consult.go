package bot

import (
	"context"
	"errors"
	"fmt"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// consult asks an agent whether the run has to go back. If it is sure, the effect is the rollback; otherwise it is
// nothing but what the call cost. An error that is a *command.Refusal comes with an effect, too, if an agent was
// called. Any other one leaves the command to be taken again.
func (b *bot) consult(ctx context.Context, run metadata.Run, o command.Request) (command.Effect, error) {
	if err := b.mayConsult(run); err != nil {
		return command.Effect{}, err
	}
	asks, since := command.AskedWhether(b.w.Plan, run), phases.Touch(run, b.env.Now())
	// Before anything is spent, nobody else may have taken the run.
	if err := b.engine.Amend(ctx, since, asks.In(prompts.Words("en"))); err != nil {
		return command.Effect{}, err
	}
	b.keep(since)
	_, _ = fmt.Fprintln(b.env.Stdout, text.Flat(asks.In(prompts.Words(b.voice.language()))))
	b.voice.warnOf(process.Harden())
	next, d, err := b.engine.Examine(ctx, since, o.Text)
	if next.Revision == since.Revision { // no agent was called
		return command.Effect{}, err
	}
	x := command.Effect{Since: &since, Run: next, Phase: next.CurrentPhase}
	if err == nil {
		return b.follow(ctx, x, d, o)
	}
	code, told := command.Undiagnosed(ctx, err)
	if !told {
		if noted := b.engine.Amend(ctx, next, "diagnosed"); noted != nil {
			return command.Effect{}, errors.Join(err, noted)
		}
		b.keep(next)
		return command.Effect{}, err
	}
	return x, command.Refuse(code, metadata.Because("undiagnosed", "diagnosed", command.LastWhy(next)))
}

// mayConsult says what is missing for an agent to be asked.
func (b *bot) mayConsult(run metadata.Run) error {
	opts, err := workspace.AgentOptions(b.env, b.w, b.opening(nil))
	if err != nil {
		return err
	}
	if why := b.w.Missing(phases.Diagnosing(b.w.Plan, run).Agent, opts); len(why) > 0 {
		return command.Refuse(metadata.CredentialsMissing, metadata.Because("not_asked", "why", workspace.Lined(why)))
	}
	b.w.SayLacking(b.env)
	return nil
}

// follow gives what a diagnosis makes of the run of x: a rollback, or a proposal to people, or nothing.
func (b *bot) follow(ctx context.Context, x command.Effect, d phases.Diagnosis, o command.Request) (command.Effect, error) {
	diagnosed := command.LastWhy(x.Run)
	if !d.NeedsRollback {
		x.Why = metadata.Because("auto_needless", "diagnosed", diagnosed, "analysis", command.Analysis(d))
		return x, nil
	}
	x.Phase = d.ToPhase
	back, err := phases.FollowDiagnosis(b.w.Plan, x.Run, d, phases.Rollback{By: o.By, CommentURL: o.Url, Restore: o.Restore, At: b.env.Now()})
	if err != nil {
		return x, command.Refuse(metadata.NothingDone, metadata.Because("rollback_impossible", "command", metadata.Said(command.ProposedBy(d, o.Restore).Line()), "why", exit.Why(err)))
	}
	not := command.Reluctance(d, x.Run, o.DryRun)
	if not == "" && o.Restore {
		if _, missing := b.w.EndOf(ctx, d.ToPhase, 0); missing != nil {
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
