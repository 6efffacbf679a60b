package bot

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
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// inboxSource is where an inbox reads, and what for.
type inboxSource struct {
	Env     environ.Env
	In      Inputs
	Trigger trigger // what started this job
	GitHub  github.Repo
	Issue   *github.Thread // of the issue
	Pull    *github.Thread // of the pull request that the event is about; nil: it is about the issue
	Warn    func(error)    // tells of what could not be read
}

// inbox has the comments on the issue and on the run's pull request, as commands that wait to be taken. The forge
// keeps them, so none is lost with a job; the record's cursor says which were taken.
type inbox struct {
	from inboxSource

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
	reviewed map[int64]bool            // reviews that are not for this process, or that it is done with
	done     map[int64]bool            // refused or answered by this process
	answered map[int64]bool            // by any process
	heard    map[string]command.Parsed // what texts ask for
	signs    map[int64]seen            // on comments
	queueErr error                     // why the comments could not be read
	roles    map[string]seenRole       // by login in small letters
	run      metadata.Run              // as it was last asked about; zero: there is none yet
}

// lookBack is how long before the event of this job a command may have been given whose own job GitHub has dropped.
// It counts while there is no run yet, whose record would say which commands were taken.
const lookBack = 10 * time.Minute

// listenEvery is the time between two looks while there is work to do.
const listenEvery = 20 * time.Second

// newInbox makes the inbox of a job. Nothing is read yet.
func newInbox(from inboxSource) *inbox {
	i := &inbox{from: from, issue: from.Issue, pull: from.Pull, done: map[int64]bool{}, heard: map[string]command.Parsed{}, signs: map[int64]seen{}, onPull: map[int64]bool{}, reviewed: map[int64]bool{}, roles: map[string]seenRole{}}
	if !from.Trigger.At.IsZero() {
		i.since = from.Trigger.At.Add(-lookBack)
	}
	if c := from.Trigger.Comment; c != nil {
		i.onPull[c.ID] = from.Pull != nil
	}
	return i
}

// follow has the comments on the pull request of the run read, too; 0: there is none yet.
func (i *inbox) follow(number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reviews == nil && number > 0 {
		i.pull = i.from.GitHub.Thread(number)
		i.reviews = &PullOfRun{Thread: i.pull}
	}
}

// turnTo has the comments of another issue read: the one that a command on a pull request turned out to be about.
func (i *inbox) turnTo(issue *github.Thread) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.issue = issue
}

// threadOf is the conversation that a comment stands in.
func (i *inbox) threadOf(id int64) *github.Thread {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.onPull[id] {
		return i.pull
	}
	return i.issue
}

// waiting is a command that somebody has given.
type waiting struct {
	Comment github.Comment
	Parsed  command.Parsed
	Signs   signs   // what we have said of it
	OnPull  bool    // it stands on the pull request
	Review  *Review // if it is one; the comment is then as if it had been written there
}

// look reads the comments, unless that was a moment ago.
func (i *inbox) look(ctx context.Context, now bool) {
	if err := i.Read(ctx, now); err != nil && ctx.Err() == nil {
		i.from.Warn(err)
	}
}

// Read reads the comments, and keeps for Err why they could not be.
func (i *inbox) Read(ctx context.Context, now bool) error {
	i.mu.Lock()
	since, at := i.since, i.from.Env.Now()
	soon := !now && at.Sub(i.looked) < i.listen()
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
func (i *inbox) unsure(list []github.Comment, answered map[int64]bool) []github.Comment {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(list), func(c github.Comment) bool {
		_, asked := i.signsOn(c)
		return i.mine(c) || i.done[c.ID] || answered[c.ID] || i.foreign(c) || asked ||
			i.taken(i.run, c.ID) || i.parse(c).Outcome == command.Ignored
	})
}

// Signs finds out which reactions of our own a comment has, unless that would take too many requests.
func (i *inbox) Signs(ctx context.Context, c github.Comment) signs {
	i.learn(ctx, c)
	i.mu.Lock()
	defer i.mu.Unlock()
	s, _ := i.signsOn(c)
	return s
}

// mine reports whether a comment is the event of this job.
func (i *inbox) mine(c github.Comment) bool { return c.ID == i.from.Trigger.said() }

