package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// queued is the status of an issue whose run can begin or go on.
const queued metadata.Status = "queued"

// item is an issue of a queue with its run, as far as there is one.
type item struct {
	Run

	priority int
	after    []string // ids of issues whose work has to be there first
	blocked  []string // what else it has to wait for, in words
	args     []string // of reprise run that name it
	wrong    string   // why it cannot be taken; "": it can

	seen    bool
	before  view.Dollars // its cost when it was seen first, less than nothing
	late    bool         // it was begun here, and another machine was faster
	tries   int          // that broke off in a row
	trouble string       // why the last did
	given   bool         // up: it is not tried again
	again   time.Time    // when one that has failed is tried again; zero: nobody knows
	shown   string       // what was printed of it last
}

const (
	firstAgain = 2 * time.Second // after which a run that broke off is tried again; then twice as long, and so on
	lastAgain  = 5 * time.Minute
	mostTries  = 5 // of one run that breaks off, unless the worker watches
)

func (it *item) spent() view.Dollars { return it.Plus(it.before) }

// pending reports whether a run goes on without anybody doing something.
func (it *item) pending() bool {
	return it.Status == queued || it.Status == metadata.Failed && !it.again.IsZero()
}

// facts are what is known of an issue that no process of this worker works on.
type facts struct {
	run   metadata.Run    // its record; without an id there is none
	where []string        // that have its branch
	err   error           // why the record cannot be read
	pid   int             // of a process here that works on it; 0: none
	other *metadata.Lease // of another machine; nil: none, or nobody else is asked
	tips  []string        // with its work: the branch or, if that is gone, the commits of the record that is kept
	merge string          // the command that helps where that is not merged
}

// place says where the work of a run is, by its refs; those of here are this repository's own.
func (f *facts) place(ctx context.Context, refs []workspace.RefRun, here *git.Source) {
	if len(f.where) > 0 {
		f.tips, f.merge = []string{f.run.BranchName}, fmt.Sprintf("reprise finish --issue %s --squash && git merge %s", text.Flat(f.run.IssueNumber), text.Flat(here.Name(ctx, f.run.BranchName)))
		return
	}
	branch := text.Flat(f.run.BranchName)
	for _, r := range refs {
		f.tips = append(f.tips, r.Ref.Commit)
		f.merge = cmp.Or(f.merge, text.If(r.Source == here, fmt.Sprintf("git branch %s %.12s", branch, r.Ref.Commit)), fmt.Sprintf("git fetch origin +%s:%[1]s", r.Ref.Name))
	}
}

// begun reports whether a run of the issue is there. What is kept of one that was not completed is of an earlier one.
func (f facts) begun() bool {
	return f.run.IssueNumber != "" && (len(f.where) > 0 || f.run.Status == metadata.Completed)
}

// judge says by what is known where an issue stands, as far as that does not depend on others. Wait is the time after
// which a run that failed goes on by itself; 0: it does not.
func (it *item) judge(f facts, now time.Time) (wait time.Duration) {
	it.Run = Run{Issue: it.Issue, Title: it.Title, Where: []string{}}
	begun := f.begun()
	if begun {
		it.Run = listed(f.run, f.where)
		it.Record = metadata.Run{} // there may be thousands
	}
	if !it.seen {
		it.before.USD, it.before.Unpriced, it.seen = -it.USD, -it.Unpriced, true
	}
	switch {
	case it.wrong != "":
		it.Status, it.Waits = metadata.Failed, it.wrong
	case f.err != nil && !errors.Is(f.err, fs.ErrNotExist):
		it.Status, it.Waits = metadata.Failed, f.err.Error()
	case f.pid != 0:
		it.Status, it.Waits = metadata.Running, fmt.Sprintf("process %d works on it", f.pid)
	case begun && phases.IsOver(f.run) && !it.late: // else the branch here is brought to what is there
	case begun && f.other != nil && now.Before(f.other.Expires):
		it.Status, it.Waits = metadata.Running, fmt.Sprintf("%s works on it, until %s at the latest", text.Flat(f.other.Owner), f.other.Expires.UTC().Format("15:04 UTC"))
	case begun && f.run.Status == metadata.Failed && !Unpushed(f.run):
		it.again = time.Time{}
		room, comes := RoomAt(f.run)
		switch wait = room.Sub(now); {
		case !comes:
			return 0
		case wait <= 0:
			it.Status = queued
			return 0
		}
		it.Waits += "; it goes on at " + room.UTC().Format("15:04 UTC")
	case begun && f.run.Status == metadata.Waiting && !(phases.OfDay(f.run.Stop) && f.run.UpdatedAt.UTC().Format(time.DateOnly) != now.UTC().Format(time.DateOnly)):
	default:
		it.Status = queued
	}
	return wait
}

