package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// start commits the first record of a run, and with it that its first command
// was taken. Whoever pushes first has the run. Commands from before that one
// are about no run: they are taken with it, and refused.
func (b *bot) start(ctx context.Context, o order) error {
	if err := b.able(ctx, b.w.run); err != nil {
		return err
	}
	early, err := b.early(ctx, o)
	if err != nil {
		return err
	}
	no := refuse(metadata.StaleEvent, metadata.Because("no_run_yet"))
	next := b.w.run
	for _, c := range early {
		next = phases.Take(next, next, phases.Command{Name: c.Name, By: c.by, Comment: c.comment, Why: refusedFor(no.Why()), At: c.at})
	}
	next = phases.Take(next, next, phases.Command{Name: o.Name, By: o.by, Comment: o.comment, Job: b.jobOf(o), Why: metadata.Because("run_begins"), At: o.at})
	if o.comment == 0 {
		next.Cursor = b.newest() // what people wrote before is not about this run
	}
	if err := b.engine.Begin(ctx, next); err != nil {
		return err
	}
	b.w.run, b.w.fresh, b.holding = next, false, true
	b.settled(o.comment)
	if o.comment > 0 {
		b.obeyedIn(o.Name, o.comment)
	}
	for _, c := range early {
		b.settled(c.comment)
		b.answer(c, no)
	}
	b.tellRemoved()
	return nil
}

// tellRemoved says what was taken out of the issue.
func (b *bot) tellRemoved() {
	for _, r := range b.w.removed {
		b.job.notice(fmt.Sprintf("taken out of the issue, because people do not see it: %d %s", r.Count, strings.ReplaceAll(string(r.Kind), "_", " ")))
	}
}

// early gives the commands that somebody with the right gave before the one
// that begins a run. Questions and mistakes from then that nobody has accepted
// are answered.
func (b *bot) early(ctx context.Context, first order) ([]order, error) {
	var out []order
	for _, c := range b.pending(metadata.Run{}) {
		if c.comment.ID >= first.comment {
			break
		}
		no := b.may(ctx, c.asker(), c.asked.role())
		switch {
		case no != nil && no.Code == metadata.APIError:
			return nil, later{errors.New(phases.Say("en", no.Why))}
		case no != nil || c.comment.Edited():
		case c.asked.Outcome == slashMistaken || c.asked.Command.now():
			mine := b.t.comment != nil && c.comment.ID == b.t.comment.ID
			if !mine {
				b.outbox.asked = append(b.outbox.asked, c)
			}
		default:
			out = append(out, order{slashCommand: c.asked.Command, by: c.comment.Author.Login, comment: c.comment.ID, url: c.comment.URL, at: b.env.now()})
		}
	}
	return out, nil
}