// answersIn are the comments that reprise has answered. Before there is a run, only such an answer shows that a
// command was refused, and must not be obeyed when the next one is given. A marker alone proves nothing: anybody can
// write one.
func (i *inbox) answersIn(ctx context.Context, list []github.Comment) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, c := range list {
		to := command.AnswersTo(c.Body)
		if id := page.AnswersToReview(c.Body); id > 0 {
			to = append(to, -id) // they are counted apart
		}
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

// reach extends the queue back to the beginning of a run, so that commands that no job has taken since are not lost.
func (i *inbox) reach(ctx context.Context, run metadata.Run) error {
	i.mu.Lock()
	i.run = run
	since := run.CreatedAt.Add(-lookBack)
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
func (i *inbox) forgotten(c github.Comment) bool {
	s, _ := i.signsOn(c)
	if i.mine(c) {
		return false
	}
	if s.Confused && !s.Eyes || s.Settled && i.run.IssueNumber == "" {
		return true // its author did not have the right then, and having it now changes nothing; or its run is gone
	}
	at := i.from.Trigger.At
	return s.Known && !at.IsZero() && !c.CreatedAt.IsZero() && c.CreatedAt.Before(at.Add(-lookBack)) && (!s.Eyes || s.Confused)
}

// pending gives the commands that were not taken yet, oldest first. Of the comment that is the event, the text in the
// event counts, whatever it says by now.
func (i *inbox) pending(run metadata.Run) []waiting {
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
	var out []waiting
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
			out = append(out, waiting{Comment: c, Parsed: asked, Signs: signs, OnPull: i.onPull[c.ID]})
		}
	}
	return byTime(out, i.pendingReviews(run))
}

// taken reports whether the record says that a comment was taken. The caller holds mu.
func (i *inbox) taken(run metadata.Run, id int64) bool {
	if i.onPull[id] {
		return phases.TakenOnPull(run, id)
	}
	return phases.Taken(run, id)
}

// hear reads a text that has a key, once, however often the queue is looked at: reading takes long. The caller holds mu.
func (i *inbox) hear(key string, read func() command.Parsed) command.Parsed {
	if _, ok := i.heard[key]; !ok {
		i.heard[key] = read()
	}
	return i.heard[key]
}

// parse gives what a comment asks for, without secrets. The caller holds mu.
func (i *inbox) parse(c github.Comment) command.Parsed {
	return i.hear("comment "+c.Body, func() command.Parsed {
		return command.ParseAddressed(i.from.Env.Finder().Mask(c.Body), i.from.In.Addressed)
	})
}

// foreign reports whether a comment was written by a program whose commands do not count.
func (i *inbox) foreign(c github.Comment) bool {
	return c.Author.IsBot() && !containsFold(i.from.In.Bots, c.Author.Login)
}

// past gives the comments that no job will take any more.
func (i *inbox) past(run metadata.Run) (out []waiting) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, c := range i.list {
		if i.taken(run, c.ID) && !i.foreign(c) {
			out = append(out, waiting{Comment: c, Parsed: i.parse(c), OnPull: i.onPull[c.ID]})
		}
	}
	return out
}

// isAnswered reports whether there is an answer of our own to a comment.
func (i *inbox) isAnswered(id int64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.answered[id]
}

// markDone says that this process is done with a comment or a review.
func (i *inbox) markDone(c waiting) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if c.Review != nil {
		i.reviewed[c.Review.ID] = true
		return
	}
	i.done[c.Comment.ID] = true
}

// Err is why the comments could not be read, or nil.
func (i *inbox) Err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.queueErr
}

// leaveReviews leaves the reviews that are there by now to the jobs that they have started, which may have refused them.
func (i *inbox) leaveReviews() {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, r := range i.given {
		i.reviewed[r.ID] = i.reviewed[r.ID] || i.from.Trigger.Review == nil || i.from.Trigger.Review.ID != r.ID
	}
}

// postpone notes why a command, and all commands after it, have to wait.
func (i *inbox) postpone(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queueErr = why
}

// Start is the time before which no comment is of interest.
func (i *inbox) Start() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.since
}

// overdue reports whether a comment is so old that a job of its own would have answered it.
func (i *inbox) overdue(c github.Comment) bool { return i.from.Env.Now().Sub(c.CreatedAt) > lookBack }

// newest is the newest comment on the issue from before a time, or of all if that is zero; "" if there is none.
func (i *inbox) newest(before time.Time) (newest string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := int64(0)
	for _, c := range i.list {
		if c.ID > id && !i.onPull[c.ID] && (before.IsZero() || c.CreatedAt.Before(before)) {
			id, newest = c.ID, strconv.FormatInt(c.ID, 10)
		}
	}
	return newest
}

// listen is how long to wait between two looks; REPRISE_LISTEN_EVERY has another time.
func (i *inbox) listen() time.Duration {
	if d, err := time.ParseDuration(i.from.Env.Getenv("REPRISE_LISTEN_EVERY")); err == nil && d > 0 {
		return d
	}
	return listenEvery
}
