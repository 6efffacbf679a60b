package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// voice is what a job tells people: the live comment, answers, reactions and warnings.
type voice struct {
	*place
	inbox  *inbox
	outbox outbox
	engine atomic.Pointer[engine.Engine] // commits the lease on the run; nil: no run is open
	// unsettled are comments with a command that ends when the run does. Only the bot's goroutine uses it.
	unsettled []int64

	// mu guards what follows: comments are answered while an agent works.
	mu      sync.Mutex
	about   subject
	spoken  string // language of a run that is only asked about; empty if that is not known
	live    *github.Live
	shown   error            // why the live comment could not be shown the last time
	notices page.Notices     // what people are told besides the record
	noted   []command.Denial // what was refused while the job ran
}

// subject is the run that a job is about, as it was between the last two steps; zero if none is open.
type subject struct {
	phases.Course
	tip   func() string // the newest commit that has its record
	began bool          // it has a commit, or is rehearsed
	near  func(metadata.Run) metadata.Reason
}

// expired reports whether this process had taken the run and can no longer be sure to have it, for example because
// the machine was suspended for hours. It then says nothing, since another process may be working on the run.
func (v *voice) expired() bool {
	e := v.engine.Load()
	return e != nil && e.LeaseExpired()
}

// speakOf sets the run that messages are about from now on; nil: none.
func (v *voice) speakOf(w *workspace.Workspace) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.about = subject{}
	if w != nil {
		v.about = subject{phases.On(w.Plan, w.Run), func() string { return w.Repo.Record() }, v.began(w), w.SameFiles}
	}
}

// subject is the run that messages are about.
func (v *voice) subject() subject {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.about
}

// reply answers comments of one conversation, unless that was done already. An error has been told as a warning.
func (v *voice) reply(ctx context.Context, comments []int64, body func(marker string) string) error {
	if v.In.Dry || v.expired() {
		return nil
	}
	marker := command.ReplyMarker(comments...)
	_, err := v.inbox.threadOf(comments[0]).Post(ctx, marker, body(marker), v.inbox.Start())
	v.untold(err)
	return err
}

// untold tells why something could not be told, unless it is tried again.
func (v *voice) untold(err error) {
	if !errors.Is(err, engine.ErrSteered) {
		v.warnOf(err)
	}
}

// react puts a sign on a comment; fresh says that it was not there before, as far as is known.
func (v *voice) react(ctx context.Context, comment int64, r github.Reaction) (fresh bool) {
	if v.In.Dry || v.expired() {
		return true
	}
	fresh, err := v.Issue.React(ctx, comment, r)
	v.untold(err)
	return fresh || err != nil
}

// warn tells people of something that went wrong and does not stop the work.
func (v *voice) warn(err error) {
	text := prompts.Why(err).In(prompts.Words(v.language()))
	v.job.Warning(text)
	v.addWarning(text)
}

// addWarning shows a warning on the issue that is already in the log.
func (v *voice) addWarning(text string) {
	v.change(func(n *page.Notices) {
		if !slices.Contains(n.Warnings, text) {
			n.Warnings = append(n.Warnings, text)
		}
	})
}

// denials are what was refused while the job ran.
func (v *voice) denials() []command.Denial {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.noted)
}

// note notes something that was refused.
func (v *voice) note(d command.Denial) {
	v.locked(func() { v.noted = append(v.noted, d) })
}

// locked does something with what the lock guards.
func (v *voice) locked(do func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	do()
}

// change changes what people are told besides the record.
func (v *voice) change(what func(n *page.Notices)) {
	v.locked(func() { what(&v.notices) })
}

// language is that of the run, or of replies where there is none.
func (v *voice) language() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.speaks()
}

// speaks is language for a caller who holds mu.
func (v *voice) speaks() string {
	return cmp.Or(v.about.Run.Language, v.In.Language, v.spoken, "en")
}

