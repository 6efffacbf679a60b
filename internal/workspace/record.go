package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// load reads the run from its branch, or prepares a new one.
func (w *opening) load(ctx context.Context) error {
	read := func(name string) ([]byte, error) { return w.Repo.ReadFile(ctx, w.Repo.Tip(), name) }
	data, err := read(phases.RecordFile(w.Issue.ID))
	if w.Repo.New() && (errors.Is(err, fs.ErrNotExist) || w.o.anew() || !w.o.Scratch) {
		// The commit it starts from may hold a run of the same issue that was
		// merged long ago.
		return w.begin(ctx)
	}
	if w.Run, err = w.parse(data, err); err != nil {
		return err
	}
	w.known = w.Run.Clone()
	given := w.Issue
	if w.Definition, w.Issue, err = thaw(w.Run, read); err != nil {
		return err
	}
	if !w.o.TrustBranch && !w.o.Refresh && !w.o.Scratch && (!w.o.Still || len(w.Plan.Hooks) > 0) {
		if err := w.checkTrust(ctx); err != nil {
			return err
		}
	}
	given.Mask(w.Env)
	if removed := given.Clean(); w.o.RefreshIssue {
		w.Removed = removed
	}
	if err := w.sameTitle(given); err != nil {
		return err
	}
	if w.Given = given; !w.o.Refresh && !w.o.RefreshIssue {
		w.Notes = w.without(given)
	}
	if err := w.touched(ctx); err != nil {
		return err
	}
	if w.local == nil || w.local.Execution.ID != w.Run.Execution.ID {
		w.Elsewhere = len(w.Run.Attempts)
	}
	if !w.o.Scratch {
		w.absorb()
	}
	return w.assign(w.o.Choice)
}

// begin prepares a new run.
func (w *opening) begin(ctx context.Context) (err error) {
	switch {
	case w.o.File != "", w.o.Given != nil:
	case w.there != nil:
		if w.Issue, err = w.readThere(ctx, w.o); err != nil {
			return err
		}
	case w.o.Online:
		return exit.Usagef("%w; it cannot be read from GitHub: %s", noRun(ctx, w.Env, w.Source, w.Issue.ID), w.nowhere)
	case w.o.Scratch && w.Source.RemoteURL != "": // which does not look at origin
		return exit.Usagef("%w; one that only origin has comes here with: git fetch origin", noRun(ctx, w.Env, w.Source, w.Issue.ID))
	default:
		return noRun(ctx, w.Env, w.Source, w.Issue.ID)
	}
	if w.o.Given != nil && w.o.Hear != nil {
		if w.Issue, err = w.o.Hear(ctx, issue.Reference{}, w.Issue); err != nil {
			return err
		}
	}
	w.Issue.Mask(w.Env)
	w.Removed = w.Issue.Clean()
	if w.Definition, err = w.backend.Define(ctx, w.Source, w.Issue, w.o.Choice); err != nil {
		return err
	}
	w.Fresh = true
	repository := w.Source.GitHub
	if repository == "" && w.there != nil {
		repository = w.there.Repository
	}
	w.Run = metadata.Run{
		IssueNumber: w.Issue.ID, IssueURL: w.Issue.URL, IssueTitle: w.Issue.Title, Repository: repository,
		WorkflowVersion: environ.Version, BranchName: w.Branch, BaseCommit: w.Repo.Tip(), BaseBranch: w.base(),
		Execution: metadata.Execution{ID: uuid.NewString(), Push: w.Push},
		Issue:     w.Issue.Record(),
	}
	if w.Plan.Budget.IssueUSD > 0 {
		w.Run.Budget.EarlierUSD = costOfEarlier(ctx, w.Workspace, w.local)
	}
	return w.define(ctx, w.o, w.Definition)
}

// base is the branch that a new run starts from; "" if it starts from a commit that is not the tip of one.
func (w *opening) base() string {
	if isCommit := len(w.o.Base) >= 40; w.o.Base != "" && !isCommit {
		return strings.TrimPrefix(w.o.Base, "refs/heads/")
	}
	if w.o.Base != "" {
		return ""
	}
	return w.Source.Branch
}

