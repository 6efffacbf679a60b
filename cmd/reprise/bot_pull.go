package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
)

// base is the branch that pull requests go to.
func (b *bot) base() string {
	switch {
	case b.in.base != "":
		return b.in.base
	case b.t.branch != "":
		return b.t.branch
	}
	return b.w.source.DefaultBranch
}

// hasCode reports whether a run has changed anything besides its own folder.
func hasCode(run metadata.Run) bool {
	return slices.ContainsFunc(run.Phases, func(p metadata.Phase) bool { return p.Diff != nil && p.Diff.Files > 0 })
}

// keepPull opens the pull request of a run once there is code, and notes it in
// the record. One that cannot be opened is a warning, and tried again at the
// end.
func (b *bot) keepPull(ctx context.Context, run *metadata.Run) (changed bool) {
	last := run.Status == metadata.Completed
	if b.lapsed() || !b.in.pull || run.PRNumber != 0 || !hasCode(*run) || b.triedPull && !last {
		return false
	}
	b.triedPull = true
	pull, err := b.gh.OpenPull(ctx, b.owner, b.name, github.Pull{
		Head: run.BranchName, Base: b.base(), Title: pullTitle(*run), Body: pullDraft(b.w.plan, *run, b.pullFacts(*run)), Draft: true,
	})
	if err != nil {
		b.warn(err)
		return false
	}
	run.PRNumber, run.PRURL = pull.Number, pull.URL
	return true
}

// keepDraft has the pull request of a run that is not completed say whether the
// run is at work.
func (b *bot) keepDraft(ctx context.Context, run metadata.Run) {
	if run.PRNumber == 0 || b.lapsed() {
		return
	}
	if err := b.gh.UpdatePull(ctx, b.owner, b.name, run.PRNumber, pullTitle(run), pullDraft(b.w.plan, run, b.pullFacts(run))); err != nil {
		b.warn(err)
	}
}

func (b *bot) pullFacts(run metadata.Run) pullFacts {
	f := pullFacts{told: b.facts(run), Progress: run.GitHubIntegration.ProgressCommentURL}
	f.Issue = b.t.number
	if run.IssueURL != "" {
		f.Images = []string{strings.TrimSuffix(run.IssueURL, fmt.Sprintf("issues/%d", b.t.number))}
	}
	return f
}

// handOver brings the pull request of a completed run to its last form, marks
// it ready, and opens an issue for what is left to do. All of it can be done
// again: what is there is found, and what is missing is made.
func (b *bot) handOver(ctx context.Context) {
	run := b.w.run
	if b.keepPull(ctx, &run) {
		var err error
		if b.w.run, err = b.note(ctx, run); err != nil {
			b.warn(err)
		}
	}
	if run.PRNumber > 0 {
		title, body := pullTitle(run), pullDone(b.w.plan, run, b.report(ctx, run), b.pullFacts(run))
		if err := b.gh.UpdatePull(ctx, b.owner, b.name, run.PRNumber, title, body); err != nil {
			b.warn(err)
		}
		if err := b.readyPull(ctx, run.PRNumber); err != nil {
			b.warn(err)
		}
	}
	if err := b.followUp(ctx, run); err != nil {
		b.warn(err)
	}
}

// readyPull takes a pull request out of the drafts. One that somebody closed
// stays closed: it is not for a program to open it again.
func (b *bot) readyPull(ctx context.Context, n int) error {
	pull, err := b.gh.Pull(ctx, b.owner, b.name, n)
	switch {
	case err != nil:
		return err
	case pull.State == "closed":
		return fmt.Errorf("pull request %d is closed, so the newest work is on the branch alone: reopen it, or open another one", n)
	case !pull.Draft:
		return nil
	}
	return b.gh.ReadyPull(ctx, b.owner, b.name, pull)
}

// report is what the phase named so wrote, or else the last phase: the body of
// the pull request.
func (b *bot) report(ctx context.Context, run metadata.Run) []byte {
	rec := run.Phase("report")
	if rec == nil && len(run.Phases) > 0 {
		rec = &run.Phases[len(run.Phases)-1]
	}
	if rec == nil || rec.Status != metadata.PhaseCompleted || len(rec.OutputFiles) == 0 {
		return nil
	}
	text, err := b.w.repo.ReadFile(ctx, b.w.repo.Tip(), rec.OutputFiles[0])
	if err != nil {
		b.warn(err)
	}
	return text
}

// followUp opens the issue for the tasks that an evaluation left.
func (b *bot) followUp(ctx context.Context, run metadata.Run) error {
	next := followUpOf(run, run.Issue.Labels, b.in.label)
	if next == nil {
		return nil
	}
	_, err := b.openIssue(ctx, *next)
	return err
}

// checks sees to the workflows that GitHub does not start for a push with the
// token of a workflow: they are started where the workflow file names them and
// the run is completed, and people are told in any case.
func (b *bot) checks(ctx context.Context, run metadata.Run) {
	if !hasCode(run) || !pushesQuietly(ctx, b.gh) {
		return
	}
	// A workflow that is named may have no push among its events.
	b.told.NoChecks = hasChecks(b.workFolder()) || len(b.in.dispatch) > 0
	if run.Status != metadata.Completed {
		return
	}
	for _, file := range b.in.dispatch {
		if err := b.gh.Dispatch(ctx, b.owner, b.name, file, run.BranchName); err != nil {
			b.warn(err)
			continue
		}
		b.told.Dispatched = append(b.told.Dispatched, file)
	}
}

// pushesQuietly reports whether pushes start no workflow, which is so for the
// token that GitHub gives to a workflow.
func pushesQuietly(ctx context.Context, gh *github.Client) bool {
	who, err := gh.Self(ctx)
	return err == nil && who.Login == "github-actions[bot]"
}

var onPush = regexp.MustCompile(`^(push|pull_request)$`)

// hasChecks reports whether a repository has a workflow that a push or a pull
// request would start.
func hasChecks(dir string) bool {
	files, err := filepath.Glob(filepath.Join(dir, ".github", "workflows", "*.y*ml"))
	if err != nil {
		return false // unreachable: the pattern is well formed
	}
	for _, f := range files {
		data, err := readRegular(f, 1<<20)
		if err != nil {
			continue
		}
		var workflow struct {
			On yaml.Node `yaml:"on"`
		}
		if yaml.Unmarshal(data, &workflow) == nil && anyOn(&workflow.On) {
			return true
		}
	}
	return false
}

// anyOn looks for an event in what a workflow is started by: one name, a list
// of names, or names with settings.
func anyOn(on *yaml.Node) bool {
	switch on.Kind {
	case yaml.ScalarNode:
		return onPush.MatchString(on.Value)
	case yaml.SequenceNode:
		return slices.ContainsFunc(on.Content, anyOn)
	case yaml.MappingNode:
		for i := 0; i < len(on.Content); i += 2 {
			if anyOn(on.Content[i]) {
				return true
			}
		}
	}
	return false
}

// resultsDir is where the job leaves what a workflow may keep, or "".
func (b *bot) resultsDir() string {
	dir := b.env.getenv("REPRISE_RESULTS")
	if dir == "" {
		return ""
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		b.warn(err)
		return ""
	}
	return dir
}
