package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// Worker has the runs of a queue of issues done, each by a process of its own: reprise run. What there is to do stands in
// the records of the runs and nowhere else, so it may be killed and started again anywhere.
type Worker struct {
	Env    environ.Env
	Repo   string
	Queue  queue
	Jobs   int  // runs at a time
	Watch  bool // it goes on when there is nothing left to do
	USD    float64
	Until  time.Time // zero: no end
	Pushes bool      // the runs go to origin, where those of other machines are seen
	Args   []string  // of each reprise run
	JSON   bool

	src     *git.Source
	owner   string // this machine in the lease of a run
	items   []*item
	others  *workspace.OtherRuns
	working map[string]*exec.Cmd
	ended   chan ending
	gone    view.Dollars // what issues have cost that are in the queue no more
	broken  int          // runs that broke off in a row, for what others would, too
	pause   time.Time    // nothing is begun before
	listed  time.Time    // when the queue was read last
	over    bool         // all runs were told to stop
	looked  bool         // the records were read
	stale   bool         // they have to be read again
	canvas  *terminal.Canvas
	said    map[string]bool
}

// ending is how a process of a run ended.
type ending struct {
	item           *item
	stdout, stderr string
	err            error
}

// Why a worker ends before its queue does.
var (
	errSpent  = errors.New("the runs have cost as much as they may")
	errUntil  = errors.New("the time for all runs is over")
	errBroken = errors.New("several runs in a row broke off, for what others would, too")
)

const (
	listEvery  = 30 * time.Second // that a queue is read again
	mostBroken = 3
)

// Work works until there is nothing left to do or ctx is over. The error is the exit code for what came of it.
func (w *Worker) Work(ctx context.Context) (err error) {
	w.working, w.ended, w.said = map[string]*exec.Cmd{}, make(chan ending), map[string]bool{}
	if !w.JSON {
		w.canvas = terminal.NewCanvas(w.Env.Stdout)
	}
	if w.src, err = git.Find(ctx, w.Repo); err == nil {
		w.owner, err = workspace.Worker(w.Env, w.src)
	}
	if err != nil {
		return err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	defer func() { w.others.Close() }()
	for {
		err := w.refresh(ctx)
		switch stop := w.why(ctx); {
		case stop != nil:
			return w.end(stop)
		case err != nil && !w.Watch && !w.looked:
			return err
		case err != nil:
			w.say(err.Error())
		}
		if w.USD > 0 && w.cost().Unpriced > 0 {
			w.say(fmt.Sprintf("calls of unknown cost do not count towards --usd %g: say with call_usd of the agent what such a call costs", w.USD))
		}
		w.fill()
		w.show()
		if len(w.working) == 0 && !w.Watch && !slices.ContainsFunc(w.items, (*item).pending) {
			return w.end(nil)
		}
		select {
		case e := <-w.ended:
			w.settle(e)
		case <-tick.C:
			w.follow()
		case <-ctx.Done():
		}
	}
}

// why says why nothing more is begun; nil: something may be.
func (w *Worker) why(ctx context.Context) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case w.USD > 0 && w.cost().USD >= w.USD:
		return errSpent
	case !w.Until.IsZero() && !w.Env.Now().Before(w.Until):
		return errUntil
	case w.broken >= mostBroken && !w.Watch:
		return errBroken
	}
	return nil
}

// cost is what all runs have cost since they were seen first.
func (w *Worker) cost() view.Dollars {
	all := w.gone
	for _, it := range w.items {
		all = all.Plus(it.spent())
	}
	return all
}

// refresh reads queue and records again, where that is due.
func (w *Worker) refresh(ctx context.Context) error {
	every := listEvery
	if !w.Pushes { // nobody else is asked
		every = 2 * lookEvery
	}
	for _, it := range w.items {
		if !it.again.IsZero() && !time.Now().Before(it.again) { // somebody may have done something meanwhile, here or elsewhere
			it.again, w.listed = time.Time{}, time.Time{}
		}
	}
	if time.Since(w.listed) >= every {
		w.listed, w.stale = time.Now(), true
		w.others.Close()
		w.others = workspace.AllRuns(w.Env, w.src, w.Pushes)
		found, notes, err := w.Queue(ctx)
		if err != nil {
			return err
		}
		for _, n := range notes {
			w.say(n)
		}
		w.take(found)
	}
	if !w.stale {
		return nil
	}
	w.stale = false
	return w.look(ctx)
}

