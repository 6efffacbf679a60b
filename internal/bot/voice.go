package bot

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// voice is what a job tells people: the live comment, answers, reactions and
// warnings. The bot tells it which run these are about.
type voice struct {
	*place
	inbox  *inbox.Inbox
	lease  *lease
	outbox outbox
	// unsettled are comments with a command that ends when the run does. Only the
	// bot's goroutine uses it.
	unsettled []int64

	// mu guards what follows: comments are answered while an agent works.
	mu      sync.Mutex
	about   subject
	spoken  string // language of a run that is only asked about; empty if that is not known
	live    *github.Live
	shown   error          // why the live comment could not be shown the last time
	notices page.Notices   // what people are told besides the record
	noted   []page.Denial  // what was refused while the job ran
	earlier []metadata.Run // of other issues, by which is told how long this one takes
}

// subject is the run that a job is about, as it was between the last two steps;
// zero if none is open.
type subject struct {
	plan  *pipelines.Pipeline
	run   metadata.Run
	tip   func() string // the newest commit that has its record
	began bool          // it has a commit, or is rehearsed
	near  func(metadata.Run) metadata.Reason
}

// speakOf sets the run that messages are about from now on; nil: none.
func (v *voice) speakOf(w *workspace.Workspace) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.about = subject{}
	if w != nil {
		v.about = subject{w.Plan, w.Run, func() string { return w.Repo.Record() }, v.began(w), w.SameFiles}
	}
}

// compare sets the runs by which is told how long this one takes.
func (v *voice) compare(earlier []metadata.Run) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.earlier = earlier
}

// subject is the run that messages are about.
func (v *voice) subject() subject {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.about
}

// reply answers comments of one conversation, unless that was done already. An error has been told
// as a warning.
func (v *voice) reply(ctx context.Context, comments []int64, body func(marker string) string) error {
	if v.in.Dry || v.lease.expired() {
		return nil
	}
	marker := page.ReplyMarker(comments...)
	_, err := v.inbox.ThreadOf(comments[0]).Post(ctx, marker, body(marker), v.inbox.Start())
	if err != nil && !errors.Is(err, engine.ErrSteered) { // then it is tried again
		v.warn(err)
	}
	return err
}

// react puts a sign on a comment; fresh says that it was not there before, as far
// as is known. One that fails is worth a warning and nothing more.
func (v *voice) react(ctx context.Context, comment int64, r github.Reaction) (fresh bool) {
	if v.in.Dry || v.lease.expired() {
		return true
	}
	fresh, _, err := v.thread.React(ctx, comment, r)
	if err != nil && !errors.Is(err, engine.ErrSteered) { // then it is tried again
		v.warn(err)
	}
	return fresh || err != nil
}

// warn tells people of something that went wrong and does not stop the work.
func (v *voice) warn(err error) {
	text := exit.Why(err).In(prompts.Words(v.language()))
	v.job.Warning(text)
	v.addWarning(text)
}

// warnOf tells of an error, if there is one.
func (v *voice) warnOf(err error) {
	if err != nil {
		v.warn(err)
	}
}

// addWarning shows a warning on the issue that is already in the log.
func (v *voice) addWarning(text string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if !slices.Contains(v.notices.Warnings, text) {
		v.notices.Warnings = append(v.notices.Warnings, text)
	}
}

// note keeps what was refused, for the page of the job.
func (v *voice) note(d page.Denial) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.noted = append(v.noted, d)
}

// denials are what was refused while the job ran.
func (v *voice) denials() []page.Denial {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.noted)
}

// change changes what people are told besides the record.
func (v *voice) change(what func(n *page.Notices)) {
	v.mu.Lock()
	defer v.mu.Unlock()
	what(&v.notices)
}

// language is that of the run, or of replies where there is none.
func (v *voice) language() string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.speaks()
}

// speaks is language for a caller who holds mu.
func (v *voice) speaks() string {
	return cmp.Or(v.about.run.Language, v.in.Language, v.spoken, "en")
}

// speak sets the language of a run that is only asked about.
func (v *voice) speak(language string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.spoken = language
}

// warnings are all that was told so far.
func (v *voice) warnings() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Clone(v.notices.Warnings)
}
