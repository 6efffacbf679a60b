package bot

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// BaseName is that of the base of a run; "" if it is not known.
func BaseName(run metadata.Run, src *git.Source) string {
	return cmp.Or(run.BaseBranch, src.DefaultBranch)
}

// BaseStanding says how a run stands to its base, as both were fetched last. It is empty if
// the run has all of it, or that is not known.
func BaseStanding(ctx context.Context, src *git.Source, run metadata.Run) metadata.Reason {
	name := BaseName(run, src)
	refs := []string{"refs/heads/" + name}
	if run.Execution.Push {
		refs = []string{"refs/remotes/origin/" + name, refs[0]}
	}
	for _, ref := range refs {
		state, err := src.Behind(ctx, run.BranchName, ref, run.BaseCommit)
		if err == nil {
			state.Conflicts = outside(run, state.Conflicts)
			return saidOfBase(name, state)
		}
	}
	return ""
}

// outside leaves out what lies in the folder of a run: there it keeps what it has.
func outside(run metadata.Run, paths []string) []string {
	return slices.DeleteFunc(paths, func(p string) bool { return strings.HasPrefix(p, phases.Folder(run.IssueNumber)+"/") })
}

// saidOfBase puts into words how a run stands to a branch.
func saidOfBase(name string, s git.BaseState) metadata.Reason {
	var behind, back metadata.Reason
	switch {
	case len(s.Conflicts) > 0:
		behind = metadata.Because("base_conflicts", "branch", name, "n", s.Behind, "paths", shown(s.Conflicts))
	case s.Behind > 0:
		behind = metadata.Because("base_behind", "branch", name, "n", s.Behind)
	}
	if s.Gone > 0 {
		back = metadata.Because("base_set_back", "branch", name, "n", s.Gone)
	}
	return metadata.All(behind, back)
}

// shown are paths as people see them.
func shown(paths []string) (out []string) {
	for _, p := range paths {
		if metadata.CheckPath(p) != nil {
			p = strconv.Quote(p)
		}
		out = append(out, p)
	}
	return out
}

// BaseUpdater brings the base into the branch of a run. Each of its commits has the record
// as well, so a process that is killed between two of them leaves a run that goes on.
type BaseUpdater struct {
	Workspace *workspace.Workspace
	Engine    *engine.Engine
	Base      string                                        // its name; empty: as BaseName gives it
	Renamed   func(ctx context.Context, from string) string // its name by now, if that is another one; may be nil
	Now       func() time.Time
	Warn      func(error)           // that the base could not be looked at, which stops nothing
	Tell      func(metadata.Reason) // how the run stands to it, before it is brought in; may be nil

	found  bool
	tip    string // for which it was found
	commit string
	state  git.BaseState
}

// Next is the base as a source of its engine.
func (u *BaseUpdater) Next(ctx context.Context, run metadata.Run, d phases.Decision) (engine.Take, error) {
	if !u.due(ctx, run, d) {
		return nil, nil
	}
	return func() (metadata.Run, error) { return u.step(ctx, run) }, nil
}

// Bring brings the base in at once. That it cannot be looked at is an error here: somebody waits for it.
func (u *BaseUpdater) Bring(ctx context.Context, run metadata.Run) (next metadata.Run, err error) {
	var unknown error
	defer func(warn func(error)) { u.Warn = warn }(u.Warn)
	u.Warn = func(err error) { unknown = err }
	for u.due(ctx, run, phases.Decision{}) {
		if run, err = u.step(ctx, run); err != nil || run.Status != metadata.Running {
			return run, err
		}
	}
	return run, unknown
}

// Look asks how the branch stands to its base now, and reports whether there is anything to bring in.
func (u *BaseUpdater) Look(ctx context.Context, run metadata.Run) (bool, error) {
	err := u.look(ctx, run)
	return u.found, err
}

