package bot

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// delivery leaves on GitHub what comes out of the run of one issue. One goroutine uses it. Nothing in it can fail a
// run: whatever goes wrong is a warning.
type delivery struct {
	GitHub   github.Repo
	Issue    int
	Branch   string // the default branch, if it is known
	In       Inputs
	Folder   string // the checkout
	Labelled bool   // the issue has the label of a run that waits
	Voice    teller
	Expired  func() bool // this process cannot know any more that the run is its own
	Own      string      // path of the workflow that this job runs in

	unready   bool // the pull request of a completed run could not be made ready
	ran       *github.Checks
	started   string // the commit that workflows were started for
	triedPull bool
	// triedLabels says that this process has tried to copy labels.
	triedLabels bool
	// triedChildren are the ids of the issues that this process has tried to open.
	triedChildren []string
	flat          bool // it was said that the forge has no sub-issues
}

// teller is how people are told of what is delivered.
type teller struct {
	Warn   func(err error)
	Facts  func(run metadata.Run) page.Notices // what people are told besides the record
	Change func(what func(n *page.Notices))    // changes that
}

// warnOf tells of an error, if there is one.
func (v teller) warnOf(err error) {
	if err != nil {
		v.Warn(err)
	}
}

// base is the branch that pull requests go to.
func (d *delivery) base(w *workspace.Workspace) string {
	switch {
	case d.In.Base != "":
		return d.In.Base
	case d.Branch != "":
		return d.Branch
	}
	return w.Source.DefaultBranch
}

// renamed is the name of the default branch where it is another one by now, and from then on the base; "" if it is not,
// or the workflow file names the base.
func (d *delivery) renamed(ctx context.Context, from string) string {
	repo, err := d.GitHub.Repository(ctx)
	if err != nil || d.In.Base != "" || repo.DefaultBranch == from {
		return ""
	}
	d.Branch = repo.DefaultBranch
	return d.Branch
}

// hasCode reports whether a run has changed anything besides its own folder: an agent has,
// or a person has approved a change of a protected path.
func hasCode(run metadata.Run) bool {
	return slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool {
		return p.Diff != nil && p.Diff.Files > 0 || len(p.Opened) > 0 && slices.ContainsFunc(run.Approvals, func(a metadata.Approval) bool {
			return a.Phase == p.Name && phases.Stands(run, a)
		})
	})
}

// keepPull opens the pull request of a run once there is code, gives it labels, and notes
// both in the record. What cannot be done is a warning, and tried again at the end.
func (d *delivery) keepPull(ctx context.Context, w *workspace.Workspace, run *metadata.Run) (changed bool) {
	last := run.Status == metadata.Completed || waitsForCI(*run)
	opened := d.openPull(ctx, w, run, last)
	return d.keepLabels(ctx, w.Plan, run, last) || opened
}

func (d *delivery) openPull(ctx context.Context, w *workspace.Workspace, run *metadata.Run, last bool) (opened bool) {
	if d.Expired() || !d.In.Pull || run.PRNumber != 0 || !hasCode(*run) || d.triedPull && !last {
		return false
	}
	d.triedPull = true
	pull, err := d.GitHub.OpenPull(ctx, github.Pull{
		Head: run.BranchName, Base: d.base(w), Title: d.newTitle(ctx, d.base(w), *run), Body: page.Described("", page.DraftBody(phases.On(w.Plan, *run), d.pullFacts(*run))), Draft: true,
	})
	if err != nil && d.renamed(ctx, d.base(w)) != "" {
		return d.openPull(ctx, w, run, true)
	}
	if err != nil {
		d.Voice.Warn(err)
		return false
	}
	run.PRNumber, run.PRURL = pull.Number, pull.URL
	return true
}

// keepLabels gives the pull request of a run the labels of its issue once, and notes that in the record: what people
// do with them later stays. A call that fails is tried again like the one that opens a pull request.
func (d *delivery) keepLabels(ctx context.Context, plan *pipelines.Pipeline, run *metadata.Run, last bool) (changed bool) {
	if d.Expired() || !lacksLabels(phases.On(plan, *run)) || d.triedLabels && !last {
		return false
	}
	d.triedLabels = true
	if err := d.copyLabels(ctx, *run); err != nil {
		d.Voice.Warn(err)
		return false
	}
	run.GitHubIntegration.LabelsOn = run.PRNumber
	return true
}