// parse reads the record of a run on its branch, given what reading its file gave.
func (w *opening) parse(data []byte, err error) (metadata.Run, error) {
	name := phases.RecordFile(w.Issue.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		or := text.If(w.o.File != "", ", or give the issue another id")
		return metadata.Run{}, &metadata.Mistake{Message: fmt.Sprintf("branch %s exists but holds no run (%s is missing): restore that file, or rename or delete the branch%s", w.Branch, name, or)}
	case err != nil:
		return metadata.Run{}, err
	}
	run, err := metadata.ParseOf(w.Issue.ID, data, w.Branch+":"+name)
	if err == nil && run.BranchName != w.Branch { // what is asked of GitHub goes by it
		err = &metadata.Mistake{File: w.Branch + ":" + name, Path: "branch_name", Message: fmt.Sprintf("is %q, and it stands on %s", run.BranchName, w.Branch)}
	}
	switch {
	case err == nil:
	case errors.As(err, new(*metadata.NewerError)):
		err = fmt.Errorf("%w; nothing was moved or changed", err)
	default:
		where := "on the branch"
		if w.Push {
			where = "on the branch, here or on origin, wherever it was broken"
		}
		err = fmt.Errorf("%w; nothing was moved or changed: repair the file %s (git revert takes a commit back), and start again", err, where)
	}
	return run, err
}

// absorb takes in the attempts begun on this machine and never committed, and ends those that the record has as
// begun: parts that were at work when another one was committed. What the run has cost here counts in any case.
func (w *opening) absorb() {
	var seen []metadata.Attempt
	usd := 0.0
	if w.local != nil && w.local.Execution.ID == w.Run.Execution.ID {
		seen, usd = w.local.Attempts, w.local.Cost.USD
	}
	begun, before := w.Run.Attempts, len(w.Run.Attempts)
	w.Run = phases.Ended(w.Run, seen, w.Env.Now())
	if len(seen) > before {
		w.Run = phases.Absorb(w.Run, seen[before:], w.Env.Now())
	}
	w.Run.Cost.USD = max(w.Run.Cost.USD, usd)
	for i, a := range w.Run.Attempts {
		if i >= before || begun[i].Status == metadata.Started {
			w.Unfinished = append(w.Unfinished, a)
		}
	}
}

// touched notes what others put on the branch after the run's newest commit: what was approved is not there any more.
func (w *opening) touched(ctx context.Context) error {
	log, err := w.Repo.Log(ctx, w.Run.BaseCommit)
	if err != nil {
		return err
	}
	ours, err := w.newest(ctx, log, nil)
	if ours <= 0 || err != nil {
		return err // 0: the newest commit is one of the run
	}
	_, code, err := w.Repo.Diff(ctx, log[ours].Commit)
	if err != nil {
		return err
	}
	for _, rec := range w.Run.Phases {
		p := w.Plan.Phase(rec.Name)
		if p == nil || rec.Status == metadata.PhasePending || rec.Status == metadata.PhaseSkipped || rec.Digest == "" {
			continue
		}
		data, err := w.Repo.ReadFile(ctx, w.Repo.Tip(), path.Join(phases.Folder(w.Issue.ID), p.Folder, p.Writes))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		digest := phases.DigestOf(data)
		if digest != rec.Digest || code.Files > 0 && p.Access == pipelines.AccessTree && rec.Status == metadata.PhaseCompleted {
			w.Run = phases.Changed(w.Run, rec.Name, digest, w.Env.Now())
		}
	}
	return nil
}

// Restore takes the code back to when the target phase ended, or the attempt that is gone back to, to be committed with
// the rollback. With such an attempt its artifacts come back, too.
func (w *Workspace) Restore(ctx context.Context, r *phases.RollbackPlan) (engine.StagedTree, error) {
	phase := r.Entry.ToPhase
	if phases.MergedSince(w.Run, phase, r.Attempt) {
		return nil, phases.Refuse(metadata.Because("restore_merged", "phase", phase))
	}
	end, err := w.EndOf(ctx, phase, r.Attempt)
	if err != nil {
		return nil, err
	}
	if r.Attempt > 0 && r.Entry.ToStep != metadata.Execute {
		_, then, err := w.recordAt(ctx, end)
		if err != nil {
			return nil, err
		}
		r.StandOn(then.Phase(phase))
		r.Files = map[string][]byte{}
		for _, name := range r.Run.Phase(phase).OutputFiles {
			if r.Files[name], err = w.Repo.ReadFile(ctx, end, name); err != nil {
				return nil, err
			}
		}
	}
	stage, paths, err := w.Repo.Recover(ctx, end, ".reprise")
	r.Paths = paths
	return stage, err
}

// Merge brings into the tree what a commit of the base and the tip make together. From is a commit both have.
func (w *Workspace) Merge(ctx context.Context, commit, from string) (engine.StagedTree, git.MergeResult, error) {
	stage, result, err := w.Git().Merge(ctx, commit, from)
	if err != nil {
		return nil, result, err
	}
	return staged{w.Git(), stage}, result, nil
}