// take takes what a queue has now. A run that is at work and in the queue no more is interrupted.
func (w *Worker) take(found []*item) {
	known := map[string]*item{}
	for _, it := range w.items {
		known[it.Issue] = it
	}
	for i, it := range found {
		old := known[it.Issue]
		if delete(known, it.Issue); old != nil {
			old.Title, old.priority, old.after, old.blocked, old.args, old.wrong = it.Title, it.priority, it.after, it.blocked, it.args, it.wrong
			found[i] = old
		}
	}
	for _, it := range known {
		it.wrong = "it is in the queue no more"
		c := w.working[it.Issue]
		if c == nil {
			w.gone = w.gone.Plus(it.spent())
			it.Waits, it.Next = it.wrong, nil
			w.line(it)
			continue
		}
		found = append(found, it)
		_ = c.Process.Signal(os.Interrupt) // it may have ended by now
	}
	slices.SortStableFunc(found, func(a, b *item) int {
		return cmp.Or(text.Count(a.priority == 0)-text.Count(b.priority == 0), cmp.Compare(a.priority, b.priority), len(a.Issue)-len(b.Issue), strings.Compare(a.Issue, b.Issue))
	})
	w.items = found
}

// look reads the records of the runs, here and on origin, and says of each issue where it stands. A few are read at a time,
// as there may be thousands.
func (w *Worker) look(ctx context.Context) (err error) {
	if w.src, err = git.Find(ctx, w.Repo); err != nil {
		return err
	}
	of, ids := map[string]*item{}, map[string]bool{}
	for _, it := range w.items {
		of[it.Issue], ids[it.Issue] = it, true
		for _, id := range it.after {
			ids[id] = true
		}
	}
	there := map[string]facts{} // in short: where the runs stand
	for some := range slices.Chunk(slices.Sorted(maps.Keys(ids)), 50) {
		all, err := w.others.Known(ctx, some)
		if err = cmp.Or(err, context.Cause(ctx)); err != nil { // what was cut off says nothing of a run
			return err
		}
		for _, id := range some {
			f := facts{}
			mine := slices.DeleteFunc(slices.Clone(all), func(r workspace.RefRun) bool { return r.ID != id })
			if len(mine) == 0 {
				mine = merged(ctx, w.src, id)
			}
			f.run, f.where, f.err = newest(mine)
			if it := of[id]; it != nil && w.working[id] == nil {
				w.stands(it, f)
			}
			f.run = metadata.Run{IssueNumber: f.run.IssueNumber, Status: f.run.Status, BranchName: f.run.BranchName}
			f.place(ctx, mine, w.others.Source)
			there[id] = f
		}
	}
	for _, it := range w.items {
		if w.working[it.Issue] == nil && it.Status == queued {
			it.hold(it.lacks(there, of, func(tip string) bool { return w.src.Merged(ctx, tip) }))
		}
	}
	w.looked = true
	return nil
}

// stands says where an issue stands that no process of this worker works on. Until a service has room nothing is begun, as
// that would be told the same.
func (w *Worker) stands(it *item, f facts) {
	if f.begun() {
		if further, _ := workspace.Further(w.Env, w.src, it.Issue, f.run); further != nil {
			f.run = *further
		}
		if lease := f.run.Execution.Lease; w.Pushes && lease != nil && lease.Owner != w.owner {
			f.other = lease
		}
	}
	root, _ := workspace.HomeFolder(w.Env, w.src, it.Issue) // an error comes again when it is begun
	f.pid = folders.Holder(root)
	if wait := it.judge(f, w.Env.Now()); wait > 0 {
		it.again = time.Now().Add(wait)
		w.pause = slices.MaxFunc([]time.Time{w.pause, it.again}, time.Time.Compare)
	}
}

// fill begins or continues runs, as many as there is room for.
func (w *Worker) fill() {
	for _, it := range w.items {
		if len(w.working) >= w.Jobs || time.Now().Before(w.pause) {
			return
		}
		if it.Status == queued {
			w.start(it)
		}
	}
}

// start starts the process of a run. The end of its input stops it, so it does not outlive this process; what is typed
// at a terminal does not reach it.
func (w *Worker) start(it *item) {
	self, err := workspace.Executable()
	args := append([]string{"run", "--repo", w.src.Dir, "--json", "--no-input", "--worker", w.owner}, it.args...)
	if it.late {
		args = append(args, "--take", "theirs")
	}
	c := exec.Command(self, append(args, w.Args...)...)
	var out bytes.Buffer
	said := &process.Excerpt{HeadMax: 1000, TailMax: 1000}
	c.Env, c.Stdout, c.Stderr, c.SysProcAttr = w.Env.Environ, &out, said, &syscall.SysProcAttr{Setpgid: true}
	in, wrong := c.StdinPipe()
	if err = cmp.Or(err, wrong); err == nil {
		err = c.Start()
	}
	if err != nil {
		w.broke(it, err.Error(), true)
		return
	}
	it.Status, it.Waits, it.Next, it.again = metadata.Running, "", nil, time.Time{}
	w.working[it.Issue] = c
	go func() {
		err := c.Wait()
		_ = in.Close() // it is closed by now
		w.ended <- ending{it, out.String(), said.String(), err}
	}()
}