// newTitle is the title with which the pull request of a run is opened, in the form that the
// newest commits of its base have. Later it is for people to change.
func (d *delivery) newTitle(ctx context.Context, base string, run metadata.Run) string {
	var newest []struct {
		Commit struct {
			Message string `json:"message"`
		} `json:"commit"`
	}
	_, err := d.GitHub.Ask(ctx, github.Request{
		What: "read the newest commits of " + base, Needs: "contents: read",
		Path: fmt.Sprintf("/commits?sha=%s&per_page=%d", url.QueryEscape(base), mostSubjects),
	}, &newest)
	d.Voice.warnOf(unlessKind(err, github.NotFound, github.Gone))
	var subjects []string
	for _, c := range newest {
		subjects = append(subjects, text.FirstLine(c.Commit.Message))
	}
	return page.ShortTitle(titleOf(page.PullTitle(run), run, subjects))
}

// copyLabels gives the pull request of a run the labels of its issue, but for those that are about reprise.
func (d *delivery) copyLabels(ctx context.Context, run metadata.Run) error {
	labels := slices.DeleteFunc(ownLabels(run.Issue.Labels), func(l string) bool {
		return strings.EqualFold(l, d.In.Label) || strings.HasPrefix(strings.ToLower(l), "reprise:")
	})
	if len(labels) == 0 {
		return nil
	}
	return d.label(ctx, run.PRNumber, "pull-requests: write", labels...)
}

// squashable gives the current title of the pull request of a run, which the one commit of its
// branch gets; "" if there is none. An error says that it was merged already.
func (d *delivery) squashable(ctx context.Context, run metadata.Run) (title string, err error) {
	if run.PRNumber == 0 {
		return "", nil
	}
	pull, err := d.GitHub.Pull(ctx, run.PRNumber)
	if err == nil && pull.Merged {
		err = phases.Refuse(metadata.Because("squash_merged", "number", pull.Number))
	}
	return pull.Title, unlessKind(err, github.NotFound, github.Gone)
}

// findPull notes the pull request of a run in its record, if that does not have it yet:
// the step after it was opened commits that.
func (d *delivery) findPull(ctx context.Context, run *metadata.Run) {
	if run.PRNumber == 0 {
		found, _, err := d.GitHub.FindPull(ctx, github.Pull{Head: run.BranchName})
		d.Voice.warnOf(err)
		run.PRNumber = found.Number
	}
}

// keepDraft has the pull request of a run that is not completed say whether the run is at work.
func (d *delivery) keepDraft(ctx context.Context, c phases.Course) {
	if c.Run.PRNumber == 0 || d.Expired() {
		return
	}
	d.describe(ctx, c.Run, page.DraftBody(c, d.pullFacts(c.Run)))
}

// describe gives the pull request of a run our text, and leaves what others have written there.
func (d *delivery) describe(ctx context.Context, run metadata.Run, own string) {
	pull, err := d.GitHub.Pull(ctx, run.PRNumber)
	if err == nil {
		err = d.GitHub.UpdatePull(ctx, run.PRNumber, page.Described(pull.Body, own))
	}
	d.Voice.warnOf(err)
}

func (d *delivery) pullFacts(run metadata.Run) page.PullFacts {
	f := page.PullFacts{Notices: d.Voice.Facts(run), Progress: run.GitHubIntegration.ProgressCommentURL}
	f.Issue = d.Issue
	if run.IssueURL != "" {
		f.Images = []string{strings.TrimSuffix(run.IssueURL, fmt.Sprintf("issues/%d", d.Issue))}
	}
	return f
}

// owes reports whether an earlier job of a completed run has left something undone: there is no pull request, that has
// no labels yet, or people were told of the end while it was a draft.
func (d *delivery) owes(c phases.Course) bool {
	return c.Run.Status == metadata.Completed &&
		(d.In.Pull && hasCode(c.Run) && c.Run.PRNumber == 0 || lacksLabels(c) || strings.HasSuffix(c.Run.GitHubIntegration.NoticeFor, unready))
}

// lacksLabels reports whether the pull request of a run is to get the labels of its issue, and did not yet.
func lacksLabels(c phases.Course) bool {
	return c.Plan.Labels == pipelines.LabelsCopy && c.Run.PRNumber != 0 && c.Run.GitHubIntegration.LabelsOn != c.Run.PRNumber
}

// unready ends what the record says that people were told of a run whose pull request could not be made ready.
const unready = "-draft"

// handOver brings the pull request of a completed run to its last form, marks it ready, and opens an issue for what
// is left to do. All of it can be done again: what is there is found, and what is missing is made. But a pull request
// that is a draft although people were told that the run is completed was made one by somebody, and stays one.
func (d *delivery) handOver(ctx context.Context, w *workspace.Workspace, run metadata.Run) {
	d.unready = d.In.Pull && hasCode(run) && run.PRNumber == 0
	if run.PRNumber > 0 {
		if run.CI == nil || run.CI.Commit == "" { // else it is ready on the commit that CI was good on
			err := d.readyPull(ctx, run)
			d.unready = err != nil && !isRefusal(err)
			d.Voice.warnOf(err)
		}
		// The text will say that the pull request was handed over. If it could not be marked
		// ready and nobody is told, that is not true yet.
		if len(d.mentioned(run)) > 0 || !d.unready {
			d.describe(ctx, run, page.DoneBody(phases.On(w.Plan, run), d.report(ctx, w.Repo, run), d.pullFacts(run)))
		}
	}
	if left := page.NewFollowUp(run, run.Issue.Labels, d.In.Label); left != nil { // tasks that an evaluation left
		_, err := d.openIssue(ctx, *left)
		d.Voice.warnOf(err)
	}
}