// EndOf finds the newest commit in which a step of a phase ended, or an attempt of it if that is not 0: the tree as it
// was left then. Other commits, such as a rollback's, only name the phase.
func (w *Workspace) EndOf(ctx context.Context, phase string, attempt int) (string, error) {
	log, err := w.Repo.Log(ctx, w.Run.BaseCommit)
	if err != nil {
		return "", err
	}
	at, err := w.newest(ctx, log, func(c git.LogEntry) bool {
		of := slices.Contains(c.Trailers, git.Trailer{Key: PhaseTrailer, Value: phase})
		return of && slices.ContainsFunc(c.Trailers, func(t git.Trailer) bool {
			return t.Key == AttemptTrailer && (attempt == 0 || t.Value == strconv.Itoa(attempt))
		})
	})
	switch {
	case err != nil:
		return "", err
	case at >= 0:
		return log[at].Commit, nil
	}
	return "", fmt.Errorf("no commit of phase %s is on %s, so there is nothing to restore from: take the run back without --restore and --attempt", phase, w.Run.BranchName)
}

// Unchanged refuses to approve a part, or what the run waits at, for what has changed since a commit.
func (w *Workspace) Unchanged(ctx context.Context, commit, part string) error {
	if commit == "" {
		return nil
	}
	phase, _, _, _ := phases.Approval(phases.On(w.Plan, w.Run), part)
	full, seen, err := w.recordAt(ctx, commit)
	if err != nil {
		return err
	}
	now, then := w.Run.Phase(phase), seen.Phase(phase)
	if then == nil || then.Generation != now.Generation || then.Written != now.Written || then.Digest != now.Digest {
		return fmt.Errorf("%s has changed since %.12s; look at it as it is now", phase, commit)
	}
	_, code, err := w.Repo.Diff(ctx, full)
	if err == nil && code.Files > 0 {
		err = fmt.Errorf("the code has changed since %.12s; look at it as it is now", commit)
	}
	return err
}

// recordAt gives the record at a commit, which may be named by its first digits, and that commit's full hash.
func (w *Workspace) recordAt(ctx context.Context, commit string) (string, metadata.Run, error) {
	log, err := w.Repo.Log(ctx, w.Run.BaseCommit)
	if err != nil {
		return "", metadata.Run{}, err
	}
	for _, c := range log {
		if !strings.HasPrefix(c.Commit, commit) {
			continue
		}
		data, err := w.Repo.ReadFile(ctx, c.Commit, phases.RecordFile(w.Issue.ID))
		if err != nil {
			return "", metadata.Run{}, err
		}
		run, err := metadata.Parse(data, commit)
		return c.Commit, run, err
	}
	return "", metadata.Run{}, fmt.Errorf("no commit %s of the run is on %s: git log %s shows those that are", commit, w.Run.BranchName, w.Source.Name(ctx, w.Run.BranchName))
}

// costOfEarlier gives what earlier runs of the issue cost, in US dollars, for a limit on all of them: each counts
// those before it, so the highest sum is all. Their records are in this run's base commit, kept by name here and, if the
// run is pushed, on origin, and in the run's folder (saved; nil: none). A note says that one could not be read.
func costOfEarlier(ctx context.Context, w *Workspace, saved *metadata.Run) (usd float64) {
	kept, file := KeptRef(w.Issue.ID), phases.RecordFile(w.Issue.ID)
	count := func(run metadata.Run) {
		if run.Execution.ID != w.Run.Execution.ID {
			usd = max(usd, phases.SpentOnIssue(run))
		}
	}
	read := func(src *git.Source, ref string) error {
		data, err := src.ReadFile(ctx, ref, file)
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		var run metadata.Run
		if err == nil {
			run, err = metadata.ParseOf(w.Issue.ID, data, file)
		}
		if err == nil {
			count(run)
		}
		return err
	}
	if saved != nil {
		count(*saved)
	}
	unknown := cmp.Or(read(w.Source, w.Run.BaseCommit), read(w.Source, kept))
	if w.Push {
		// What is fetched lies in that folder for this time.
		survey, err := git.NewSurvey(ctx, w.Source, filepath.Join(filepath.Dir(w.Repo.Dir()), "earlier"), w.tree.Token, []string{kept}, git.Only(kept))
		if err == nil {
			err = read(survey.Source, kept)
			survey.Close()
		}
		unknown = cmp.Or(err, unknown)
	}
	if unknown != nil {
		w.Notes = append(w.Notes, fmt.Sprintf("what an earlier run of issue %s has spent does not count towards issue_usd, as its record cannot be read: %v", w.Issue.ID, unknown))
	}
	return usd
}