// due reports whether there is something to do before a decision is carried out.
func (u *BaseUpdater) due(ctx context.Context, run metadata.Run, d phases.Decision) bool {
	if len(phases.OpenConflicts(run)) > 0 {
		return true
	}
	if ctx.Err() != nil {
		return false
	}
	if _, mended := phases.ConflictMended(phases.On(u.Workspace.Plan, run), u.Now()); mended {
		return true
	}
	due := phases.MergeDue(phases.On(u.Workspace.Plan, run), d)
	if (due && d.Final() || phases.MergeEnds(run, d)) && len(u.marked(ctx, run)) > 0 {
		return true
	}
	if !due {
		return false
	}
	if !u.found || u.tip != u.Workspace.Repo.Tip() {
		if err := u.look(ctx, run); err != nil {
			u.Warn(err)
			return false
		}
	}
	return u.found && (u.state.Gone == 0 || phases.MergeRequested(run)) // of a base that was set back, a person decides
}

// look asks how the branch stands to its base now.
func (u *BaseUpdater) look(ctx context.Context, run metadata.Run) error {
	u.found, u.tip = false, u.Workspace.Repo.Tip()
	name := cmp.Or(u.Base, BaseName(run, u.Workspace.Source))
	if name == "" {
		return nil
	}
	commit, state, err := u.Workspace.Repo.FindBase(ctx, name, run.BaseCommit)
	if err != nil && u.Renamed != nil {
		if now := u.Renamed(ctx, name); now != "" {
			u.Base = now
			return u.look(ctx, run)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the branch is gone, or it never was one of this repository
	}
	if err != nil {
		return fmt.Errorf("how the run stands to %s is not known: %w", name, err)
	}
	state.Conflicts = outside(run, state.Conflicts)
	u.commit, u.state, u.found = commit, state, state.Behind > 0 || state.Has
	if u.Tell != nil {
		u.Tell(saidOfBase(name, state))
	}
	return nil
}

// step is one commit: it has conflicts mended that were found, gives up, or merges.
func (u *BaseUpdater) step(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	if paths := phases.OpenConflicts(run); len(paths) > 0 {
		back, err := phases.MendConflict(phases.On(u.Workspace.Plan, run), metadata.Because("conflict_reason", "paths", paths).In(prompts.Words(run.Language)), u.Now())
		if err != nil {
			return run, err
		}
		return back.Run, u.Engine.Rollback(ctx, back, nil)
	}
	if paths := u.marked(ctx, run); len(paths) > 0 {
		return u.giveUp(ctx, run, metadata.Because("conflict_left", "paths", shown(paths)))
	}
	if next, mended := phases.ConflictMended(phases.On(u.Workspace.Plan, run), u.Now()); mended {
		return u.record(ctx, next, "", nil, nil)
	}
	u.found = false
	return u.merge(ctx, run)
}

// merge merges the base, as it was found.
func (u *BaseUpdater) merge(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	plan, name := u.Workspace.Plan, cmp.Or(u.Base, BaseName(run, u.Workspace.Source))
	m := metadata.Merge{At: u.Now(), Commit: u.commit, Conflicts: shown(u.state.Conflicts)}
	if u.state.Has {
		return u.record(ctx, phases.MergeMade(phases.On(plan, run), m, metadata.Because("base_has", "branch", name)), "", nil, nil)
	}
	at := func(why metadata.Reason) (metadata.Run, error) {
		return u.giveUp(ctx, run, metadata.Because("conflict_at", "branch", name, "paths", m.Conflicts, "why", why))
	}
	if len(m.Conflicts) > git.MostConflicts {
		return at(metadata.Because("conflict_many", "n", len(m.Conflicts)))
	}
	if len(m.Conflicts) > 0 {
		if why := phases.WhyPersonMerges(phases.On(plan, run), u.state.Conflicts); why != "" {
			return at(why)
		}
	}
	staged, result, err := u.Workspace.Merge(ctx, u.commit, run.BaseCommit)
	unfit, isUnfit := errors.AsType[*git.Unfit](err)
	switch {
	case isUnfit: // each time anew, until it has another name there
		return u.giveUp(ctx, run, metadata.Because("base_name_unfit", "branch", name, "path", shown([]string{unfit.Path})[0]))
	case err != nil:
		return run, err
	}
	// A rename can carry the run's change of a file to a path that no agent may change, and a link of
	// the base can make the run's text one that no agent may write.
	if paths := slices.DeleteFunc(outside(run, result.Mixed), func(p string) bool { return !pipelines.IsProtected(p, plan.Protect) }); len(paths) > 0 {
		if err := u.Workspace.Repo.Restore(context.WithoutCancel(ctx)); err != nil {
			return run, err
		}
		m.Conflicts = shown(paths)
		return at(metadata.Because("conflict_protected", "path", m.Conflicts[0]))
	}
	why := metadata.Because("base_merged", "branch", name, "n", u.state.Behind)
	if len(m.Conflicts) > 0 {
		why = metadata.Because("base_merged_with", "branch", name, "n", u.state.Behind, "paths", m.Conflicts)
	}
	next := phases.MergeMade(phases.On(plan, run), m, why)
	files := map[string][]byte{}
	result.Conflicts = slices.DeleteFunc(result.Conflicts, func(c git.Conflict) bool { return len(outside(run, []string{c.Path})) == 0 })
	for i, c := range result.Conflicts {
		if !isText(c) {
			err := u.Workspace.Repo.Restore(context.WithoutCancel(ctx))
			if err != nil {
				return run, err
			}
			return at(metadata.Because("conflict_no_text", "path", shown([]string{c.Path})[0]))
		}
		folder := phases.MergeFolder(phases.On(plan, next), i+1)
		for n, side := range []string{"base", "ours", "theirs"} {
			if v := c.Sides[n]; v.Object != "" {
				files[path.Join(folder, side+".txt")] = v.Data
			}
		}
	}
	merged, err := u.record(ctx, next, u.commit, staged, files)
	if kept := (&engine.NotPushed{}); errors.As(err, &kept) && kept.Withdraw != nil { // what the base has is not ours to change
		again, failed := kept.Withdraw(ctx)
		if failed != nil {
			return run, errors.Join(err, failed)
		}
		u.Engine.Tree = u.Workspace.Repo.At(run.BaseCommit)
		next, failed = u.giveUp(ctx, run, metadata.Because("base_refused", "branch", name, "rule", metadata.Said(phases.LastWords(u.Engine.Mask(kept.Rule)))))
		if errors.As(failed, new(*engine.NotPushed)) { // this is no matter of the base
			return run, errors.Join(err, again(ctx))
		}
		return next, failed
	}
	return merged, err
}

// isText reports whether a conflict is one of texts, which an agent can mend.
func isText(c git.Conflict) bool {
	for _, v := range c.Sides {
		if v.Object != "" && (v.Data == nil || !utf8.Valid(v.Data) || bytes.IndexByte(v.Data, 0) >= 0) {
			return false
		}
	}
	return true
}

// marked gives the paths of the newest conflicts that still have the marks of one.
func (u *BaseUpdater) marked(ctx context.Context, run metadata.Run) (out []string) {
	for _, p := range phases.LastConflicts(run) {
		data, err := u.Workspace.Repo.ReadFile(ctx, u.Workspace.Repo.Tip(), p)
		if err == nil && git.Marked(data) {
			out = append(out, p)
		}
	}
	return out
}

// record commits the record of a merge. The instructions to agents are those of the base from then on.
func (u *BaseUpdater) record(ctx context.Context, next metadata.Run, commit string, staged engine.StagedTree, files map[string][]byte) (metadata.Run, error) {
	err := u.Engine.Merge(ctx, next, commit, staged, files)
	if err == nil {
		u.Engine.Report.Report(engine.Event{At: next.UpdatedAt, Run: next})
		if u.Tell != nil {
			u.Tell("")
		}
	}
	u.Engine.Tree = u.Workspace.Repo.At(next.BaseCommit)
	return next, err
}

func (u *BaseUpdater) giveUp(ctx context.Context, run metadata.Run, why metadata.Reason) (metadata.Run, error) {
	next := phases.GiveUpMerge(phases.On(u.Workspace.Plan, run), why, u.Now())
	return next, u.Engine.Amend(ctx, next, "stopped: "+string(metadata.Conflicts))
}