// readyPull takes a pull request out of the drafts.
func (d *delivery) readyPull(ctx context.Context, run metadata.Run) error {
	pull, err := d.open(ctx, run)
	if err != nil || !pull.Draft {
		return err
	}
	stop, ok := page.StopOf(run)
	known := run.GitHubIntegration.NoticeFor == stop.Key
	if len(d.mentioned(run)) == 0 { // the record does not say whether it was handed over, and its text does
		known = !page.IsDraftBody(run, pull.Body)
	}
	if ok && known {
		return phases.Refuse(metadata.Because("pull_draft", "number", pull.Number))
	}
	return d.markReady(ctx, pull, run)
}

// report is what the phase named so wrote, or else the last phase: the body of the pull request.
func (d *delivery) report(ctx context.Context, repo workspace.Checkout, run metadata.Run) []byte {
	rec := run.Phase("report")
	if rec == nil && len(run.Phases) > 0 {
		rec = &run.Phases[len(run.Phases)-1]
	}
	if rec == nil || rec.Status != metadata.PhaseCompleted || len(rec.OutputFiles) == 0 {
		return nil
	}
	text, err := repo.ReadFile(ctx, repo.Tip(), rec.OutputFiles[0])
	d.Voice.warnOf(err)
	return text
}

// lookAtChecks sees what has run on the newest commit of a run: people are told where GitHub has started nothing for a
// push with the token of a workflow, and no longer that nothing has looked at the work where something has.
func (d *delivery) lookAtChecks(ctx context.Context, rule pipelines.CI, run *metadata.Run, commit string) {
	quiet := hasCode(*run) && pushesQuietly(ctx, d.GitHub)
	if !quiet && run.Unchecked == "" {
		return
	}
	all, err := d.checks().Of(ctx, commit)
	d.Voice.warnOf(err)
	if v := judgeCI(rule, all); v.Passed+len(v.Failed) > 0 {
		run.Unchecked = ""
	}
	ran := slices.ContainsFunc(all, func(c github.Check) bool { return c.Workflow != "" })
	// A workflow that is named may have no push among its events.
	d.Voice.Change(func(n *page.Notices) {
		n.NoChecks = quiet && !ran && (setup.HasChecks(d.Folder) || len(d.In.Dispatch) > 0)
	})
}

// startChecks starts the workflows that the workflow file names, where GitHub does not: once a run is completed.
func (d *delivery) startChecks(ctx context.Context, run metadata.Run) {
	if !hasCode(run) || run.Status != metadata.Completed || run.CI != nil || !pushesQuietly(ctx, d.GitHub) {
		return // with CI, they were started before it was completed
	}
	for _, file := range d.In.Dispatch {
		d.dispatch(ctx, file, run)
	}
}

// pushesQuietly reports whether pushes start no workflow, which is so for the token that GitHub gives to a workflow.
func pushesQuietly(ctx context.Context, gh github.Repo) bool {
	who, err := gh.Self(ctx)
	return err == nil && who.Login == "github-actions[bot]"
}

// openIssue opens an issue of our own, or finds it, and puts it below the one that the run works on. There is an
// issue if it has a number, also with an error: then only its place is missing.
func (d *delivery) openIssue(ctx context.Context, i page.ChildIssue) (github.Issue, error) {
	made, err := d.GitHub.OpenIssue(ctx, i.Marker, github.NewIssue{Title: i.Title, Body: i.Body, Labels: i.Labels})
	if err != nil {
		return github.Issue{}, err
	}
	err = d.GitHub.AddSubIssue(ctx, d.Issue, made.ID)
	if github.IsKind(err, github.NotFound) {
		if d.flat {
			return made, nil
		}
		d.flat = true
	}
	return made, err
}

// openChild opens an issue that a run asks for, once in a job; nil if it is not
// there. One that cannot be opened is a warning; the next job tries again.
func (d *delivery) openChild(ctx context.Context, run metadata.Run, child metadata.Child) *github.Issue {
	if ctx.Err() != nil || slices.Contains(d.triedChildren, child.ID) {
		return nil
	}
	d.triedChildren = append(d.triedChildren, child.ID)
	made, err := d.openIssue(ctx, page.NewChildIssue(run, child, d.In.Label))
	d.Voice.warnOf(err)
	if made.Number == 0 {
		return nil
	}
	return &made
}
