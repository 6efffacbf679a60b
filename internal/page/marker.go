package page

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// MarkerOf is the line by which reprise finds again what it wrote about an
// issue: a comment that people do not see.
func MarkerOf(kind, issue string) string {
	id := strings.Map(func(r rune) rune {
		if strings.ContainsRune("<>", r) || r <= ' ' {
			return -1
		}
		return r
	}, clean.Truncate(issue, 100))
	for strings.Contains(id, "--") {
		id = strings.ReplaceAll(id, "--", "-")
	}
	return fmt.Sprintf("<!-- reprise:%s:v1 issue=%s -->", kind, id)
}

// ReviewMarker is the first line of the answer to a review, or to what it says
// about a line.
func ReviewMarker(id int64) string { return fmt.Sprintf("<!-- reprise:review:v1 review=%d -->", id) }

// AnswersToReview is the review that a comment which begins so is the answer to; 0: it is none.
func AnswersToReview(body string) (id int64) {
	if _, err := fmt.Sscanf(body, "<!-- reprise:review:v1 review=%d -->", &id); err != nil {
		return 0
	}
	return id
}

// OpinionMarker is the first line of what is told about a run that nobody has
// asked about in a comment.
func OpinionMarker(about metadata.Decision) string {
	return fmt.Sprintf("<!-- reprise:opinion:v1 at=%d -->", about.At.Unix())
}

// Since is the time before which no comment says what became so at a time: the clock of the forge may be behind ours.
func Since(at time.Time) time.Time { return at.Add(-10 * time.Minute) }

// stop is where a run has stopped so that people have to be told. It stays the
// same until the run goes on.
type stop struct {
	Key string    // of this stop among all of the run
	At  time.Time // when it stopped
}

// StopOf gives where a run has stopped; ok is false if it goes on, or if the one
// who stopped it knows.
func StopOf(run metadata.Run) (s stop, ok bool) {
	attempts := len(run.Attempts)
	switch {
	case run.Stop != nil && run.Stop.Why.Code() == "job_gone":
		return GoneOf(run)
	case run.Status == metadata.Completed && attempts > 0 && run.Attempts[attempts-1].EndedAt != nil:
		key, at := fmt.Sprintf("completed-%d-%d", attempts, len(run.RollbackHistory)), *run.Attempts[attempts-1].EndedAt
		if n := len(run.Merges); n > 0 { // a base that was brought in later needs no agent
			key, at = fmt.Sprintf("%s-%d", key, n), slices.MaxFunc([]time.Time{at, run.Merges[n-1].At}, time.Time.Compare)
		}
		return stop{key, at}, true
	case run.Stop == nil, run.Stop.Code == metadata.AwaitingCI && !run.MissesCI(), !slices.Contains([]metadata.Status{metadata.Waiting, metadata.Failed, metadata.Interrupted}, run.Status):
		return stop{}, false
	}
	for _, d := range run.Decisions {
		if d.Step == "pause" && d.At.Equal(run.Stop.At) {
			return stop{}, false
		}
	}
	return stop{fmt.Sprintf("%s-%d", run.Stop.Code, run.Stop.At.UnixMilli()), run.Stop.At}, true
}

// GoneOf gives the stop of a run whose job is gone without a word, as told by the lease
// that this has left in the record: another job tells people of it, and the next one, which
// has the same record, knows that comment again. ok is false where there is no lease.
func GoneOf(run metadata.Run) (s stop, ok bool) {
	lease := run.Execution.Lease
	if lease == nil {
		return stop{}, false
	}
	return stop{fmt.Sprintf("gone-%d", lease.Expires.UnixMilli()), run.UpdatedAt}, true
}

// NoticeMarker is the first line of the comment that tells people of a stop.
func NoticeMarker(issue string, s stop) string { return MarkerOf("stop", issue+"/"+s.Key) }
