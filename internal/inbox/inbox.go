// Package inbox has what people have asked of a run: the comments on its issue and
// its pull request and the reviews there, as commands in their order, and who of
// them has the right. Its door is Inbox; it may be used by several goroutines.
package inbox

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Source is where an inbox reads, and what for.
type Source struct {
	Env     environ.Env
	In      Inputs
	Trigger Trigger // what started this job
	GitHub  github.Repo
	Issue   *github.Thread // of the issue
	Pull    *github.Thread // of the pull request that the event is about; nil: it is about the issue
	Warn    func(error)    // tells of what could not be read
}

// Inbox has the comments on the issue and on the run's pull request, as commands that wait to be taken. The forge
// keeps them, so none is lost with a job; the record's cursor says which were taken.
type Inbox struct {
	from Source

	// mu guards all that follows: the comments are looked at while an agent works.
	mu       sync.Mutex
	since    time.Time // comments before are of no interest
	looked   time.Time // when the list was last read
	list     []github.Comment
	issue    *github.Thread // whose issue it is
	pull     *github.Thread // of the run's pull request; nil: there is none yet
	onPull   map[int64]bool // comments that stand there
	whole    bool           // the list has them
	reviews  *PullOfRun     // of the same pull request
	given    []Review
	reviewed map[int64]bool            // reviews that this process is done with
	done     map[int64]bool            // refused or answered by this process
	answered map[int64]bool            // by any process
	heard    map[string]command.Parsed // what texts ask for
	signs    map[int64]seen            // on comments
	queueErr error                     // why the comments could not be read
	roles    map[string]seenRole       // by login in small letters
	run      metadata.Run              // as it was last asked about; zero: there is none yet
}

// LookBack is how long before the event of this job a command may have been given whose own job GitHub has dropped.
// It counts while there is no run yet, whose record would say which commands were taken.
const LookBack = 10 * time.Minute

// listenEvery is the time between two looks while there is work to do.
const listenEvery = 20 * time.Second

// New makes the inbox of a job. Nothing is read yet.
func New(from Source) *Inbox {
	i := &Inbox{from: from, issue: from.Issue, pull: from.Pull, done: map[int64]bool{}, heard: map[string]command.Parsed{}, signs: map[int64]seen{}, onPull: map[int64]bool{}, reviewed: map[int64]bool{}, roles: map[string]seenRole{}}
	if !from.Trigger.At.IsZero() {
		i.since = from.Trigger.At.Add(-LookBack)
	}
	if c := from.Trigger.Comment; c != nil {
		i.onPull[c.ID] = from.Pull != nil
	}
	return i
}

// Follow has the comments on the pull request of the run read, too; 0: there is none yet.
func (i *Inbox) Follow(number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reviews == nil && number > 0 {
		i.pull = i.from.GitHub.Thread(number)
		i.reviews = &PullOfRun{Thread: i.pull}
	}
}

// TurnTo has the comments of another issue read: the one that a command on a pull request turned out to be about.
func (i *Inbox) TurnTo(issue *github.Thread) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.issue = issue
}

// ThreadOf is the conversation that a comment stands in.
func (i *Inbox) ThreadOf(id int64) *github.Thread {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.onPull[id] {
		return i.pull
	}
	return i.issue
}

// Waiting is a command that somebody has given.
type Waiting struct {
	Comment github.Comment
	Parsed  command.Parsed
	Signs   Signs   // what we have said of it
	OnPull  bool    // it stands on the pull request
	Review  *Review // if it is one; the comment is then as if it had been written there
}

// Look reads the comments, unless that was a moment ago.
func (i *Inbox) Look(ctx context.Context, now bool) {
	if err := i.Read(ctx, now); err != nil && ctx.Err() == nil {
		i.from.Warn(err)
	}
}