// Unpushed reports whether a run has failed for want of a push: it goes on like one that was interrupted.
func Unpushed(run metadata.Run) bool {
	return run.Status == metadata.Failed && run.Stop.Code == metadata.PushFailed
}

// RoomAt says when the service of a run may have room again, if it failed for having none.
func RoomAt(run metadata.Run) (at time.Time, comes bool) {
	n := len(run.Attempts)
	if run.Stop == nil || run.Stop.Code != metadata.APIError || n == 0 || run.Attempts[n-1].Class != metadata.RateLimited || run.Attempts[n-1].EndedAt == nil {
		return at, false
	}
	last := run.Attempts[n-1]
	return last.EndedAt.Add(max(time.Duration(last.RetryAfter)*time.Second, time.Minute)), true
}

// circle gives the issues by which one depends on another; nil: it does not, or what is between them is completed.
func circle(from, to string, items map[string]*item, seen map[string]bool) []string {
	if items[from] == nil || seen[from] || items[from].Status == metadata.Completed {
		return nil
	}
	seen[from] = true
	for _, id := range items[from].after {
		if id == to {
			return []string{id}
		}
		if way := circle(id, to, items, seen); way != nil {
			return append([]string{id}, way...)
		}
	}
	return nil
}

// lacks says which of the work that an issue depends on is not there yet, by where the runs and the queue are, and the
// commands that bring it.
func (it *item) lacks(there map[string]facts, items map[string]*item, merged func(tip string) bool) (why string, next []string) {
	from := it.Issue
	for _, id := range circle(from, from, items, map[string]bool{}) {
		why, from = text.Join(", ", why, from+text.If(why == "", " depends")+" on "+id), id
	}
	if why != "" {
		return "it would wait for ever: " + why + "; take one out of depends_on", nil
	}
	open := slices.Clone(it.blocked)
	for _, id := range it.after {
		switch f := there[id]; {
		case f.run.IssueNumber == "" && items[id] == nil:
			open = append(open, text.Flat(id)+", of which there is neither an issue nor a run")
		case f.err != nil || f.run.Status != metadata.Completed:
			open = append(open, id)
		case slices.ContainsFunc(f.tips, merged):
		case len(f.where) > 0:
			open, next = append(open, id+", which is completed and not merged"), append(next, f.merge)
		default:
			open = append(open, id+", which is completed, but its branch is gone and nothing shows that its work is in what is checked out: pull, bring the branch back, or take it out of depends_on")
			next = append(next, f.merge)
		}
	}
	return text.If(len(open) > 0, "it depends on "+strings.Join(open, "; and on ")), next
}

// hold keeps an issue that could begin or go on from that, if work is open that it depends on, or for some time after a
// try that broke off.
func (it *item) hold(why string, next []string) {
	it.Waits, it.Next = why, next
	switch {
	case why != "":
		it.Status = metadata.Waiting
	case it.given, it.trouble != "" && !it.again.IsZero():
		it.Status, it.Waits = metadata.Failed, it.trouble
	}
}

// outcome is what the end of a run's process means for the next.
type outcome struct {
	broke  bool // for an error of which the record says nothing
	helps  bool // to try it again
	forAll bool // others would break off, too
	late   bool // the branch has been moved elsewhere
}

// outcomeOf reads what such a process said.
func outcomeOf(so view.Summary) outcome {
	if so.Status == "success" || len(so.Next) > 0 {
		return outcome{}
	}
	is := func(codes ...metadata.Code) bool { return slices.Contains(codes, so.Code) }
	return outcome{
		broke: true, late: is(metadata.RefChanged),
		helps:  !is(metadata.ConfigInvalid, metadata.CredentialsMissing, metadata.AgentFailed), // the last: no program is there
		forAll: !is(metadata.ConfigInvalid, metadata.AlreadyRunning, metadata.RefChanged),
	}
}

// broke notes why a try broke off and, if it helps or the worker watches, when there is another one.
func (it *item) broke(why string, helps, watch bool, now time.Time) {
	it.trouble, it.again = text.Cut(why, 400), time.Time{}
	it.Status, it.Waits = metadata.Failed, it.trouble
	it.tries++
	if it.given = it.wrong != "" || !watch && (!helps || it.tries == mostTries); !it.given {
		it.again = now.Add(min(lastAgain, firstAgain<<min(it.tries-1, 10)))
	}
}
