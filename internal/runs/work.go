package runs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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
	before  float64   // its cost when it was seen first
	late    bool      // it was begun here, and another machine was faster
	tries   int       // that broke off in a row
	trouble string    // why the last did
	given   bool      // up: it is not tried again
	again   time.Time // when one that has failed is tried again; zero: nobody knows
	shown   string    // what was printed of it last
}

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
	of      map[string][]workspace.RefRun
	others  *workspace.OtherRuns
	working map[string]*exec.Cmd
	ended   chan ending
	gone    float64   // what issues have cost that are in the queue no more
	broken  int       // runs that broke off in a row, for what others would, too
	pause   time.Time // nothing is begun before
	listed  time.Time // when the queue was read last
	over    bool      // all runs were told to stop
	looked  bool      // the records were read
	stale   bool      // they have to be read again
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
	firstAgain = 2 * time.Second  // after which a run that broke off is tried again; then twice as long, and so on
	lastAgain  = 5 * time.Minute
	mostTries  = 5 // of one run that breaks off, unless the worker watches
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
	case w.USD > 0 && w.cost() >= w.USD:
		return errSpent
	case !w.Until.IsZero() && !w.Env.Now().Before(w.Until):
		return errUntil
	case w.broken >= mostBroken && !w.Watch:
		return errBroken
	}
	return nil
}

// cost is what all runs have cost since they were seen first.
func (w *Worker) cost() float64 {
	usd := w.gone
	for _, it := range w.items {
		usd += it.spent()
	}
	return usd
}

func (it *item) spent() float64 { return it.USD - it.before }

// pending reports whether a run goes on without anybody doing something.
func (it *item) pending() bool {
	return it.Status == queued || it.Status == metadata.Failed && !it.again.IsZero()
}

