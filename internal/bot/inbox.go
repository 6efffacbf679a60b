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
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/review"
	"github.com/reprise-ci/reprise/internal/trigger"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// inbox has the comments on the issue and on the run's pull request, as
// commands that wait to be taken. The forge keeps them, so none is lost with a
// job; the record's cursor says which were taken.
type inbox struct {
	*place
	warn func(error) // tells of what could not be read

	// mu guards all that follows: the comments are looked at while an agent works.
	mu       sync.Mutex
	since    time.Time // comments before are of no interest
	looked   time.Time // when the list was last read
	list     []github.Comment
	pull     *github.Thread // of the run's pull request; nil: there is none yet
	onPull   map[int64]bool // comments that stand there
	whole    bool           // the list has them
	reviews  *review.Pull   // of the same pull request
	given    []review.Review
	reviewed map[int64]bool // reviews that this process is done with
	done     map[int64]bool // refused or answered by this process
	answered map[int64]bool // by any process
	heard    map[int64]heard
	queueErr error           // why the comments could not be read
	said     map[int64]heard // the same of reviews
	roles    map[asker]github.Role
	small    map[string]smallRole // by login, in small letters
}

// heard is the text of a comment, and what it asks for.
type heard struct {
	text  string
	asked command.Parsed
}

// lookBack is how long before the event of this job a command may have been
// given whose own job GitHub has dropped. It counts while there is no run yet,
// whose record would say which commands were taken.
const lookBack = 10 * time.Minute

// listenEvery is the time between two looks while there is work to do. A run
// looks in any case before it ends.
const listenEvery = 20 * time.Second

func newInbox(p *place, warn func(error)) *inbox {
	i := &inbox{place: p, warn: warn, pull: p.pull, done: map[int64]bool{}, heard: map[int64]heard{}, said: map[int64]heard{}, onPull: map[int64]bool{}, reviewed: map[int64]bool{}, roles: map[asker]github.Role{}, small: map[string]smallRole{}}
	if !p.t.At.IsZero() {
		i.since = p.t.At.Add(-lookBack)
	}
	if c := p.t.Comment; c != nil {
		i.onPull[c.ID] = p.pull != nil
		if p.t.Text == c.Body { // else something besides the comment says what to do
			i.heard[c.ID] = heard{c.Body, p.t.Requested}
		}
	}
	return i
}

// follow has the comments on the pull request of the run read, too; 0: there is
// none yet.
func (i *inbox) follow(number int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.reviews == nil && number > 0 {
		i.pull = i.gh.Thread(i.owner, i.name, number)
		i.reviews = &review.Pull{GitHub: i.gh, Owner: i.owner, Name: i.name, Number: number}
	}
}

// isOnPull reports whether a comment stands on the pull request.
func (i *inbox) isOnPull(id int64) bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.onPull[id]
}

// threadOf is the conversation that a comment stands in.
func (i *inbox) threadOf(id int64) *github.Thread {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.onPull[id] {
		return i.pull
	}
	return i.thread
}

// waiting is a command that somebody has given.
type waiting struct {
	comment github.Comment
	asked   command.Parsed
	onPull  bool           // it stands on the pull request
	review  *review.Review // if it is one; the comment is then as if it had been written there
}

func (c waiting) asker() asker { return askerOf(c.comment.Author.Login, c.comment.ID, c.review) }

// look reads the comments, unless that was a moment ago. A failure is no more
// than a warning, because the next look may succeed.
func (i *inbox) look(ctx context.Context, now bool) {
	if err := i.read(ctx, now); err != nil && ctx.Err() == nil {
		i.warn(err)
	}
}

