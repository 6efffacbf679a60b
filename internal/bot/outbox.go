package bot

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// outbox has what people are still to be told on the issue. Commands are
// carried out first: a forge limits comments and reactions, and somebody who
// wants a run to stop must not wait for them.
type outbox struct {
	// mu guards what follows: some of it is sent while an agent works.
	mu      sync.Mutex
	waiting parcel
}

// refusal is a command that was not carried out.
type refusal struct {
	comment int64
	page.Denial
}

// sign is a reaction to a comment.
type sign struct {
	comment  int64
	reaction github.Reaction
}

// clear forgets everything.
func (o *outbox) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = parcel{}
}

// refuse adds the answer to a command, and the sign for it; 0 is no comment.
func (o *outbox) refuse(comment int64, d page.Denial) {
	if comment > 0 && d.Why != inbox.WhyNoMoreBots() { // programs might answer an answer
		o.mu.Lock()
		o.waiting.refused = append(o.waiting.refused, refusal{comment, d})
		o.mu.Unlock()
	}
	o.sign(comment, github.Confused)
}

// opinion adds what an agent said that a command asked, if one was asked.
func (o *outbox) opinion(d metadata.Decision) {
	if said, ok := page.OpinionOf(d); ok {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.waiting.said = append(o.waiting.said, said)
	}
}

// answer adds a question or a mistake.
func (o *outbox) answer(c inbox.Waiting) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting.questions = append(o.waiting.questions, c)
}

// sign adds a reaction to a comment, if there is one, once.
func (o *outbox) sign(comment int64, r github.Reaction) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if s := (sign{comment, r}); comment > 0 && !slices.Contains(o.waiting.signs, s) {
		o.waiting.signs = append(o.waiting.signs, s)
	}
}

// reactions is how many are to be made.
func (o *outbox) reactions() int {
	o.mu.Lock()
	defer o.mu.Unlock()
	return len(o.waiting.signs)
}

// first gives what is sent next: one of the four, or several refusals.
func (o *outbox) first() (next parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	switch {
	case len(o.waiting.refused) > 0:
		next.refused = slices.Clone(o.waiting.refused[:min(len(o.waiting.refused), mostTogether)])
	case len(o.waiting.said) > 0:
		next.said = slices.Clone(o.waiting.said[:1])
	case len(o.waiting.questions) > 0:
		next.questions = slices.Clone(o.waiting.questions[:1])
	case len(o.waiting.signs) > 0:
		next.signs = slices.Clone(o.waiting.signs[:1])
	}
	return next
}

// sent takes out what first gave.
func (o *outbox) sent(p parcel) {
	o.mu.Lock()
	defer o.mu.Unlock()
	w := &o.waiting
	w.refused, w.said, w.questions, w.signs = rest(w.refused, p.refused), rest(w.said, p.said), rest(w.questions, p.questions), rest(w.signs, p.signs)
}

// rest is what remains of a list without what was sent from its beginning.
func rest[T any](list, sent []T) []T { return list[min(len(sent), len(list)):] }

// parcel is what is sent in one go.
type parcel struct {
	refused   []refusal       // answered in one comment
	said      []page.Opinion  // of agents that people have asked about the run
	questions []inbox.Waiting // questions and mistakes
	signs     []sign
}

func (p parcel) empty() bool { return len(p.refused)+len(p.said)+len(p.questions)+len(p.signs) == 0 }

// keptFree is how many writes to the forge are left to the run itself, for its
// comment and its pull request, while it is at work.
const keptFree = 3

// send sends what can be sent without a wait.
func (v *voice) send(ctx context.Context) {
	for ctx.Err() == nil && !v.outbox.first().empty() && v.gh.FreeWrites() > keptFree {
		v.sendNext(ctx)
	}
}

// sendAll sends everything, however long that takes. Before each wait for the
// forge, it calls stop, unless that is nil, and ends if the result is true.
func (v *voice) sendAll(ctx context.Context, stop func() bool) {
	for ctx.Err() == nil && !v.outbox.first().empty() {
		if stop != nil && v.gh.FreeWrites() == 0 && stop() {
			return
		}
		v.sendNext(ctx)
	}
}

// sendNext sends one thing, and keeps it if sending was cut off.
func (v *voice) sendNext(ctx context.Context) {
	next := v.outbox.first()
	switch {
	case len(next.refused) > 0:
		v.refuseTogether(ctx, next.refused)
	case len(next.said) > 0:
		v.tellOpinion(ctx, next.said[0])
	case len(next.questions) > 0:
		if c := next.questions[0]; v.react(ctx, c.Comment.ID, github.Eyes) || v.inbox.Overdue(c.Comment) {
			_ = v.replyTo(ctx, c) // it was told
		}
	case len(next.signs) > 0:
		v.react(ctx, next.signs[0].comment, next.signs[0].reaction)
	}
	if ctx.Err() == nil {
		v.outbox.sent(next)
	}
}

// mostTogether is how many refused commands are answered in one comment.
const mostTogether = 40

// refuseTogether answers commands that were refused, but for those that
// somebody else has answered meanwhile.
func (v *voice) refuseTogether(ctx context.Context, all []refusal) {
	_ = v.inbox.Read(ctx, true)                 // otherwise two jobs may tell it, which does no harm
	for _, there := range []bool{false, true} { // on the issue, on the pull request
		var comments []int64
		var denials []page.Denial
		for _, r := range all {
			if !v.inbox.IsAnswered(r.comment) && v.inbox.IsOnPull(r.comment) == there {
				comments, denials = append(comments, r.comment), append(denials, r.Denial)
			}
		}
		if len(comments) > 0 {
			_ = v.reply(ctx, comments, func(marker string) string { return page.RefusalReply(marker, v.language(), denials...) }) // it was told
		}
	}
}

// tellOpinion tells people what an agent has said about the run: in answer to
// the comment that asked for it, or where a form did, beside the comments.
func (v *voice) tellOpinion(ctx context.Context, said page.Opinion) {
	about := v.subject()
	text := func(marker string) string { return page.OpinionReply(marker, about.plan, about.run, said) }
	if id := said.About.Comment; id > 0 {
		_ = v.reply(ctx, []int64{id}, text) // it was told
		return
	}
	marker := page.OpinionMarker(said.About)
	if _, err := v.thread.Post(ctx, marker, text(marker), page.OpinionSince(said.About)); err != nil && !errors.Is(err, engine.ErrSteered) {
		v.warn(err)
	}
}

// obeyed adds the reaction to a comment whose command was carried out: soon or,
// for a command that lasts as long as the run, at the end of the run.
func (v *voice) obeyed(name string, comment int64) {
	lasting := name == "run" || name == "retry"
	if !lasting {
		v.outbox.sign(comment, github.Rocket)
	} else if !slices.Contains(v.unsettled, comment) {
		v.unsettled = append(v.unsettled, comment)
	}
}

// ended adds reactions to the comments whose command ends with the run.
func (v *voice) ended(status metadata.Status) {
	sign := github.Rocket
	if status == metadata.Failed || status == metadata.Cancelled || status == metadata.Interrupted {
		sign = github.ThumbsDown
	}
	for _, comment := range v.unsettled {
		v.outbox.sign(comment, sign)
	}
	v.unsettled = nil
}
