package bot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Finish takes the folder of a completed run off its branch and, if it is to be squashed, makes of the branch one commit
// on the one that it began with or, where people have merged the base, on what they merged. All that was on the
// branch stays in the history of the record that is kept. To do it again changes nothing. It gives the record that is
// committed next. Every error leaves the branch as it was; a *command.Refusal says what is in the way.
func Finish(ctx context.Context, w *workspace.Workspace, e *engine.Engine, next metadata.Run, squash bool, title string, at time.Time) (metadata.Run, error) {
	if !squash {
		return next, e.Finish(ctx, w.Run, nil)
	}
	from, err := squashOn(ctx, w, title, at)
	if err == nil && from != w.Run.BaseCommit {
		next = phases.MergeNoted(next, metadata.Merge{At: at, Commit: from}, metadata.Because("base_has", "branch", BaseName(next, w.Source)))
	}
	return next, err
}

// squashOn makes of the branch one commit, and gives the one of the base that it is on.
func squashOn(ctx context.Context, w *workspace.Workspace, title string, at time.Time) (from string, err error) {
	run := w.Run
	if run.BranchName == w.Source.DefaultBranch {
		return from, command.Refuse(metadata.NothingDone, metadata.Because("squash_default_branch", "branch", run.BranchName))
	}
	from, updates, err := updated(ctx, w)
	if err != nil {
		return from, err
	}
	log, err := w.Git().Ancestry(ctx, from)
	if err != nil {
		return from, err
	}
	if len(log) == 0 {
		return from, command.Refuse(metadata.NothingDone, metadata.Because("squash_nothing"))
	}
	if isOne, err := squashed(ctx, w, log); isOne || err != nil {
		return from, err
	}
	for _, c := range log {
		switch ours, err := w.Made(ctx, c); {
		case err != nil:
			return from, err
		case !ours && !slices.Contains(updates, c.Commit):
			return from, command.Refuse(metadata.NothingDone, metadata.Because("squash_others", "commit", fmt.Sprintf("%.12s", c.Commit), "subject", metadata.Said(text.Flat(c.Subject))))
		}
	}
	message := cmp.Or(phases.NoSkips(text.Flat(title)), page.PullTitle(run)) + "\n\nReprise-Issue: " + run.IssueNumber + "\n"
	err = w.Git().Squash(ctx, git.Commit{Message: message, Time: at.UTC().Truncate(time.Second)}, from)
	if errors.As(err, new(*git.PushError)) { // it may not be rewritten
		err = fmt.Errorf("%w; the branch is as it was: git merge --squash, or the squash button of a pull request, makes one commit of it where it is merged", err)
	}
	return from, err
}

// squashed reports whether the branch is one commit already.
func squashed(ctx context.Context, w *workspace.Workspace, log []git.LogEntry) (bool, error) {
	if len(log) != 1 || !slices.ContainsFunc(log[0].Trailers, func(t git.Trailer) bool { return t.Key == git.RecordTrailer }) {
		return false, nil
	}
	return w.Made(ctx, log[0])
}

// updated gives the newest commit of the base that is in the branch, and the commits by which people have merged the
// base and done nothing else: GitHub has a button for that on the page of a pull request.
func updated(ctx context.Context, w *workspace.Workspace) (from string, updates []string, err error) {
	from = w.Run.BaseCommit
	log, err := w.Repo.Log(ctx, from)
	if err != nil {
		return "", nil, err
	}
	newest := ""
	for _, c := range slices.Backward(log) {
		if len(c.Parents) != 2 {
			continue
		}
		if ours, err := w.Made(ctx, c); err != nil {
			return "", nil, err
		} else if ours {
			continue
		}
		if newest == "" {
			if newest, _, err = w.Repo.FindBase(ctx, BaseName(w.Run, w.Source), from); err != nil {
				return "", nil, err
			}
		}
		if is, err := w.Git().Updates(ctx, c, newest, from); err != nil {
			return "", nil, err
		} else if !is {
			continue
		}
		updates = append(updates, c.Commit)
		later, err := w.Git().Ancestry(ctx, from)
		if err != nil {
			return "", nil, err
		}
		if slices.ContainsFunc(later, func(o git.LogEntry) bool { return o.Commit == c.Parents[1] }) {
			from = c.Parents[1]
		}
	}
	return from, updates, nil
}

// mostSubjects is how many of the newest commits of a repository say how it calls its changes, and fewSubjects
// the least that say anything: what two or three have in common may be chance.
const (
	mostSubjects = 50
	fewSubjects  = 5
)

// withKind is a title with a kind: "fix: words", "feat(api)!: words".
var withKind = text.Pattern(`^(feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(\([^()]+\))?!?: \S`)

// titleOf gives the title of the pull request of a run: the one given, and before it the kind of the change if at
// least four in five of the subjects of commits have one, merges left out.
func titleOf(title string, run metadata.Run, subjects []string) string {
	subjects = slices.DeleteFunc(slices.Clone(subjects[:min(len(subjects), mostSubjects)]), func(s string) bool { return strings.HasPrefix(s, "Merge ") })
	plain := slices.DeleteFunc(slices.Clone(subjects), withKind().MatchString)
	if withKind().MatchString(title) || len(subjects) < fewSubjects || len(plain)*5 > len(subjects) {
		return title
	}
	return kindOf(run) + ": " + title
}

// kindOf is the kind of what a run changes: by its newest report with a field kind, its pipeline, or a label of the issue.
func kindOf(run metadata.Run) string {
	said := append([]string{run.Pipeline.Name}, run.Issue.Labels...)
	for _, rec := range run.Phases {
		var report struct{ Kind string }
		if rec.Status == metadata.PhaseCompleted && json.Unmarshal(rec.Report, &report) == nil { // one of another shape says nothing of that
			said = append([]string{report.Kind}, said...)
		}
	}
	for _, word := range said {
		if kind := kinds[strings.ToLower(strings.TrimPrefix(word, "reprise:"))]; kind != "" {
			return kind
		}
	}
	return "feat"
}

// kinds has the kinds that words of a report, a pipeline or a label stand for.
var kinds = map[string]string{
	"feat": "feat", "feature": "feat", "enhancement": "feat", "fix": "fix", "bug": "fix", "bugfix": "fix", "docs": "docs", "documentation": "docs",
	"refactor": "refactor", "refactoring": "refactor", "test": "test", "tests": "test", "perf": "perf", "performance": "perf",
	"build": "build", "ci": "ci", "chore": "chore", "style": "style", "revert": "revert",
}
