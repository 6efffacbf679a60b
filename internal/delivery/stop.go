package delivery

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// TellStop writes one new comment where a run has stopped for a person or is
// completed, and folds the one before. It notes in the record for which stop that
// was, so that no other job does it again; a comment that is there already is
// found.
func (d *Delivery) TellStop(ctx context.Context, plan *pipelines.Pipeline, run *metadata.Run) (changed bool) {
	stop, ok := page.StopOf(*run)
	who := d.mentioned(*run)
	told := stop.Key
	if d.unready { // so that the next job does not think that somebody has made it a draft
		told += "-draft"
	}
	if !ok || len(who) == 0 || slices.Contains([]string{stop.Key, told}, run.GitHubIntegration.NoticeFor) || d.Expired() {
		return false
	}
	thread, marker := d.GitHub.Thread(d.Owner, d.Name, d.Issue), page.NoticeMarker(run.IssueNumber, stop)
	before, err := d.before(ctx, thread, *run)
	if err != nil {
		d.Voice.Warn(err)
		return false
	}
	c, err := thread.Post(ctx, marker, page.Notice(marker, who, plan, *run, d.Voice.Facts(*run)), before.CreatedAt)
	if err != nil {
		d.Voice.Warn(err)
		return false
	}
	if before.ID == run.GitHubIntegration.NoticeCommentID && before.ID != c.ID {
		d.Voice.warnOf(d.fold(ctx, before))
	}
	run.GitHubIntegration.NoticeCommentID, run.GitHubIntegration.NoticeFor = c.ID, told
	return true
}

// FoldWord folds away what was said of the stop of a run that goes on without anybody: what
// it asks people to do is not needed any more.
func (d *Delivery) FoldWord(ctx context.Context, run metadata.Run) {
	id := run.GitHubIntegration.NoticeCommentID
	if id == 0 || d.Expired() {
		return
	}
	c, err := d.GitHub.Thread(d.Owner, d.Name, d.Issue).Comment(ctx, id)
	if err == nil {
		err = d.fold(ctx, c)
	}
	d.Voice.warnOf(unlessKind(err, github.NotFound, github.Gone))
}

// FindGone notes in the record the comment that tells people that the job which had the
// run is gone, if another one has written it: the word of the next stop folds it.
func (d *Delivery) FindGone(ctx context.Context, run *metadata.Run) {
	stop, ok := page.GoneOf(*run)
	if !ok || run.Status != metadata.Running || len(d.mentioned(*run)) == 0 || run.GitHubIntegration.NoticeFor == stop.Key {
		return
	}
	thread := d.GitHub.Thread(d.Owner, d.Name, d.Issue)
	before, err := d.before(ctx, thread, *run)
	if err != nil {
		d.Voice.Warn(err)
		return
	}
	c, found, err := thread.Find(ctx, page.NoticeMarker(run.IssueNumber, stop), before.CreatedAt)
	if err != nil {
		d.Voice.Warn(err)
	} else if found {
		run.GitHubIntegration.NoticeCommentID, run.GitHubIntegration.NoticeFor = c.ID, stop.Key
	}
}

var loginForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$`) })

// mentioned are the people that are mentioned: of programs there is nobody to tell.
func (d *Delivery) mentioned(run metadata.Run) []string { return d.mentionedFor(run, "") }

// mentionedFor are the people that are mentioned where by gave the newest command; empty: who
// gave the newest one that the record has.
func (d *Delivery) mentionedFor(run metadata.Run, by string) (who []string) {
	for _, name := range d.In.Notify {
		if name == inbox.Commander {
			name = cmp.Or(by, commander(run))
		}
		if loginForm().MatchString(name) && !slices.Contains(who, name) {
			who = append(who, name)
		}
	}
	return who
}

// commander is the person who gave the newest command.
func commander(run metadata.Run) string {
	for _, d := range slices.Backward(run.Decisions) {
		if d.By != "" && !strings.HasSuffix(d.By, "[bot]") {
			return d.By
		}
	}
	return ""
}

// before is a comment of our own that is older than what is said of the stop of a run, and so
// says by the clock of the forge since when that can be there: ours may be wrong. It is what
// was said of the stop before or, at the first one, the live comment; the zero value if neither
// is there any more.
func (d *Delivery) before(ctx context.Context, thread *github.Thread, run metadata.Run) (github.Comment, error) {
	for _, id := range []int64{run.GitHubIntegration.NoticeCommentID, run.GitHubIntegration.ProgressCommentID} {
		if id == 0 {
			continue
		}
		c, err := thread.Comment(ctx, id)
		if err == nil || unlessKind(err, github.NotFound, github.Gone) != nil {
			return c, err
		}
	}
	return github.Comment{}, nil
}

// fold folds a comment of our own away as outdated. A forge that cannot do it leaves it.
func (d *Delivery) fold(ctx context.Context, c github.Comment) error {
	if c.NodeID == "" {
		return nil
	}
	const mutation = "mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } } }"
	err := d.GitHub.Mutate(ctx, fmt.Sprintf("fold comment %d away", c.ID), "issues: write", mutation, map[string]any{"id": c.NodeID})
	return unlessKind(err, github.NotFound, github.Gone)
}

// WaitingLabel is on an issue while its run waits for a person.
const WaitingLabel = "reprise: waiting"

// OwnLabels are the labels of an issue that people have given it.
func OwnLabels(labels []string) []string {
	return slices.DeleteFunc(slices.Clone(labels), func(l string) bool { return l == WaitingLabel })
}

// KeepLabel puts that label on the issue of a run that waits, and takes it off
// once it does not.
func (d *Delivery) KeepLabel(ctx context.Context, run metadata.Run) {
	waits := run.Status == metadata.Waiting && (run.Stop.Code != metadata.AwaitingCI || run.MissesCI())
	if d.Expired() || waits == d.Labelled {
		return
	}
	d.Labelled = waits
	if !waits {
		_, err := d.GitHub.Thread(d.Owner, d.Name, d.Issue).RemoveLabel(ctx, WaitingLabel)
		d.Voice.warnOf(err)
		return
	}
	_, err := d.GitHub.Ask(ctx, d.Owner, d.Name, github.Request{
		What: fmt.Sprintf("put the label %q on issue %d", WaitingLabel, d.Issue), Needs: "issues: write", Method: http.MethodPost, Repeatable: true,
		Path: fmt.Sprintf("/issues/%d/labels", d.Issue), Body: map[string]any{"labels": []string{WaitingLabel}},
	}, nil)
	d.Voice.warnOf(err)
}

// CloseGivenUp closes the pull request and the issue of a run that was given up, each
// with a comment that says why. What is done already is found: no such comment is older
// than since. The issue comes last: once it is closed, no job works on the run any more.
func (d *Delivery) CloseGivenUp(ctx context.Context, run metadata.Run, since time.Time) {
	if phases.GivenUp(run) == "" || d.Expired() {
		return
	}
	if stopped := run.Stop.At.Add(-page.ClockSkew); stopped.Before(since) {
		since = stopped
	}
	if run.PRNumber > 0 {
		pull, err := d.GitHub.Pull(ctx, d.Owner, d.Name, run.PRNumber)
		if err == nil && pull.State == "open" {
			err = d.closeWith(ctx, run, since, pullToClose(run.PRNumber))
		}
		if err != nil {
			d.Voice.Warn(err)
			return // the next job begins here
		}
	}
	d.Voice.warnOf(d.closeWith(ctx, run, since, issueToClose(d.Issue)))
}

// toClose is an issue or a pull request that is to be closed.
type toClose struct {
	number      int
	path, needs string
	body        map[string]any
}

func pullToClose(number int) toClose {
	return toClose{number, fmt.Sprintf("/pulls/%d", number), "pull-requests: write", map[string]any{"state": "closed"}}
}

func issueToClose(number int) toClose {
	return toClose{number, fmt.Sprintf("/issues/%d", number), "issues: write", map[string]any{"state": "closed", "state_reason": "not_planned"}}
}

// closeWith closes an issue or a pull request, after a comment that says why.
func (d *Delivery) closeWith(ctx context.Context, run metadata.Run, since time.Time, c toClose) error {
	marker, why := page.GivenUp(run)
	if _, err := d.GitHub.Thread(d.Owner, d.Name, c.number).Post(ctx, marker, why, since); err != nil {
		return err
	}
	_, err := d.GitHub.Ask(ctx, d.Owner, d.Name, github.Request{
		What: fmt.Sprintf("close number %d", c.number), Needs: c.needs, Method: http.MethodPatch, Repeatable: true, Path: c.path, Body: c.body,
	}, nil)
	return err
}
