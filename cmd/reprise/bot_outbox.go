package main

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
)

// outbox is what people are still to be told on the issue. Commands act first:
// a forge takes only so many comments and reactions in a time, and nobody who
// wants a run to stop shall wait for them.
type outbox struct {
	refused []refusal // answered in one comment
	asked   []waiting // questions and mistakes
	signs   []sign
}

// refusal is a command that was not carried out.
type refusal struct {
	comment int64
	denial
}

// sign is a reaction to a comment.
type sign struct {
	comment  int64
	reaction github.Reaction
}

func (o *outbox) empty() bool { return len(o.refused)+len(o.asked)+len(o.signs) == 0 }

// refuse adds the answer to a command, and the sign for it.
func (o *outbox) refuse(comment int64, d denial) {
	o.refused = append(o.refused, refusal{comment, d})
	o.sign(comment, github.Confused)
}

func (o *outbox) sign(comment int64, r github.Reaction) {
	if s := (sign{comment, r}); !slices.Contains(o.signs, s) {
		o.signs = append(o.signs, s)
	}
}

// keptFree is how many writes to the forge are left to the run itself, for its
// comment and its pull request, while it is at work.
const keptFree = 3

// send sends what can be sent without a wait.
func (b *bot) send(ctx context.Context) {
	for ctx.Err() == nil && !b.outbox.empty() && b.gh.Room() > keptFree {
		b.sendNext(ctx)
	}
}

// sendAll sends everything, however long that takes. With listening it stops as
// soon as there is a command to take.
func (b *bot) sendAll(ctx context.Context, listening bool) {
	for ctx.Err() == nil && !b.outbox.empty() {
		if listening && b.gh.Room() == 0 {
			b.look(ctx, false)
			if len(b.pending(b.w.run)) > 0 {
				return
			}
		}
		b.sendNext(ctx)
	}
}

// sendNext sends one thing, and keeps it if that was cut off.
func (b *bot) sendNext(ctx context.Context) {
	o, rest := &b.outbox, b.outbox
	switch {
	case len(o.refused) > 0:
		together := o.refused[:min(len(o.refused), mostTogether)]
		rest.refused = o.refused[len(together):]
		b.refuseTogether(ctx, together)
	case len(o.asked) > 0:
		rest.asked = o.asked[1:]
		if c := o.asked[0]; b.reactTo(ctx, c.comment.ID, github.Eyes) || b.overdue(c.comment) {
			_ = b.replyTo(ctx, c) // it was told
		}
	default:
		rest.signs = o.signs[1:]
		b.reactTo(ctx, o.signs[0].comment, o.signs[0].reaction)
	}
	if ctx.Err() == nil {
		b.outbox = rest
	}
}

// mostTogether is how many refused commands are answered in one comment.
const mostTogether = 40

// refuseTogether answers commands that were refused, but for those that
// somebody else has answered meanwhile.
func (b *bot) refuseTogether(ctx context.Context, all []refusal) {
	_ = b.read(ctx, true) // else it is told twice at worst, by two jobs
	var comments []int64
	var denials []denial
	for _, r := range all {
		if !b.isAnswered(r.comment) {
			comments, denials = append(comments, r.comment), append(denials, r.denial)
		}
	}
	if len(comments) == 0 {
		return
	}
	_ = b.reply(ctx, comments, func(marker string) string { return refusalReply(marker, b.language(), denials...) }) // it was told
}

// overdue reports whether a comment is so old that a job of its own would have
// answered it.
func (b *bot) overdue(c github.Comment) bool { return b.env.now().Sub(c.CreatedAt) > lookBack }

// replyMarker is the first line of the answer to some comments. There is at
// most one comment with it.
func replyMarker(comments ...int64) string {
	ids := make([]string, len(comments))
	for i, id := range comments {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return fmt.Sprintf("<!-- reprise:reply:v1 comment=%s -->", strings.Join(ids, ","))
}

var replyForm = regexp.MustCompile(`^<!-- reprise:reply:v1 comment=([0-9,]+) -->`)

// answersTo are the comments that a comment which begins so is the answer to.
func answersTo(body string) (comments []int64) {
	m := replyForm.FindStringSubmatch(body)
	if m == nil {
		return nil
	}
	for id := range strings.SplitSeq(m[1], ",") {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			comments = append(comments, n)
		}
	}
	return comments
}

// makeGood sees to what a job that has accepted a command did not live to
// tell: the answers to questions, mistakes, and commands of which the record
// says that they were refused, and the signs. A job that is slow does that
// itself, so it is done some time later, or where the job that had the run is
// known to be gone.
func (b *bot) makeGood(ctx context.Context) {
	run, now := b.w.run, b.env.now()
	taken := map[int64]metadata.Decision{}
	for _, d := range run.Decisions {
		if b.orphan || now.Sub(d.At) > lookBack {
			taken[d.Comment] = d
		}
	}
	for _, c := range b.past(run) {
		id := c.comment.ID
		d, known := taken[id]
		why, refused := whyRefused(d.Why)
		question := c.asked.Outcome == slashMistaken || c.asked.Outcome == slashAsked && c.asked.Command.now()
		switch answered := b.isAnswered(id); {
		case refused && !answered:
			b.outbox.refuse(id, denial{Code: metadata.NotACommand, By: d.By, What: "/" + d.Step, Why: why, Known: true})
		case refused && b.orphan && c.comment.Confused == 0:
			b.outbox.sign(id, github.Confused)
		case refused:
		case known && b.orphan && c.comment.Rocket+c.comment.ThumbsDown == 0:
			b.obeyedIn(d.Step, id)
		case !answered && question && b.overdue(c.comment) && c.comment.Eyes > 0 && !c.comment.Edited() && b.may(ctx, c.asker(), c.asked.role()) == nil:
			b.outbox.asked = append(b.outbox.asked, c)
		}
	}
}

// obeyedIn has the sign put on a comment whose command was obeyed: soon, or at
// the end of the run where that is the end of the command, too.
func (b *bot) obeyedIn(name string, comment int64) {
	lasting := name == "run" || name == "resume" || name == "retry"
	if !lasting {
		b.outbox.sign(comment, github.Rocket)
	} else if !slices.Contains(b.owes, comment) {
		b.owes = append(b.owes, comment)
	}
}