// botView shows a run in the log of the job and in the live comment.
type botView struct {
	terminal.View
	voice *voice
}

// Report prints what happens, and brings the comment up to date between steps.
func (v botView) Report(e engine.Event) {
	v.View.Report(e)
	if e.Activity == nil {
		near := v.voice.subject().near(e.Run)
		v.voice.change(func(n *page.Notices) { n.Near = near })
	}
	if e.Decision != nil && !e.Decision.Final() {
		v.voice.show(e.Run)
	}
}

// showTime is the longest that the work waits for the live comment.
const showTime = 20 * time.Second

// show brings the live comment up to date, at most every ten seconds.
func (v *voice) show(run metadata.Run) { v.put(run, v.liveOf(run).Show) }

// flush is show without the ten seconds.
func (v *voice) flush(run metadata.Run) { v.put(run, v.liveOf(run).Flush) }

// liveOf gives the live comment of a run, which is found or made when it is first shown.
func (v *voice) liveOf(run metadata.Run) *github.Live {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live == nil {
		v.live = v.Issue.Live(page.MarkerOf("progress", run.IssueNumber), run.GitHubIntegration.ProgressCommentID)
	}
	return v.live
}

// put updates the live comment from a run. A failure is told once.
func (v *voice) put(run metadata.Run, how func(ctx context.Context, body string) error) {
	if v.expired() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), showTime)
	defer stop()
	err := how(ctx, page.LiveComment(v.subject().With(run), v.facts(run)))
	v.mu.Lock()
	was := v.shown
	v.shown = err
	v.mu.Unlock()
	if err != nil && (was == nil || was.Error() != err.Error()) {
		v.job.Warning(prompts.Why(err).In(prompts.Words(v.language())))
	}
}

// facts are what people are told besides the record.
func (v *voice) facts(run metadata.Run) page.Notices {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.notices
	t.Links = v.linksTo(run, v.about.tip)
	for _, d := range v.noted {
		if !d.Kept {
			t.Requests = append(t.Requests, page.Requested{At: v.Env.Now(), By: d.By, Command: d.What, Outcome: d.Why.In(prompts.Words(v.speaks()))})
		}
	}
	return t
}

// linksTo are the addresses of what belongs to a run; tip is nil if it is not open.
func (v *voice) linksTo(run metadata.Run, tip func() string) page.Links {
	is := page.Repository{Server: v.Env.Getenv("GITHUB_SERVER_URL"), Name: v.GitHub.Name, Uploads: v.In.Upload}
	if me, ok := environ.ParseOwner(v.me); ok {
		is.Job = me.Run
	}
	if tip != nil {
		is.Tip = tip()
	}
	return is.Links(run)
}

// keepComment notes in the record which comment is the live one.
func (v *voice) keepComment(run *metadata.Run) (changed bool) {
	v.mu.Lock()
	live := v.live
	v.mu.Unlock()
	if live == nil {
		return false
	}
	id, address := live.Comment()
	g := &run.GitHubIntegration
	if id == 0 || id == g.ProgressCommentID {
		return false
	}
	g.ProgressCommentID, g.ProgressCommentURL = id, address
	return true
}

// lastShown is what the live comment tells programs of a run, or of any run of the issue if that is zero; zero if there is
// none. Where a record could not be pushed, or its branch was deleted, this alone has what stopped the run and what it has cost.
func (v *voice) lastShown(ctx context.Context, run metadata.Run) page.State {
	c, _, err := v.Issue.Find(ctx, page.MarkerOf("progress", v.id()), time.Time{})
	v.warnOf(err)
	shown := page.StateOf(c.Body)
	if shown.Updated.Before(run.CreatedAt.Truncate(time.Second)) { // of an earlier run
		return page.State{}
	}
	return shown
}

// isShown reports whether there is a live comment of a run.
func (v *voice) isShown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.about.Plan != nil && v.live != nil
}