// Read reads the comments, and keeps for Err why they could not be.
func (i *Inbox) Read(ctx context.Context, now bool) error {
	i.mu.Lock()
	since, at := i.since, i.from.Env.Now()
	soon := !now && at.Sub(i.looked) < i.Listen()
	issue, pull, reviews := i.issue, i.pull, i.reviews
	i.mu.Unlock()
	if soon {
		return nil
	}
	list, changed, err := issue.Comments(ctx, since)
	var there []github.Comment
	if pull != nil && pull != issue && err == nil {
		var more bool
		there, more, err = pull.Comments(ctx, since)
		list, changed = append(list, there...), changed || more
	}
	var given []Review
	if reviews != nil && err == nil {
		// A forge or token that does not show them has none, unless the job is for one: what that says of lines must not be lost.
		given, err = reviews.Reviews(ctx)
		if i.from.Trigger.Review == nil && github.IsKind(err, github.NotFound, github.Gone, github.Forbidden) {
			given, err = nil, nil
		}
	}
	if err != nil && ctx.Err() != nil {
		return err // nobody wants to know any more
	}
	answered, unknown := i.answersIn(ctx, list)
	if err == nil {
		err = unknown
	}
	i.mu.Lock()
	for _, c := range there {
		i.onPull[c.ID] = true
	}
	i.mu.Unlock()
	if err == nil {
		i.learn(ctx, i.unsure(list, answered)...) // before anybody takes one of them
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.looked, i.queueErr = at, err
	if err == nil {
		i.given = given
	}
	if err == nil && changed {
		i.list, i.answered, i.whole = list, answered, reviews != nil
	}
	return err
}

// unsure are the comments that may be taken next, if only it is known whose reactions they have.
func (i *Inbox) unsure(list []github.Comment, answered map[int64]bool) []github.Comment {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(list), func(c github.Comment) bool {
		_, asked := i.signsOn(c)
		return i.mine(c) || i.done[c.ID] || answered[c.ID] || i.foreign(c) || asked ||
			i.taken(i.run, c.ID) || i.parse(c).Outcome == command.Ignored
	})
}

// Signs finds out which reactions of our own a comment has, unless that would take too many requests.
func (i *Inbox) Signs(ctx context.Context, c github.Comment) Signs {
	i.learn(ctx, c)
	i.mu.Lock()
	defer i.mu.Unlock()
	s, _ := i.signsOn(c)
	return s
}

// mine reports whether a comment is the event of this job.
func (i *Inbox) mine(c github.Comment) bool { return c.ID == i.from.Trigger.Said() }

// answersIn are the comments that reprise has answered. Before there is a run, only such an answer shows that a
// command was refused, and must not be obeyed when the next one is given. A marker alone proves nothing: anybody can
// write one.
func (i *Inbox) answersIn(ctx context.Context, list []github.Comment) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, c := range list {
		to := command.AnswersTo(c.Body)
		if len(to) == 0 {
			continue
		}
		me, err := i.from.GitHub.Self(ctx)
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

// Reach extends the queue back to the beginning of a run, so that commands that no job has taken since are not lost.
func (i *Inbox) Reach(ctx context.Context, run metadata.Run) error {
	i.mu.Lock()
	i.run = run
	since := run.CreatedAt.Add(-LookBack)
	far, part := since.Before(i.since), i.reviews != nil && !i.whole
	if far {
		i.since = since
	}
	i.mu.Unlock()
	if !far && !part {
		return nil
	}
	return i.Read(ctx, true)
}

// forgotten reports whether a comment is older than the event of this job and
// was not accepted then: its own job refused it, or reprise was not set up yet. One of which
// that cannot be found out counts, if its author has the right now. The caller holds mu.
func (i *Inbox) forgotten(c github.Comment) bool {
	s, _ := i.signsOn(c)
	if i.mine(c) {
		return false
	}
	if s.Confused && !s.Eyes {
		return true // its author did not have the right then, and having it now changes nothing
	}
	at := i.from.Trigger.At
	return s.Known && !at.IsZero() && !c.CreatedAt.IsZero() && c.CreatedAt.Before(at.Add(-LookBack)) && (!s.Eyes || s.Confused)
}

// Pending gives the commands that were not taken yet, oldest first. Of the comment that is the event, the text in the
// event counts, whatever it says by now.
func (i *Inbox) Pending(run metadata.Run) []Waiting {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.run = run
	list := slices.Clone(i.list)
	if c := i.from.Trigger.Comment; c != nil {
		if at := slices.IndexFunc(list, func(o github.Comment) bool { return o.ID == c.ID }); at >= 0 {
			list[at].Body = c.Body
		} else {
			list = append(list, *c) // lists lag behind
		}
	}
	slices.SortFunc(list, func(a, b github.Comment) int { return cmp.Compare(a.ID, b.ID) })
	var out []Waiting
	for _, c := range list {
		mine := i.mine(c) // when it is started again, the command counts again
		// It may have been passed over: given during the run, and never decided upon, as a newer one was taken before. The
		// forge tells no parts of a second.
		passed := mine && !c.CreatedAt.Before(run.CreatedAt.Truncate(time.Second)) &&
			!slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Comment == c.ID })
		if i.taken(run, c.ID) && !passed || i.done[c.ID] || i.answered[c.ID] && !mine || i.foreign(c) || i.forgotten(c) {
			continue
		}
		if asked := i.parse(c); asked.Outcome != command.Ignored {
			signs, _ := i.signsOn(c)
			out = append(out, Waiting{Comment: c, Parsed: asked, Signs: signs, OnPull: i.onPull[c.ID]})
		}
	}
	return inOrder(out, i.pendingReviews(run))
}

