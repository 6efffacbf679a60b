package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// queue is the comments of the issue as commands that wait to be taken. The
// forge keeps them, so none is lost with a job; the record's cursor says which
// were taken.
type queue struct {
	since  time.Time // comments before are of no interest
	looked time.Time // when the list was last read
	list   []github.Comment
	done   map[int64]bool // refused or answered by this process

	answered map[int64]bool // by any process
	heard    map[int64]heard
}

// heard is the text of a comment, and what it asks for.
type heard struct {
	text  string
	asked slashParsed
}

// lookBack is how far before the event that started this job a command may
// have been given, and its own job dropped, without a run that knows of it.
const lookBack = 10 * time.Minute

// listenEvery is the time between two looks while there is work to do. A run
// looks in any case before it ends.
const listenEvery = 20 * time.Second

func newQueue(t trigger) queue {
	q := queue{done: map[int64]bool{}, heard: map[int64]heard{}}
	if !t.at.IsZero() {
		q.since = t.at.Add(-lookBack)
	}
	return q
}

// waiting is a command that somebody has given.
type waiting struct {
	comment github.Comment
	asked   slashParsed
}

func (c waiting) asker() asker { return asker{c.comment.Author.Login, c.comment.ID} }

// look reads the comments, unless that was a moment ago. What cannot be read
// is worth a warning: the next look may.
func (b *bot) look(ctx context.Context, now bool) {
	if err := b.read(ctx, now); err != nil && ctx.Err() == nil {
		b.warn(err)
	}
}

// read reads the comments, and keeps in deaf why they could not be read.
func (b *bot) read(ctx context.Context, now bool) error {
	b.mu.Lock()
	since, at := b.queue.since, b.env.now()
	soon := !now && at.Sub(b.queue.looked) < b.listen()
	b.mu.Unlock()
	if soon {
		return nil
	}
	list, changed, err := b.thread.Comments(ctx, since)
	if err != nil && ctx.Err() != nil {
		return err // nobody wants to know any more
	}
	answered, unknown := b.answered(ctx, list)
	if err == nil {
		err = unknown
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.looked = at
	b.deaf = err
	if err == nil && changed {
		b.queue.list, b.queue.answered = list, answered
	}
	return err
}

// answered are the comments that have an answer of our own. Before there is a
// run, only that says that a command was refused; it must not be obeyed when
// somebody gives the next one. A marker alone proves nothing: anybody can write
// one.
func (b *bot) answered(ctx context.Context, list []github.Comment) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, c := range list {
		to := answersTo(c.Body)
		if len(to) == 0 {
			continue
		}
		me, err := b.gh.Self(ctx)
		if err != nil {
			return nil, fmt.Errorf("which comments are answers of our own is not known: %w", err)
		}
		if me.ID == c.Author.ID && strings.EqualFold(me.Login, c.Author.Login) {
			for _, id := range to {
				out[id] = true
			}
		}
	}
	return out, nil
}

// reach makes the queue reach back to the beginning of a run: what was given
// since, and no job has taken, is not lost.
func (b *bot) reach(ctx context.Context, run metadata.Run) error {
	b.mu.Lock()
	since := run.CreatedAt.Add(-lookBack)
	far := since.Before(b.queue.since)
	if far {
		b.queue.since = since
	}
	b.mu.Unlock()
	if !far {
		return nil
	}
	return b.read(ctx, true)
}

// forgotten reports whether a comment is from before what this job was started
// for, and nobody has accepted it: its own job has refused it, or there was no
// reprise yet to listen.
func (b *bot) forgotten(c github.Comment) bool {
	if b.t.comment != nil && c.ID == b.t.comment.ID {
		return false
	}
	if c.Eyes == 0 && c.Confused > 0 {
		return true // whoever gave it had not the right; that they have it now changes nothing
	}
	at := b.t.at
	return !at.IsZero() && !c.CreatedAt.IsZero() && c.CreatedAt.Before(at.Add(-lookBack)) && (c.Eyes == 0 || c.Confused > 0)
}