// read reads the comments, and keeps in queueErr why they could not be read.
func (i *inbox) read(ctx context.Context, now bool) error {
	i.mu.Lock()
	since, at := i.since, i.env.Now()
	soon := !now && at.Sub(i.looked) < i.listen()
	pull, reviews := i.pull, i.reviews
	i.mu.Unlock()
	if soon {
		return nil
	}
	list, changed, err := i.thread.Comments(ctx, since)
	var there []github.Comment
	if pull != nil && pull != i.thread && err == nil {
		var more bool
		there, more, err = pull.Comments(ctx, since)
		list, changed = append(list, there...), changed || more
	}
	var given []review.Review
	if reviews != nil && err == nil {
		given, err = readReviews(ctx, reviews)
	}
	if err != nil && ctx.Err() != nil {
		return err // nobody wants to know any more
	}
	answered, unknown := i.answersIn(ctx, list)
	if err == nil {
		err = unknown
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	i.looked = at
	i.queueErr = err
	if err == nil {
		i.given = given
	}
	if err == nil && changed {
		i.list, i.answered, i.whole = list, answered, reviews != nil
		for _, c := range there {
			i.onPull[c.ID] = true
		}
	}
	return err
}

// answersIn are the comments that reprise has answered. Before there is a run,
// only such an answer shows that a command was refused, and must not be obeyed
// when the next one is given. A marker alone proves nothing: anybody can write
// one.
func (i *inbox) answersIn(ctx context.Context, list []github.Comment) (map[int64]bool, error) {
	out := map[int64]bool{}
	for _, c := range list {
		to := page.AnswersTo(c.Body)
		if len(to) == 0 {
			continue
		}
		me, err := i.gh.Self(ctx)
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

// reach extends the queue back to the beginning of a run, so that commands that
// no job has taken since are not lost.
func (i *inbox) reach(ctx context.Context, run metadata.Run) error {
	i.mu.Lock()
	since := run.CreatedAt.Add(-lookBack)
	far, part := since.Before(i.since), i.reviews != nil && !i.whole
	if far {
		i.since = since
	}
	i.mu.Unlock()
	if !far && !part {
		return nil
	}
	return i.read(ctx, true)
}

// forgotten reports whether a comment is older than the event of this job and
// was not accepted then: its own job refused it, or reprise was not set up yet.
func (i *inbox) forgotten(c github.Comment) bool {
	if i.t.Comment != nil && c.ID == i.t.Comment.ID {
		return false
	}
	if c.Eyes == 0 && c.Confused > 0 {
		return true // its author did not have the right then, and having it now changes nothing
	}
	at := i.t.At
	return !at.IsZero() && !c.CreatedAt.IsZero() && c.CreatedAt.Before(at.Add(-lookBack)) && (c.Eyes == 0 || c.Confused > 0)
}

// pending gives the commands that were not taken yet, oldest first. Of the
// comment that is the event, the text in the event counts, whatever it says by
// now.
func (i *inbox) pending(run metadata.Run) []waiting {
	i.mu.Lock()
	defer i.mu.Unlock()
	list := slices.Clone(i.list)
	if c := i.t.Comment; c != nil {
		if at := slices.IndexFunc(list, func(o github.Comment) bool { return o.ID == c.ID }); at >= 0 {
			list[at].Body = c.Body
		} else {
			list = append(list, *c) // lists lag behind
		}
	}
	slices.SortFunc(list, func(a, b github.Comment) int { return cmp.Compare(a.ID, b.ID) })
	var out []waiting
	for _, c := range list {
		mine := i.t.Comment != nil && c.ID == i.t.Comment.ID // when it is started again, the command counts again
		if i.taken(run, c.ID) || i.done[c.ID] || i.answered[c.ID] && !mine || strings.Contains(c.Body, trigger.OurMarker) || i.foreign(c) || i.forgotten(c) {
			continue
		}
		if asked := i.parse(c); asked.Outcome != command.Ignored {
			out = append(out, waiting{comment: c, asked: asked, onPull: i.onPull[c.ID]})
		}
	}
	return inOrder(out, i.pendingReviews(run))
}

// taken reports whether the record says that a comment was taken. The caller
// holds mu.
func (i *inbox) taken(run metadata.Run, id int64) bool {
	if i.onPull[id] {
		return phases.TakenOnPull(run, id)
	}
	return phases.Taken(run, id)
}

// parse gives what a comment asks for, without secrets. Reading a long text takes
// long, so each is read once. The caller holds mu.
func (i *inbox) parse(c github.Comment) command.Parsed {
	was, ok := i.heard[c.ID]
	if !ok || was.text != c.Body {
		was = heard{c.Body, command.Parse(i.env.Finder().Mask(c.Body), false)}
		i.heard[c.ID] = was
	}
	return was.asked
}

// foreign reports whether a comment was written by a program whose commands do
// not count.
func (i *inbox) foreign(c github.Comment) bool {
	machine := c.Author.Type == "Bot" || strings.HasSuffix(c.Author.Login, "[bot]")
	return machine && !containsFold(i.in.Bots, c.Author.Login)
}

// past gives the comments that no job will take any more.
func (i *inbox) past(run metadata.Run) []waiting {
	i.mu.Lock()
	defer i.mu.Unlock()
	var out []waiting
	for _, c := range i.list {
		if i.taken(run, c.ID) && !strings.Contains(c.Body, trigger.OurMarker) && !i.foreign(c) {
			out = append(out, waiting{comment: c, asked: i.parse(c), onPull: i.onPull[c.ID]})
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

// settle says that this process is done with a comment.
func (i *inbox) settle(id int64) { i.settleOf(waiting{comment: github.Comment{ID: id}}) }

// settleOf says the same of a comment or a review.
func (i *inbox) settleOf(c waiting) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if c.review != nil {
		i.reviewed[c.review.ID] = true
		return
	}
	i.done[c.comment.ID] = true
}

// err is why the comments could not be read, or nil.
func (i *inbox) err() error {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.queueErr
}

// postpone notes why a command, and all commands after it, have to wait.
func (i *inbox) postpone(why error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.queueErr = why
}

// start is the time before which no comment is of interest.
func (i *inbox) start() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.since
}

// overdue reports whether a comment is so old that a job of its own would have
// answered it.
func (i *inbox) overdue(c github.Comment) bool { return i.env.Now().Sub(c.CreatedAt) > lookBack }

// newest is the newest comment on the issue, or "".
func (i *inbox) newest() string {
	i.mu.Lock()
	defer i.mu.Unlock()
	id := int64(0)
	for _, c := range i.list {
		if !i.onPull[c.ID] {
			id = max(id, c.ID)
		}
	}
	if id == 0 {
		return ""
	}
	return strconv.FormatInt(id, 10)
}

// listen is how long to wait between two looks; REPRISE_LISTEN_EVERY has another
// time.
func (i *inbox) listen() time.Duration {
	if d, err := time.ParseDuration(i.env.Getenv("REPRISE_LISTEN_EVERY")); err == nil && d > 0 {
		return d
	}
	return listenEvery
}
