package bot

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// tellStop writes one new comment where a run has stopped for a person or is completed, and folds the one before. It
// notes in the record for which stop that was, so that no other job does it again; a comment that is there already is
// found.
func (d *delivery) tellStop(ctx context.Context, plan *pipelines.Pipeline, run *metadata.Run) (changed bool) {
	stop, ok := page.StopOf(*run)
	who := d.mentioned(*run)
	told := stop.Key
	if d.unready { // so that the next job does not think that somebody has made it a draft
		told += unready
	}
	if !ok || len(who) == 0 || slices.Contains([]string{stop.Key, told}, run.GitHubIntegration.NoticeFor) || d.Expired() {
		return false
	}
	marker := page.NoticeMarker(run.IssueNumber, stop)
	// Since whenever: by the clock of the forge, and ours may be wrong by months.
	c, err := d.thread().Post(ctx, marker, page.Notice(marker, who, phases.On(plan, *run), d.Voice.Facts(*run)), time.Time{})
	if err != nil {
		d.Voice.Warn(err)
		return false
	}
	if run.GitHubIntegration.NoticeCommentID != c.ID {
		d.foldWord(ctx, *run)
	}
	run.GitHubIntegration.NoticeCommentID, run.GitHubIntegration.NoticeFor = c.ID, told
	return true
}

// thread is the issue with its comments.
func (d *delivery) thread() *github.Thread { return d.GitHub.Thread(d.Issue) }

// foldWord folds away, as outdated, what was said of the stop of a run that goes on or has stopped
// anew: what it asks people to do is not needed any more. A forge that cannot do it leaves it.
func (d *delivery) foldWord(ctx context.Context, run metadata.Run) {
	id := run.GitHubIntegration.NoticeCommentID
	if id == 0 || d.Expired() {
		return
	}
	c, err := d.thread().Comment(ctx, id)
	if err == nil && c.NodeID != "" {
		const mutation = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } } }"
		err = d.GitHub.Mutate(ctx, fmt.Sprintf("fold comment %d away", id), "issues: write", mutation, map[string]any{"id": c.NodeID})
	}
	d.Voice.warnOf(unlessKind(err, github.NotFound, github.Gone))
}

// findGone notes in the record the comment that tells people that the job which had the
// run is gone, if another one has written it: the word of the next stop folds it.
func (d *delivery) findGone(ctx context.Context, run *metadata.Run) {
	stop, ok := page.GoneOf(*run)
	if !ok || run.Status != metadata.Running || len(d.mentioned(*run)) == 0 || run.GitHubIntegration.NoticeFor == stop.Key {
		return
	}
	c, found, err := d.thread().Find(ctx, page.NoticeMarker(run.IssueNumber, stop), time.Time{})
	if err != nil {
		d.Voice.Warn(err)
	} else if found {
		run.GitHubIntegration.NoticeCommentID, run.GitHubIntegration.NoticeFor = c.ID, stop.Key
	}
}

var loginForm = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`)

// mentioned are the people that are mentioned: of programs there is nobody to tell.
func (d *delivery) mentioned(run metadata.Run) []string { return d.mentionedFor(run, "") }

// mentionedFor are the people that are mentioned where by gave the newest command; empty: who
// gave the newest one that the record has.
func (d *delivery) mentionedFor(run metadata.Run, by string) (who []string) {
	for _, name := range d.In.Notify {
		if name == commander {
			name = cmp.Or(by, newestCommander(run))
		}
		if loginForm().MatchString(name) && !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	return who
}

// newestCommander is the person who gave the newest command.
func newestCommander(run metadata.Run) string {
	for _, d := range slices.Backward(run.Decisions) {
		if d.By != "" && !strings.HasSuffix(d.By, "[bot]") {
			return d.By
		}
	}
	return ""
}

// waitingLabel is on an issue while its run waits for a person.
const waitingLabel = "reprise: waiting"

// ownLabels are the labels of an issue that people have given it.
func ownLabels(labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == waitingLabel })
}

// keepLabel puts that label on the issue of a run that waits, and takes it off once it does not.
func (d *delivery) keepLabel(ctx context.Context, run metadata.Run) {
	waits := run.Status == metadata.Waiting && (run.Stop.Code != metadata.AwaitingCI || run.MissesCI())
	if d.Expired() || waits == d.Labelled {
		return
	}
	d.Labelled = waits
	if !waits {
		d.Voice.warnOf(d.thread().RemoveLabel(ctx, waitingLabel))
		return
	}
	d.Voice.warnOf(d.label(ctx, d.Issue, "issues: write", waitingLabel))
}

// label puts labels on an issue or a pull request.
func (d *delivery) label(ctx context.Context, number int, needs string, labels ...string) error {
	return d.ask(ctx, fmt.Sprintf("put the labels %q on number %d", labels, number), needs, http.MethodPost, fmt.Sprintf("/issues/%d/labels", number), map[string]any{"labels": labels})
}

// ask makes a request whose answer does not count, and which may be made again.
func (d *delivery) ask(ctx context.Context, what, needs, method, path string, body map[string]any) error {
	_, err := d.GitHub.Ask(ctx, github.Request{What: what, Needs: needs, Method: method, Repeatable: true, Path: path, Body: body}, nil)
	return err
}

// closeGivenUp closes the pull request and the issue of a run that was given up, each
// with a comment that says why. What is done already is found: no such comment is older
// than begin. The issue comes last: once it is closed, no job works on the run any more.
func (d *delivery) closeGivenUp(ctx context.Context, run metadata.Run, begin time.Time) {
	if phases.GivenUp(run) == "" || d.Expired() {
		return
	}
	since := slices.MinFunc([]time.Time{begin, page.Since(run.Stop.At)}, time.Time.Compare)
	if run.PRNumber > 0 {
		_, err := d.open(ctx, run)
		if err == nil {
			err = d.closeWith(ctx, run, since, run.PRNumber, "pull-requests: write", map[string]any{"state": "closed"})
		}
		if err != nil && !isRefusal(err) {
			d.Voice.Warn(err)
			return // the next job begins here
		}
	}
	d.Voice.warnOf(d.closeWith(ctx, run, since, d.Issue, "issues: write", map[string]any{"state": "closed", "state_reason": "not_planned"}))
}

// closeWith closes an issue or a pull request, after a comment that says why.
func (d *delivery) closeWith(ctx context.Context, run metadata.Run, since time.Time, number int, needs string, body map[string]any) error {
	marker, why := page.GivenUp(run)
	if _, err := d.GitHub.Thread(number).Post(ctx, marker, why, since); err != nil {
		return err
	}
	path := fmt.Sprintf("/issues/%d", number)
	if number == run.PRNumber {
		path = fmt.Sprintf("/pulls/%d", number)
	}
	return d.ask(ctx, fmt.Sprintf("close number %d", number), needs, http.MethodPatch, path, body)
}