// pending gives the commands that were not taken yet, oldest first. It is the
// comment of the event whose text counts, not what it may say by now.
func (b *bot) pending(run metadata.Run) []waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	list := slices.Clone(b.queue.list)
	if c := b.t.comment; c != nil {
		if i := slices.IndexFunc(list, func(o github.Comment) bool { return o.ID == c.ID }); i >= 0 {
			list[i].Body = c.Body
		} else {
			list = append(list, *c) // lists lag behind
		}
	}
	slices.SortFunc(list, func(a, b github.Comment) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	var out []waiting
	for _, c := range list {
		mine := b.t.comment != nil && c.ID == b.t.comment.ID // started again, it is asked again
		if phases.Taken(run, c.ID) || b.queue.done[c.ID] || b.queue.answered[c.ID] && !mine || strings.Contains(c.Body, ourMarker) || b.foreign(c) || b.forgotten(c) {
			continue
		}
		if asked := b.heard(c); asked.Outcome != slashIgnored {
			out = append(out, waiting{c, asked})
		}
	}
	return out
}

// heard gives what a comment asks for, as it may be kept with the run. That
// takes long for a long text, so each is read once, however often the queue is
// looked at. The caller holds mu.
func (b *bot) heard(c github.Comment) slashParsed {
	was, ok := b.queue.heard[c.ID]
	if !ok || was.text != c.Body {
		was = heard{c.Body, parseSlash(b.env.finder().Mask(c.Body), false)}
		b.queue.heard[c.ID] = was
	}
	return was.asked
}

// foreign reports whether a comment is by a program that is not listened to.
func (b *bot) foreign(c github.Comment) bool {
	machine := c.Author.Type == "Bot" || strings.HasSuffix(c.Author.Login, "[bot]")
	return machine && !containsFold(b.in.bots, c.Author.Login)
}

// past gives the comments that no job will take any more.
func (b *bot) past(run metadata.Run) []waiting {
	b.mu.Lock()
	defer b.mu.Unlock()
	var out []waiting
	for _, c := range b.queue.list {
		if phases.Taken(run, c.ID) && !strings.Contains(c.Body, ourMarker) && !b.foreign(c) {
			out = append(out, waiting{c, b.heard(c)})
		}
	}
	return out
}

// isAnswered reports whether there is an answer of our own to a comment.
func (b *bot) isAnswered(id int64) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.queue.answered[id]
}

// settled says that this process is done with a comment.
func (b *bot) settled(id int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.queue.done[id] = true
}

// Urgent looks at the comments while an agent works, until one of them makes
// that work pointless. It has the time to tell people what became of those that
// were taken before.
func (b *bot) Urgent(ctx context.Context) bool {
	run := b.w.run
	for {
		if sleep(ctx, b.listen()) != nil {
			return false
		}
		b.look(ctx, true)
		for _, c := range b.pending(run) {
			if b.stops(ctx, c) {
				return true
			}
		}
		b.send(ctx)
	}
}

// listen is how long to wait between two looks; REPRISE_LISTEN_EVERY has another
// time.
func (b *bot) listen() time.Duration {
	if d, err := time.ParseDuration(b.env.getenv("REPRISE_LISTEN_EVERY")); err == nil && d > 0 {
		return d
	}
	return listenEvery
}

// stops reports whether a command ends the step under way. One that will be
// refused does not.
func (b *bot) stops(ctx context.Context, c waiting) bool {
	cmd := c.asked.Command
	if c.asked.Outcome != slashAsked || c.comment.Edited() || cmd.DryRun || cmd.Name != "cancel" && cmd.Name != "rollback" {
		return false
	}
	if b.may(ctx, c.asker(), c.asked.role()) != nil {
		return false
	}
	o := order{slashCommand: cmd, by: c.comment.Author.Login, at: b.env.now()}
	_, err := o.work(b.w.plan, b.w.run, b.holding)
	return err == nil
}
