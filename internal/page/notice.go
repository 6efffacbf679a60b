package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Stop is where a run has stopped so that people have to be told. It stays the
// same until the run goes on.
type Stop struct {
	Key string    // of this stop among all of the run
	At  time.Time // when it stopped
}

// StopOf gives where a run has stopped; ok is false if it goes on, or if the one
// who stopped it knows.
func StopOf(run metadata.Run) (s Stop, ok bool) {
	attempts := len(run.Attempts)
	switch {
	case run.Stop != nil && run.Stop.Why.Code() == "job_gone":
		return GoneOf(run)
	case run.Status == metadata.Completed && attempts > 0 && run.Attempts[attempts-1].EndedAt != nil:
		key, at := fmt.Sprintf("completed-%d-%d", attempts, len(run.RollbackHistory)), *run.Attempts[attempts-1].EndedAt
		if n := len(run.Merges); n > 0 { // a base that was brought in later needs no agent
			key, at = fmt.Sprintf("%s-%d", key, n), slices.MaxFunc([]time.Time{at, run.Merges[n-1].At}, time.Time.Compare)
		}
		return Stop{key, at}, true
	case run.Stop == nil, run.Stop.Code == metadata.AwaitingCI && !run.MissesCI(), !slices.Contains([]metadata.Status{metadata.Waiting, metadata.Failed, metadata.Interrupted}, run.Status):
		return Stop{}, false
	}
	for _, d := range run.Decisions {
		if d.Step == "pause" && d.At.Equal(run.Stop.At) {
			return Stop{}, false
		}
	}
	return Stop{fmt.Sprintf("%s-%d", run.Stop.Code, run.Stop.At.UnixMilli()), run.Stop.At}, true
}

// GoneOf gives the stop of a run whose job is gone without a word, as told by the lease
// that this has left in the record: another job tells people of it, and the next one, which
// has the same record, knows that comment again. ok is false where there is no lease.
func GoneOf(run metadata.Run) (s Stop, ok bool) {
	lease := run.Execution.Lease
	if lease == nil {
		return Stop{}, false
	}
	return Stop{fmt.Sprintf("gone-%d", lease.Expires.UnixMilli()), run.UpdatedAt}, true
}

// NoticeMarker is the first line of the comment that tells people of a stop.
func NoticeMarker(issue string, s Stop) string { return MarkerOf("stop", issue+"/"+s.Key) }

// Notice tells people in short that a run has stopped, and what to do. Those who
// are named get a notification.
func Notice(marker string, who []string, plan *pipelines.Pipeline, run metadata.Run, t Notices) string {
	w := newWriter(plan, run, t)
	return w.reply(marker, []string{
		text.Join(" ", mentions(who), "**"+w.headline()+"**"), w.warnings(), advice{w}.text(), proposed(w),
		text.Join(" · ", clean.Link(w.Say("progress"), run.GitHubIntegration.ProgressCommentURL), w.linked()),
	})
}

// mentions calls people by their logins.
func mentions(who []string) string {
	var names []string
	for _, login := range who {
		names = append(names, "@"+strings.TrimPrefix(login, "@"))
	}
	return strings.Join(names, " ")
}

// LateMarker is the first line of the comment that tells people of CI that fails after the
// run has stopped so.
func LateMarker(issue string, s Stop) string { return MarkerOf("late", issue+"/"+s.Key) }

// LateCI tells people that CI, which had nothing to say before the run was completed, fails, as
// the notices say of it.
func LateCI(marker string, who []string, plan *pipelines.Pipeline, run metadata.Run, t Notices) string {
	w := newWriter(plan, run, t)
	return w.reply(marker, []string{
		text.Join(" ", mentions(who), "**❌ "+clean.Inline(t.CI.In(w.Catalogue), 500)+"**"),
		alert(alertWarning, text.Join("\n\n", w.Say("comment.lateCI"), clean.Bold(w.Say("comment.now")), advice{w}.wayBack())),
		text.Join(" · ", clean.Link(w.Say("progress"), run.GitHubIntegration.ProgressCommentURL), clean.Link(w.Say("pullRequest"), w.pullRequest())),
	})
}

// UnstartedMarker is the first line of the comment that tells people of a job in which reprise
// could not begin; key tells such jobs of an issue apart.
func UnstartedMarker(issue, key string) string { return MarkerOf("unstarted", issue+"/"+key) }

// Unstarted tells people of a job that ended before reprise could begin, with its address and
// the command to give again; an empty one is a review, which no comment repeats.
func Unstarted(marker, language string, who []string, command, job string) string {
	w := speaker(language)
	does := w.Say("comment.beginJob")
	if command != "" {
		does = w.Say("comment.beginAgain", "command", clean.Code(clean.Truncate(command, 300)))
	}
	return w.reply(marker, []string{
		text.Join(" ", mentions(who), "**"+w.Say("comment.unstarted")+"**"), clean.Named(w.Say("whatNow"), does), clean.Link(w.Say("job"), job),
	})
}

// GivenUp says why a run was given up, with the marker of that comment. It stands on the
// issue and on the pull request, which are closed then.
func GivenUp(run metadata.Run) (marker, body string) {
	w := newWriter(nil, run, Notices{})
	who := ""
	if n := len(run.Approvals); n > 0 {
		who = run.Approvals[n-1].By
	}
	marker = MarkerOf("given-up", fmt.Sprintf("%s/%d", run.IssueNumber, run.Stop.At.UnixMilli()))
	return marker, w.reply(marker, []string{
		clean.Quote("**"+w.Shown("closed given up", "who", clean.Code(clean.Truncate(who, 60)))+"**", clean.Truncate(phases.GivenUp(run).In(w.Catalogue), 4_000)),
		w.Shown("after given up"), clean.Link(w.Say("progress"), run.GitHubIntegration.ProgressCommentURL),
	})
}
