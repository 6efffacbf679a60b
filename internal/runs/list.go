// Package runs is all runs of a repository, as its branches and the folders on this
// machine have them: listed, followed, shown as changes and places, and cleaned up
// after. It only reads, but for what Clean is told to remove.
package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The places that may have the branch of a run.
const (
	Here   = "here"
	Origin = "origin" // as it was fetched last
)

// Run is one run of a repository.
type Run struct {
	Issue     string          `json:"issue"`
	Title     string          `json:"title"`
	Status    metadata.Status `json:"status"`
	Code      metadata.Code   `json:"reason_code,omitempty"` // why it does not go on
	Phase     string          `json:"phase"`
	Completed int             `json:"phases_completed"` // skipped ones among them
	Phases    int             `json:"phases"`
	Pipeline  string          `json:"pipeline"`
	Branch    string          `json:"branch"`
	Where     []string        `json:"where"` // Here, Origin or both; none if the branch is gone
	USD       float64         `json:"cost_usd"`
	Rollbacks int             `json:"rollbacks"`
	Created   time.Time       `json:"created_at"`
	Updated   time.Time       `json:"updated_at"`

	Record metadata.Run `json:"-"`
}

// List gives all runs that have a branch here or on origin, as it was fetched last;
// the one that moved last comes first. A run that cannot be read is in the error,
// and keeps none of the others from being listed.
func List(ctx context.Context, env environ.Env, src *git.Source) ([]Run, error) {
	return list(ctx, env, src, nil)
}

// Every is List, and those runs whose branch is gone and whose record is kept here by
// name, as after a merge.
func Every(ctx context.Context, env environ.Env, src *git.Source) ([]Run, error) {
	kept, err := src.BranchesIn(ctx, git.KeptRefs, "")
	if err != nil {
		return nil, err
	}
	records := map[string]string{}
	for _, ref := range kept {
		if id, is := strings.CutPrefix(ref.Name, phases.RecordName("")); is && metadata.CheckID(id) == nil {
			records[id] = ref.Commit
		}
	}
	return list(ctx, env, src, records)
}

// list gives the runs that have a branch or, by the id of the issue, a record that is kept.
func list(ctx context.Context, env environ.Env, src *git.Source, kept map[string]string) (all []Run, err error) {
	branches, err := branchesOf(ctx, env, src)
	if err != nil {
		return nil, err
	}
	for id, commit := range kept {
		if branches[id] == nil {
			branches[id] = map[string]string{"": commit}
		}
	}
	var broken []error
	for _, id := range slices.Sorted(maps.Keys(branches)) {
		run, where, err := newest(ctx, src, id, branches[id])
		switch gone := len(where) == 0; {
		case !gone && errors.Is(err, fs.ErrNotExist):
			continue // a branch of another kind
		case err != nil:
			broken = append(broken, fmt.Errorf("issue %s: %w", id, err))
			continue
		case !gone:
			if further, _ := workspace.Further(env, src, id, run); further != nil {
				run = *further
			}
		}
		all = append(all, listed(run, where))
	}
	slices.SortStableFunc(all, func(a, b Run) int { return b.Updated.Compare(a.Updated) })
	return all, errors.Join(broken...)
}

// branchesOf gives the commit of each branch of a run, by the id of its issue and
// the place.
func branchesOf(ctx context.Context, env environ.Env, src *git.Source) (map[string]map[string]string, error) {
	all := map[string]map[string]string{}
	folder, _ := path.Split(env.Prefix()) // a prefix may end within a name, which git lists no branches by
	for place, refs := range map[string]string{Here: "refs/heads/", Origin: "refs/remotes/origin/"} {
		branches, err := src.BranchesIn(ctx, refs, folder)
		if err != nil {
			return nil, err
		}
		for _, b := range branches {
			id, ok := strings.CutPrefix(b.Name, env.Prefix())
			if !ok || metadata.CheckID(id) != nil {
				continue
			}
			if all[id] == nil {
				all[id] = map[string]string{}
			}
			all[id][place] = b.Commit
		}
	}
	return all, nil
}

// newest reads the record of a run where it has got furthest, and says which places have its
// branch; it is kept by name in the place "".
func newest(ctx context.Context, src *git.Source, id string, commits map[string]string) (found metadata.Run, where []string, failed error) {
	where = []string{}
	read := map[string]bool{}
	for _, place := range []string{Here, Origin, ""} {
		commit, is := commits[place]
		if is && place != "" {
			where = append(where, place)
		}
		if !is || read[commit] {
			continue
		}
		read[commit] = true
		run, err := recordAt(ctx, src, id, commit)
		switch {
		case err != nil:
			failed = cmp.Or(failed, err)
		case found.IssueNumber == "" || later(run, found):
			found = run
		}
	}
	if found.IssueNumber != "" {
		failed = nil
	}
	return found, where, failed
}

// later reports whether a record is newer than another of the same issue.
func later(a, b metadata.Run) bool {
	if a.Execution.ID == b.Execution.ID {
		return a.Revision > b.Revision
	}
	return a.UpdatedAt.After(b.UpdatedAt)
}

func recordAt(ctx context.Context, src *git.Source, id, commit string) (metadata.Run, error) {
	name := phases.RecordFile(id)
	data, err := workspace.RecordReader(ctx, src, commit, id)(name)
	if err != nil {
		return metadata.Run{}, err
	}
	return metadata.ParseOf(id, data, fmt.Sprintf("%.12s:%s", commit, name))
}

// listed gives what a list tells about a run.
func listed(run metadata.Run, where []string) Run {
	r := Run{
		Issue: run.IssueNumber, Title: run.IssueTitle, Status: run.Status, Phase: run.CurrentPhase, Phases: len(run.Phases),
		Pipeline: run.Pipeline.Name, Branch: run.BranchName, Where: where, USD: metadata.Rounded(run.Cost.USD), Rollbacks: len(run.RollbackHistory),
		Created: run.CreatedAt, Updated: run.UpdatedAt, Record: run,
	}
	if run.Stop != nil {
		r.Code, r.Phase = run.Stop.Code, cmp.Or(run.Stop.Phase, r.Phase)
	}
	for _, p := range run.Phases {
		if p.Status == metadata.PhaseCompleted || p.Status == metadata.PhaseSkipped {
			r.Completed++
		}
	}
	return r
}
