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
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// The places that may have the branch of a run.
const (
	here   = "here"
	origin = "origin" // as it was fetched last
)

// Run is one run of a repository.
type Run struct {
	Issue     string          `json:"issue"`
	Title     string          `json:"title"`
	Status    metadata.Status `json:"status"`
	Code      metadata.Code   `json:"reason_code,omitempty"` // why it does not go on
	Phase     string          `json:"phase"`
	Step      string          `json:"step,omitempty"`   // of the phase, while it is at work
	Completed int             `json:"phases_completed"` // skipped ones among them
	Phases    int             `json:"phases"`
	Pipeline  string          `json:"pipeline"`
	Branch    string          `json:"branch"`
	Where     []string        `json:"where"` // here, origin or both; none if the branch is gone
	view.Dollars
	Rollbacks int       `json:"rollbacks"`
	Created   time.Time `json:"created_at,omitzero"`
	Updated   time.Time `json:"updated_at,omitzero"`
	Waits     string    `json:"waits,omitempty"` // what it waits for, in English
	Next      []string  `json:"next,omitempty"`  // commands for one that has stopped, the likeliest first

	Record metadata.Run `json:"-"`
}

// List gives all runs that have a branch here or on origin, as it was fetched last: those that people have to look at
// first, and of the others the one that moved last. With git.KeptRefs as more it also gives those whose branch is gone and whose
// record is kept here by name, as after a merge. A run that cannot be read is in the error, and keeps none of the others from being listed.
func List(ctx context.Context, env environ.Env, src *git.Source, more ...string) (all []Run, err error) {
	of, err := byIssue(ctx, env, src, more...)
	if err != nil {
		return nil, err
	}
	var broken []error
	for _, id := range slices.Sorted(maps.Keys(of)) {
		run, where, err := newest(of[id])
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
	slices.SortStableFunc(all, func(a, b Run) int {
		return cmp.Or(text.Count(b.Waits != "")-text.Count(a.Waits != ""), b.Updated.Compare(a.Updated))
	})
	return all, errors.Join(broken...)
}

// byIssue gives the branches of runs, and refs that are in more folders, by the ids of their issues.
func byIssue(ctx context.Context, env environ.Env, src *git.Source, more ...string) (map[string][]workspace.RefRun, error) {
	refs, err := workspace.RefRuns(ctx, env, src, append([]string{workspace.BranchesHere, workspace.BranchesAfar}, more...)...)
	of := map[string][]workspace.RefRun{}
	for _, r := range refs {
		of[r.ID] = append(of[r.ID], r)
	}
	return of, err
}

// merged gives the run of an issue whose branch was merged with its folder, as `finish: "keep"` leaves it, and is gone.
func merged(ctx context.Context, src *git.Source, id string) []workspace.RefRun {
	data, err := src.ReadPlain(ctx, src.Head, phases.RecordFile(id))
	if err != nil {
		return nil // where nothing is, an issue begins
	}
	run, err := metadata.ParseOf(id, data, phases.RecordFile(id))
	if err == nil && run.Status != metadata.Completed {
		return nil
	}
	return []workspace.RefRun{{ID: id, Ref: git.Ref{Name: git.KeptRefs, Commit: src.Head}, Source: src, Run: run, Err: err}}
}

// newest gives the record of a run where it has got furthest, and says which places have its
// branch. A record that is kept by name counts only where there is none.
func newest(refs []workspace.RefRun) (found metadata.Run, where []string, failed error) {
	where = []string{}
	for _, r := range refs {
		if !r.Kept() {
			where = append(where, map[bool]string{true: here, false: origin}[strings.HasPrefix(r.Ref.Name, workspace.BranchesHere)])
		}
	}
	for _, r := range refs {
		switch {
		case r.Kept() && len(where) > 0:
		case r.Err != nil:
			failed = cmp.Or(failed, r.Err)
		case found.IssueNumber == "" || workspace.Newer(r.Run, found):
			found = r.Run
		}
	}
	if found.IssueNumber != "" {
		failed = nil
	}
	return found, where, failed
}

// listed gives what a list tells about a run.
func listed(run metadata.Run, where []string) Run {
	r := Run{
		Issue: run.IssueNumber, Title: run.IssueTitle, Status: run.Status, Phase: phases.AtHand(run), Phases: len(run.Phases),
		Pipeline: run.Pipeline.Name, Branch: run.BranchName, Where: where, Dollars: view.DollarsOf(run), Rollbacks: len(run.RollbackHistory),
		Created: run.CreatedAt, Updated: run.UpdatedAt, Record: run,
	}
	if run.Stop != nil {
		s := view.Result(phases.On(&pipelines.Pipeline{}, run)) // a list reads no pipelines
		if r.Next = s.Next; run.Status == metadata.Waiting || run.Status == metadata.Failed {
			r.Waits = text.JoinLines(s.Error)
		}
		r.Code, r.Phase = run.Stop.Code, cmp.Or(run.Stop.Phase, r.Phase)
	}
	if n := len(run.Attempts); n > 0 && run.Status == metadata.Running && run.Attempts[n-1].Status == metadata.Started {
		r.Step = string(run.Attempts[n-1].Step)
	}
	for _, p := range run.Phases {
		if p.Status == metadata.PhaseCompleted || p.Status == metadata.PhaseSkipped {
			r.Completed++
		}
	}
	return r
}

// TallyOf adds up runs.
func TallyOf(all []Run) view.Tally {
	records := make([]metadata.Run, len(all))
	for i, r := range all {
		records[i] = r.Record
	}
	return view.TallyOf(records)
}

// mostStats is how many gates and findings are printed; as JSON there are all.
const mostStats = 15

// enoughJudged is how often a gate was judged before it is said that it never fails.
const enoughJudged = 5

// ShowStats prints what runs came to.
func ShowStats(env environ.Env, t view.Tally) {
	o := terminal.ShowOptions(env)
	out, narrow := terminal.NewReport(env.Stdout, o), o.Width > 0 && o.Width < 90
	say := func(format string, args ...any) { terminal.Tell(env.Stdout, fmt.Sprintf(format, args...)) }
	if t.Runs == 0 {
		say("There is no run in this repository; start one with: reprise run --issue-file FILE")
		return
	}
	statuses := ""
	for _, s := range slices.Sorted(maps.Keys(t.Statuses)) {
		statuses = text.Join(", ", statuses, fmt.Sprintf("%d %s", t.Statuses[s], text.Words(s)))
	}
	say("%s (%s), %s", text.Plural(t.Runs, "run"), statuses, t.CostIn("en"))
	if c := t.Completed; c.Runs > 0 {
		say("A completed run cost %s, took %s and made %.0f calls (medians of %d); in %d of them no person took anything back",
			c.CostShort(), text.Duration(seconds(c.Seconds)), c.Attempts, c.Runs, c.WithoutPeople)
	}
	wide := func(cell string) string { return text.If(!narrow, cell) } // a column without words is left out
	most := 0
	if narrow {
		most = 17 // of a name, so that all other columns have room on 50
	}
	statsTable(out, "Phases", "lrrrrrrrr", []string{"phase", wide("runs"), "failed", "rejected", wide("checks failed"), wide("unusable"), "back", "cost", wide("work")}, t.Phases, func(p view.Phase) []string {
		return []string{
			text.Cut(text.Flat(p.Name), most), wide(fmt.Sprint(p.Runs)), fmt.Sprint(p.Failed), ofSome(p.Rejected, p.Reviews), wide(ofSome(p.ChecksFail, p.Checks)), wide(fmt.Sprint(p.Unusable)),
			fmt.Sprint(p.ByPeople + p.ByItself), p.CostShort(), wide(text.Duration(seconds(p.Seconds))),
		}
	})
	var fail, never []view.Gate
	for _, g := range t.Gates {
		switch {
		case g.Failed > 0:
			fail = append(fail, g)
		case g.Judged >= enoughJudged:
			never = append(never, g)
		}
	}
	gate := func(g view.Gate) []string {
		return []string{ofSome(g.Failed, g.Judged), text.Flat(g.Phase), text.Cut(text.Flat(g.Gate), 100)}
	}
	statsTable(out, "Gates that fail", "rll", []string{"failed", "phase", "gate"}, fail, gate)
	statsTable(out, fmt.Sprintf("Gates that never fail, judged at least %d times", enoughJudged), "rll", []string{"failed", "phase", "gate"}, never, gate)
	statsTable(out, "Reviewers", "llrrr", []string{"agent", "model", "reviews", "rejected", "missed"}, t.Reviewers, func(r view.Reviewer) []string {
		return []string{text.Flat(r.Agent), text.Flat(r.Model), fmt.Sprint(r.Reviews), fmt.Sprint(r.Rejected), fmt.Sprint(r.Missed)}
	})
	statsTable(out, "Models", "lrrr", []string{"model", "calls", "tokens", "cost"}, t.Models, func(m view.Model) []string {
		return []string{cmp.Or(text.Flat(m.Model), "not said"), fmt.Sprint(m.Calls), text.Tokens(m.Tokens), m.CostShort()}
	})
	statsTable(out, "What people found that a review had passed", "llll", []string{"issue", "phase", "reviewer", "what"}, t.Missed, func(m view.Missed) []string {
		return []string{text.Flat(m.Issue), text.Flat(m.Phase), text.Flat(m.Agent), text.Cut(text.Flat(text.FirstLine(m.What)), 100)}
	})
}

// ofSome says how many of some; nothing of none.
func ofSome(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// statsTable prints a table that has lines. How each column is aligned is one letter of align.
func statsTable[T any](out terminal.Report, title, align string, heads []string, all []T, row func(T) []string) {
	if len(all) == 0 {
		return
	}
	out.Heading(title)
	t := text.Table{Align: align}
	t.Add(heads...)
	for _, one := range all[:min(len(all), mostStats)] {
		t.Add(row(one)...)
	}
	out.Fitted(&t, out.Heads)
	if left := len(all) - mostStats; left > 0 {
		out.Line("%s", out.Faint(fmt.Sprintf("and %d more: see them with --json", left)))
	}
}