// taken reports whether the record says that a comment was taken. The caller holds mu.
func (i *Inbox) taken(run metadata.Run, id int64) bool {
	if i.onPull[id] {
		return phases.TakenOnPull(run, id)
	}
	return phases.Taken(run, id)
}

// hear reads a text that has a key, once, however often the queue is looked at: reading takes long. The caller holds mu.
func (i *Inbox) hear(key string, read func() command.Parsed) command.Parsed {
	if _, ok := i.heard[key]; !ok {
		i.heard[key] = read()
	}
	return i.heard[key]
}

// parse gives what a comment asks for, without secrets. The caller holds mu.
func (i *Inbox) parse(c github.Comment) command.Parsed {
	return i.hear("comment "+c.Body, func() command.Parsed {
		return command.ParseAddressed(i.from.Env.Finder().Mask(c.Body), i.from.In.Addressed)
	})
}

// foreign reports whether a comment was written by a program whose commands do not count.
func (i *Inbox) foreign(c github.Comment) bool {
	return c.Author.IsBot() && !containsFold(i.from.In.Bots, c.Author.Login)
}

// Past gives the comments that no job will take any more.
func (i *Inbox) Past(run metadata.Run) (out []Waiting) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.list {
		if i.taken(run, c.ID) && !i.foreign(c) {
			out = append(out, Waiting{Comment: c, Parsed: i.parse(c), OnPull: i.onPull[c.ID]})
		}
	}
	return out
}

// IsAnswered reports whether there is an answer of our own to a comment.
func (i *Inbox) IsAnswered(id int64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.answered[id]
}

// MarkDone says that this process is done with a comment or a review.
func (i *Inbox) MarkDone(c Waiting) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if c.Review != nil {
		i.reviewed[c.Review.ID] = true
		return
	}
	i.done[c.Comment.ID] = true
}

// Err is why the comments could not be read, or nil.
func (i *Inbox) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.queueErr
}

// Postpone notes why a command, and all commands after it, have to wait.
func (i *Inbox) Postpone(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queueErr = why
}

// Start is the time before which no comment is of interest.
func (i *Inbox) Start() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.since
}

// Overdue reports whether a comment is so old that a job of its own would have answered it.
func (i *Inbox) Overdue(c github.Comment) bool { return i.from.Env.Now().Sub(c.CreatedAt) > LookBack }

// Newest is the newest comment on the issue, or "".
func (i *Inbox) Newest() (newest string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := int64(0)
	for _, c := range i.list {
		if c.ID > id && !i.onPull[c.ID] {
			id, newest = c.ID, strconv.FormatInt(c.ID, 10)
		}
	}
	return newest
}

// Listen is how long to wait between two looks; REPRISE_LISTEN_EVERY has another time.
func (i *Inbox) Listen() time.Duration {
	if d, err := time.ParseDuration(i.from.Env.Getenv("REPRISE_LISTEN_EVERY")); err == nil && d > 0 {
		return d
	}
	return listenEvery
}
