package bot

import (
	"context"
	"slices"
	"sync"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
)

// outbox has what people are still to be told on the issue. Commands are carried out first: a forge limits comments
// and reactions, and somebody who wants a run to stop must not wait for them.
type outbox struct {
	// mu guards what follows: some of it is sent while an agent works.
	mu      sync.Mutex
	waiting []*message // by their kinds, and those of one kind as they came
}

// messageKind says what a message is. The first are sent first.
type messageKind int

const (
	aRefusal  messageKind = iota // of a command; many are answered in one comment
	anOpinion                    // of an agent that people have asked about the run
	anAnswer                     // to a question or a mistake
	aSign                        // a reaction
)

// message is one thing that people are to be told about a comment.
type message struct {
	kind     messageKind
	comment  int64
	denial   command.Denial
	opinion  page.Opinion
	question waiting
	sign     github.Reaction
}

// add adds a message; a sign only once.
func (o *outbox) add(m message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	same := func(w *message) bool { return w.kind == aSign && w.comment == m.comment && w.sign == m.sign }
	if m.kind == aSign && (m.comment == 0 || slices.ContainsFunc(o.waiting, same)) {
		return
	}
	at := slices.IndexFunc(o.waiting, func(w *message) bool { return w.kind > m.kind })
	if at < 0 {
		at = len(o.waiting)
	}
	o.waiting = slices.Insert(o.waiting, at, &m)
}

// clear forgets everything.
func (o *outbox) clear() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = nil
}

// refuse adds the answer to a command, and the sign for it; 0 is no comment.
func (o *outbox) refuse(comment int64, d command.Denial) {
	if comment > 0 && d.Why != whyNoMoreBots() { // programs might answer an answer
		o.add(message{kind: aRefusal, comment: comment, denial: d})
	}
	o.sign(comment, github.Confused)
}

// opinion adds what an agent said that a command asked, if one was asked.
func (o *outbox) opinion(d metadata.Decision) {
	if said, ok := page.OpinionOf(d); ok {
		o.add(message{kind: anOpinion, comment: d.Comment, opinion: said})
	}
}

// answer adds a question or a mistake.
func (o *outbox) answer(c waiting) {
	o.add(message{kind: anAnswer, comment: c.Comment.ID, question: c})
}

// sign adds a reaction to a comment, if there is one.
func (o *outbox) sign(comment int64, r github.Reaction) {
	o.add(message{kind: aSign, comment: comment, sign: r})
}

// reactions is how many are to be made.
func (o *outbox) reactions() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.waiting {
		if m.kind == aSign {
			n++
		}
	}
	return n
}

// mostTogether is how many refused commands are answered in one comment.
const mostTogether = 40

// first gives what is sent next: one message, or several refusals.
func (o *outbox) first() (next []*message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, m := range o.waiting {
		if len(next) > 0 && (m.kind != aRefusal || len(next) == mostTogether) {
			break
		}
		next = append(next, m)
	}
	return next
}

// sent takes out what was sent.
func (o *outbox) sent(all []*message) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.waiting = slices.DeleteFunc(o.waiting, func(m *message) bool { return slices.Contains(all, m) })
}

// keptFree is how many writes to the forge are left to the run itself, for its
// comment and its pull request, while it is at work.
const keptFree = 3

// send sends what can be sent without a wait.
func (v *voice) send(ctx context.Context) {
	v.sendAll(ctx, func() bool { return v.GitHub.FreeWrites() <= keptFree })
}

// sendAll sends everything, however long that takes, unless stop says before one that it is
// enough. What is cut off is kept.
func (v *voice) sendAll(ctx context.Context, stop func() bool) {
	for next := v.outbox.first(); len(next) > 0 && ctx.Err() == nil && !stop(); next = v.outbox.first() {
		switch m := next[0]; m.kind {
		case aRefusal:
			v.refuse(ctx, next...)
		case anOpinion:
			v.tellOpinion(ctx, m.opinion)
		case anAnswer:
			if v.react(ctx, m.comment, github.Eyes) || v.inbox.overdue(m.question.Comment) {
				_ = v.replyTo(ctx, m.question) // it was told
			}
		case aSign:
			v.react(ctx, m.comment, m.sign)
			if other := map[github.Reaction]github.Reaction{github.Rocket: github.ThumbsDown, github.ThumbsDown: github.Rocket}[m.sign]; v.restarted && other != "" && !v.In.Dry {
				v.warnOf(v.Issue.TakeBack(ctx, m.comment, other)) // the first start of the job may have said that
			}
		}
		if ctx.Err() == nil {
			v.outbox.sent(next)
		}
	}
}

// refuse answers commands that were refused, but for those that somebody else has answered meanwhile: those of each
// conversation in one comment.
func (v *voice) refuse(ctx context.Context, all ...*message) {
	_ = v.inbox.Read(ctx, true) // otherwise two jobs may tell it, which does no harm
	for len(all) > 0 {
		var comments []int64
		var denials []command.Denial
		here := v.inbox.threadOf(all[0].comment)
		all = slices.DeleteFunc(slices.Clone(all), func(m *message) bool {
			is := v.inbox.threadOf(m.comment) == here
			if is && !v.inbox.isAnswered(m.comment) {
				comments, denials = append(comments, m.comment), append(denials, m.denial)
			}
			return is
		})
		if len(comments) > 0 {
			_ = v.reply(ctx, comments, func(marker string) string { return page.RefusalReply(marker, v.language(), denials...) }) // it was told
		}
	}
}

// tellOpinion tells people what an agent has said about the run: in answer to
// the comment that asked for it, or where a form did, beside the comments.
func (v *voice) tellOpinion(ctx context.Context, said page.Opinion) {
	about := v.subject()
	text := func(marker string) string { return page.OpinionReply(marker, about.Course, said) }
	if id := said.About.Comment; id > 0 {
		_ = v.reply(ctx, []int64{id}, text) // it was told
		return
	}
	marker := page.OpinionMarker(said.About)
	_, err := v.Issue.Post(ctx, marker, text(marker), page.Since(said.About.At))
	v.untold(err)
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
