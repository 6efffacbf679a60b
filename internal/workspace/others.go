package workspace

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/others"
	"github.com/reprise-ci/reprise/phases/scope"
)

// The most that agents are told of other runs.
const (
	mostOthers     = 8  // runs
	mostOtherTasks = 8  // of one run
	mostOtherFiles = 20 // of one run
	mostOtherText  = 120
)

// neighbours are the other open runs of the repository: by their branches here and, as
// it was fetched last, on origin.
type neighbours struct {
	of  *Workspace
	env environ.Env
}

// tell gives what agents are told of them. One that cannot be read is left out, as it
// keeps nobody from working.
func (n neighbours) tell(ctx context.Context, run metadata.Run) ([]others.Run, error) {
	if n.of.Source == nil || n.of.backend.Agent != nil { // branches that a test keeps in memory
		return nil, nil
	}
	all, err := n.open(ctx)
	if err != nil {
		return nil, err
	}
	own := append(scope.Touches(run), n.changed(ctx, run.BaseCommit, n.of.Repo.Tip())...)
	var out []others.Run
	for _, o := range all[:min(len(all), mostOthers)] {
		files := append(n.changed(ctx, o.run.BaseCommit, o.commit), scope.Touches(o.run)...)
		out = append(out, otherOf(o.run, files, own))
	}
	return out, nil
}

// openRun is a run of another issue, and the commit that has its record.
type openRun struct {
	run    metadata.Run
	commit string
}

// open lists the runs of other issues that are not over, the one that moved last
// first.
func (n neighbours) open(ctx context.Context) ([]openRun, error) {
	newest := map[string]openRun{}
	folder, _ := path.Split(n.env.Prefix()) // a prefix may end within a name, which git lists no branches by
	for _, refs := range []string{"refs/heads/", "refs/remotes/origin/"} {
		branches, err := n.of.Source.BranchesIn(ctx, refs, folder)
		if err != nil {
			return nil, err
		}
		for _, b := range branches {
			id, ok := strings.CutPrefix(b.Name, n.env.Prefix())
			if !ok || id == n.of.Issue.ID || metadata.CheckID(id) != nil {
				continue
			}
			data, err := n.of.Source.ReadFile(ctx, b.Commit, RecordFile(id))
			if err != nil {
				continue // a branch of another kind, or one that cannot be read
			}
			run, err := metadata.Parse(data, b.Name)
			if known, there := newest[id]; err == nil && (!there || run.UpdatedAt.After(known.run.UpdatedAt)) {
				newest[id] = openRun{run, b.Commit}
			}
		}
	}
	var all []openRun
	for _, o := range newest {
		if o.run.Status != metadata.Completed && o.run.Status != metadata.Cancelled {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b openRun) int {
		return cmp.Or(b.run.UpdatedAt.Compare(a.run.UpdatedAt), strings.Compare(a.run.IssueNumber, b.run.IssueNumber))
	})
	return all, nil
}

// changed lists the files that differ between two commits, besides those of reprise;
// none where that cannot be said, such as in a clone that lacks the commits.
func (n neighbours) changed(ctx context.Context, from, to string) (names []string) {
	change, err := n.of.Source.Difference(ctx, from, to, path.Dir(phases.Folder(n.of.Issue.ID)))
	if err != nil {
		return nil
	}
	for line := range strings.Lines(change.Text) {
		rest, is := strings.CutPrefix(strings.TrimRight(line, "\r\n"), "diff --git ") // no line of a file begins so in a patch
		if at := max(strings.LastIndex(rest, " b/"), strings.LastIndex(rest, ` "b/`)); is && at >= 0 {
			names = append(names, strings.TrimSuffix(strings.TrimPrefix(strings.TrimPrefix(rest[at+1:], `"`), "b/"), `"`))
		}
	}
	return names
}

// otherOf says of another run what agents are told.
func otherOf(run metadata.Run, files, own []string) others.Run {
	short := func(s string) string { return text.Cut(text.Flat(s), mostOtherText) }
	o := others.Run{ID: short(run.IssueNumber), Title: short(run.IssueTitle), Status: string(run.Status), Phase: run.CurrentPhase}
	for _, t := range run.Tasks[:min(len(run.Tasks), mostOtherTasks)] {
		o.Tasks = append(o.Tasks, short(t.Title))
	}
	slices.Sort(files)
	for _, f := range slices.Compact(files) {
		if len(o.Files) < mostOtherFiles {
			o.Files = append(o.Files, short(f))
		}
		if slices.Contains(own, f) && len(o.Shared) < mostOtherFiles {
			o.Shared = append(o.Shared, short(f))
		}
	}
	return o
}