// settle takes how a process of a run ended.
func (w *Worker) settle(e ending) {
	it := e.item
	delete(w.working, it.Issue)
	if it.wrong != "" { // it may be in the queue no more
		w.listed = time.Time{}
	}
	var so view.Summary
	if json.Unmarshal([]byte(e.stdout), &so) != nil {
		w.broke(it, text.Join(": ", "its process was ended", fmt.Sprint(e.err), text.JoinLines(e.stderr)), true)
		return
	}
	it.USD, it.Unpriced, it.Phase, it.Step, it.Waits, it.Next = max(it.USD, so.Totals.USD), max(it.Unpriced, so.Totals.Unpriced), so.Phase, "", text.JoinLines(so.Error), so.Next
	if o := outcomeOf(so); o.broke {
		own := workspace.Saved(w.Env, w.src, it.Issue)
		w.broken += text.Count(o.forAll)
		if it.late = o.late && (it.Branch == "" || own != nil && len(own.Attempts) == 0); it.late { // nothing of it was done here
			it.Waits = "another machine has begun it at the same time"
		}
		w.broke(it, it.Waits, o.helps)
		return
	}
	it.Status = cmp.Or(map[string]metadata.Status{"success": metadata.Completed, "waiting": metadata.Waiting, "cancelled": queued}[so.Status], metadata.Failed)
	if it.Status == queued && !w.over { // somebody wants it to pause, or to end, and says so in a moment
		w.broke(it, it.Waits, true)
	}
	it.Branch, it.Where, it.Updated = so.Branch, []string{here}, so.End
	it.late, it.tries, w.broken = false, 0, 0
	w.stale = true // others may wait for it
}

// broke notes why a try broke off. Somebody else may have the issue by now.
func (w *Worker) broke(it *item, why string, helps bool) {
	it.broke(why, helps, w.Watch, time.Now())
	w.stale = true
}

// follow reads how far the runs at work are.
func (w *Worker) follow() {
	for _, it := range w.items {
		if w.working[it.Issue] == nil {
			continue
		}
		if run := workspace.Saved(w.Env, w.src, it.Issue); run != nil && run.Status == metadata.Running {
			it.Run = listed(*run, []string{here})
			it.Record = metadata.Run{}
		}
	}
}

// end has all runs stop in good order, and says what came of the queue.
func (w *Worker) end(why error) error {
	w.over = true
	for _, c := range w.working {
		_ = c.Process.Signal(os.Interrupt) // it may have ended by now
	}
	for len(w.working) > 0 {
		w.settle(<-w.ended)
		w.show()
	}
	n, said := map[metadata.Status]int{}, ""
	for _, it := range w.items {
		n[it.Status]++
	}
	for _, s := range slices.Sorted(maps.Keys(n)) {
		said = text.Join(", ", said, fmt.Sprintf("%d %s", n[s], s))
	}
	if w.JSON {
		so := map[string]any{"ended": true, "runs": n, "cost_usd": w.cost().USD, "why": text.If(why != nil, fmt.Sprint(why))}
		if n := w.cost().Unpriced; n > 0 {
			so["unpriced_calls"] = n
		}
		terminal.LogJSON(w.Env.Stdout, so)
	} else {
		if w.canvas == nil {
			w.table(w.Env.Stdout)
		}
		terminal.Tell(w.Env.Stdout, fmt.Sprintf("%s (%s)%s", cmp.Or(said, "There was nothing to do"), w.cost().CostIn("en"), text.If(why != nil, fmt.Sprintf(": %v", why))))
	}
	switch {
	case errors.Is(why, errSpent):
		return exit.Code(exit.Budget)
	case errors.Is(why, errBroken), n[metadata.Failed] > 0 && (why == nil || errors.Is(why, errUntil)):
		return exit.Code(exit.Failed)
	case why != nil && !errors.Is(why, errUntil):
		return exit.Code(exit.Cancelled)
	case n[metadata.Waiting] > 0:
		return exit.Code(exit.Waiting)
	}
	return nil
}