// refresh reads queue and records again, where that is due.
func (w *Worker) refresh(ctx context.Context) error {
	every := listEvery
	if !w.Pushes { // nobody else is asked
		every = 2 * lookEvery
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
	for _, it := range w.items {
		if !it.again.IsZero() && !time.Now().Before(it.again) {
			it.again, w.stale = time.Time{}, true // somebody may have done something meanwhile
		}
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
		c := w.working[it.Issue]
		if c == nil {
			w.gone += it.spent()
			continue
		}
		it.wrong = "it is in the queue no more"
		found = append(found, it)
		_ = c.Process.Signal(os.Interrupt) // it may have ended by now
	}
	slices.SortStableFunc(found, func(a, b *item) int {
		return cmp.Or(text.Count(a.priority == 0)-text.Count(b.priority == 0), cmp.Compare(a.priority, b.priority), len(a.Issue)-len(b.Issue), strings.Compare(a.Issue, b.Issue))
	})
	w.items = found
}

// look reads the records of all runs, here and on origin, and says of each issue where it stands.
func (w *Worker) look(ctx context.Context) (err error) {
	if w.src, err = git.Find(ctx, w.Repo); err != nil {
		return err
	}
	all, err := w.others.Known(ctx)
	if err = cmp.Or(err, context.Cause(ctx)); err != nil { // what was cut off says nothing of a run
		return err
	}
	w.of = map[string][]workspace.RefRun{}
	for _, r := range all {
		w.of[r.ID] = append(w.of[r.ID], r)
	}
	for _, it := range w.items {
		if w.working[it.Issue] == nil {
			w.judge(ctx, it)
			it.Record = metadata.Run{} // there may be thousands
		}
	}
	w.looked, w.of = true, nil
	return nil
}

// judge says where an issue stands that no process of this worker works on.
func (w *Worker) judge(ctx context.Context, it *item) {
	run, where, err := newest(w.of[it.Issue])
	it.Run = Run{Issue: it.Issue, Title: it.Title, Where: []string{}}
	begun := run.IssueNumber != "" && (len(where) > 0 || run.Status == metadata.Completed) // another record that is kept is of an earlier run
	if begun {
		if further, _ := workspace.Further(w.Env, w.src, it.Issue, run); further != nil {
			run = *further
		}
		it.Run = listed(run, where)
	}
	if !it.seen {
		it.seen, it.before = true, it.USD
	}
	root, _ := workspace.HomeFolder(w.Env, w.src, it.Issue) // an error comes again when it is begun
	lease, pid := run.Execution.Lease, folders.Holder(root)
	switch {
	case it.wrong != "":
		it.Status, it.Waits = metadata.Failed, it.wrong
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		it.Status, it.Waits = metadata.Failed, err.Error()
	case pid != 0:
		it.Status, it.Waits = metadata.Running, fmt.Sprintf("process %d works on it", pid)
	case begun && phases.IsOver(run) && !it.late: // else the branch here is brought to what is there
	case begun && w.Pushes && lease != nil && lease.Owner != w.owner && w.Env.Now().Before(lease.Expires):
		it.Status, it.Waits = metadata.Running, fmt.Sprintf("%s works on it, until %s at the latest", text.Flat(lease.Owner), lease.Expires.UTC().Format("15:04 UTC"))
	case begun && run.Status == metadata.Failed:
		w.failed(it)
	case begun && run.Status == metadata.Waiting && !(phases.OfDay(run.Stop) && run.UpdatedAt.UTC().Format(time.DateOnly) != w.Env.Now().UTC().Format(time.DateOnly)):
	default:
		w.hold(ctx, it)
	}
}

// hold makes an issue Queued, unless it has to wait for another one, or for some time after a try that broke off.
func (w *Worker) hold(ctx context.Context, it *item) {
	open := slices.Clone(it.blocked)
	for _, id := range it.after {
		run, where, err := newest(w.of[id])
		switch {
		case run.IssueNumber == "" && !slices.ContainsFunc(w.items, func(other *item) bool { return other.Issue == id }):
			open = append(open, text.Flat(id)+", of which there is neither an issue nor a run")
		case err != nil || run.Status != metadata.Completed:
			open = append(open, id)
		case len(where) > 0 && !w.src.Merged(ctx, run.BranchName):
			open = append(open, id+", which is completed and not merged")
		}
	}
	it.Next = nil
	switch {
	case len(open) > 0:
		it.Status, it.Waits = metadata.Waiting, "it depends on "+strings.Join(open, "; and on ")
	case it.given, it.trouble != "" && !it.again.IsZero():
		it.Status, it.Waits = metadata.Failed, it.trouble
	default:
		it.Status, it.Waits = queued, ""
	}
}

// failed says whether a run that failed goes on by itself, once its service has room. Until then nothing is begun, as
// that would be told the same.
func (w *Worker) failed(it *item) {
	it.again = time.Time{}
	n := len(it.Record.Attempts)
	if it.Code != metadata.APIError || n == 0 || it.Record.Attempts[n-1].Class != metadata.RateLimited || it.Record.Attempts[n-1].EndedAt == nil {
		return
	}
	last := it.Record.Attempts[n-1]
	room := last.EndedAt.Add(max(time.Duration(last.RetryAfter)*time.Second, time.Minute))
	left := room.Sub(w.Env.Now())
	if left <= 0 {
		it.Status = queued
		return
	}
	it.again = time.Now().Add(left)
	it.Waits += "; it goes on at " + room.UTC().Format("15:04 UTC")
	if it.again.After(w.pause) {
		w.pause = it.again
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
	var so view.Summary
	if json.Unmarshal([]byte(e.stdout), &so) != nil {
		w.broke(it, text.Join(": ", "its process was ended", fmt.Sprint(e.err), text.JoinLines(e.stderr)), true)
		return
	}
	it.USD, it.Phase, it.Step, it.Waits, it.Next = max(it.USD, so.Totals.USD), so.Phase, "", text.JoinLines(so.Error), so.Next
	if so.Status != "success" && len(so.Next) == 0 { // an error of which the record says nothing
		if !slices.Contains([]metadata.Code{metadata.ConfigInvalid, metadata.AlreadyRunning, metadata.RefChanged}, so.Code) {
			w.broken++
		}
		own := workspace.Saved(w.Env, w.src, it.Issue)
		if it.late = so.Code == metadata.RefChanged && (it.Branch == "" || own != nil && len(own.Attempts) == 0); it.late { // nothing of it was done here
			it.Waits = "another machine has begun it at the same time"
		}
		w.broke(it, it.Waits, so.Code != metadata.ConfigInvalid)
		return
	}
	it.Status = cmp.Or(map[string]metadata.Status{"success": metadata.Completed, "waiting": metadata.Waiting, "cancelled": queued}[so.Status], metadata.Failed)
	if it.Status == queued && !w.over { // somebody wants it to pause, or to end, and says so in a moment
		w.broke(it, it.Waits, true)
	}
	it.Branch, it.Where, it.Updated = so.Branch, []string{here}, so.End
	it.late, it.tries, w.broken = false, 0, 0
	w.stale = w.stale || it.Status != metadata.Completed // else nothing waits for it that a person need not merge first
}

// broke notes why a try broke off and, if it helps or the worker watches, when there is another one.
func (w *Worker) broke(it *item, why string, helps bool) {
	it.trouble, it.again = text.Cut(why, 400), time.Time{}
	it.Status, it.Waits = metadata.Failed, it.trouble
	it.tries++
	if it.given = !w.Watch && (!helps || it.tries == mostTries); !it.given {
		it.again = time.Now().Add(min(lastAgain, firstAgain<<min(it.tries-1, 10)))
	}
	w.stale = true // somebody else may have it
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
		terminal.LogJSON(w.Env.Stdout, map[string]any{"ended": true, "runs": n, "cost_usd": metadata.Rounded(w.cost()), "why": text.If(why != nil, fmt.Sprint(why))})
	} else {
		if w.canvas == nil {
			w.table(w.Env.Stdout)
		}
		terminal.Tell(w.Env.Stdout, fmt.Sprintf("%s (%s)%s", cmp.Or(said, "There was nothing to do"), text.USD(w.cost()), text.If(why != nil, fmt.Sprintf(": %v", why))))
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

// say tells a person something of the queue, once.
func (w *Worker) say(what string) {
	if !w.said[what] {
		w.said[what] = true
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+text.Flat(what))
	}
}

// table prints the runs as a list does, those at work first.
func (w *Worker) table(to io.Writer) {
	order := []metadata.Status{metadata.Running, metadata.Failed, metadata.Waiting, queued}
	var all []Run
	for _, it := range w.items {
		all = append(all, it.Run)
	}
	slices.SortStableFunc(all, func(a, b Run) int {
		return cmp.Compare(uint(slices.Index(order, a.Status)), uint(slices.Index(order, b.Status))) // what is over has none, and comes last
	})
	if len(all) > 0 {
		showRuns(to, terminal.ShowOptions(w.Env), w.Env.Now(), all)
	}
}

// show brings the view up to date: a table on a terminal, else a line for each run that has changed.
func (w *Worker) show() {
	if w.canvas != nil {
		var page bytes.Buffer
		w.table(&page)
		w.canvas.Draw(strings.Split(strings.TrimSuffix(page.String(), "\n"), "\n"))
		return
	}
	for _, it := range w.items {
		r := it.Run
		line, _ := json.Marshal([]any{r.Status, r.Phase, r.Step, r.Waits}) // plain texts
		if string(line) == it.shown {
			continue
		}
		if it.shown = string(line); w.JSON {
			terminal.LogJSON(w.Env.Stdout, r)
			continue
		}
		terminal.Tell(w.Env.Stdout, text.Join("  ", w.Env.Now().Format("15:04:05"), text.Flat(r.Issue), string(r.Status), text.Flat(text.Join(" ", r.Phase, r.Step)), text.USD(r.USD), r.Waits))
	}
}
