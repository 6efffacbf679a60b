// Package process runs programs that somebody else wrote: a program has its own
// session, time limits and bounded output, and when it is over, every process
// that it started is over, too.
package process

import (
	"cmp"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/uuid"
)

// markerVar is in the environment of every process of a call. Processes that
// leave the session of their program are found by it.
const markerVar = "REPRISE_TASK"

// treeVar is there as well, and names the folder the call works in, so that
// another reprise can tell what an earlier one left running.
const treeVar = "REPRISE_TREE"

// Program is a program to run once under supervision.
type Program struct {
	Argv  []string // the first is an absolute path
	Env   []string
	Dir   string
	Stdin string
	More  <-chan string // what it reads after Stdin, until this is closed; nil: nothing

	Whole, Idle   time.Duration // limits for all of it and for silence, see Heard; 0 means none
	Grace, Linger time.Duration // to end once it is asked to, and by itself after its result
	Own           bool          // it starts in namespaces of its own, by a helper that calls LookAfter
	Network       bool          // and in one for the network
	Sealed        bool          // no other process can open its standard output by /proc, as it could a pipe
	// Files are inherited by the helper from descriptor 4 on. Run closes them.
	Files []*os.File

	// Watch, if not nil, is started with the program and says once what it uses up too much of, by its processes.
	Watch func(members func() []int, done <-chan struct{}) <-chan string
	// Output, if not nil, is given standard output as it comes.
	Output  io.Writer
	MaxLine int // what Line is told of one; 0: the constant of that name
	// Line is told each line of standard output, from one goroutine, and says
	// whether to go on.
	Line func(line []byte) Reaction
	// Tell, if not nil, says the same from elsewhere, while the program runs.
	Tell <-chan Reaction
	Told func() // if not nil, is called each time that says something
	// Heard, if not nil, gives the moment of the last sign of life that is no output; the
	// zero time if there was none.
	Heard func() time.Time
}

// Reaction is what a line of output calls for.
type Reaction int

// The reactions.
const (
	GoOn   Reaction = iota
	Done            // the result is there: the program has a little time to end
	GiveUp          // nothing good will come: end it now
)

// Run starts the program and returns when it and all its processes are gone. An error means that it did not start.
func (p Program) Run(ctx context.Context) (e Ending, err error) {
	began, err := p.start()
	if err != nil {
		return Ending{}, err
	}
	task, c, pipes := began.task, began.child, began.pipes
	defer pipes.close()
	defer began.over()
	go pipes.feed(p.Stdin, p.More)
	beat := newPulse()
	errs := &Excerpt{TailMax: 8 << 10}
	reactions := make(chan Reaction, 2)
	stdoutRead, stderrRead := make(chan int, 1), make(chan struct{})
	go func() {
		stdoutRead <- eachLine(io.TeeReader(beat.on(&restOfOutput{Pipe: pipes.stdout}), cmp.Or(p.Output, io.Discard)), cmp.Or(p.MaxLine, MaxLine), p.reader(reactions))
	}()
	go func() {
		defer close(stderrRead)
		_, _ = io.Copy(errs, beat.on(&restOfOutput{Pipe: pipes.stderr})) // ends when the pipe does
	}()

	done := make(chan struct{})
	e.Cause, e.Why = p.wait(ctx, c, p.watch(c, task, done), beat, reactions)
	close(done)
	e.Left = p.stop(c, e.Cause, task)
	// What is in the pipes is still read. Whoever else holds them open is no
	// reason to wait.
	pipes.expire()
	if p.Own {
		e.report = pipes.readReport()
		e.Left += e.report.Left
	}
	e.Cut = <-stdoutRead
	<-stderrRead
	e.State = c.collect()
	e.Stderr = strings.TrimSpace(errs.String())
	return e, nil
}

// start starts the program.
func (p Program) start() (s started, err error) {
	s.task = uuid.NewString()
	env := SetVar(SetVar(p.Env, markerVar, s.task), treeVar, p.Dir)
	cmd := &exec.Cmd{Path: p.Argv[0], Args: p.Argv, Dir: p.Dir, Env: env, SysProcAttr: Apart()}
	if p.Own {
		cmd.SysProcAttr = Namespaces(p.Network)
	}
	if s.pipes, err = connect(cmd, p.Own, p.Sealed, p.Files); err != nil {
		return s, err
	}
	s.child, s.over, err = atWork.start(cmd, markerVar+"="+s.task)
	s.pipes.closeTheirs()
	if err != nil {
		s.pipes.close()
	}
	return s, err
}

// reader tells each line, and passes on the first reactions that matter.
func (p Program) reader(reactions chan<- Reaction) func([]byte) {
	seen := GoOn
	return func(line []byte) {
		if r := p.Line(line); r > seen {
			seen = r
			reactions <- r // there is room for both kinds
		}
	}
}

// watch starts what watches the program, until done is closed. Its channel says
// what the program uses up too much of.
func (p Program) watch(c *child, task string, done <-chan struct{}) <-chan string {
	if p.Watch == nil {
		return nil
	}
	return p.Watch(func() []int {
		return slices.DeleteFunc(ofCall(c.pid(), task), func(pid int) bool {
			return p.Own && pid == c.pid() // that one is reprise's
		})
	}, done)
}

// wait waits until the program is over or has to be ended, and says what it
// used up if that is why.
func (p Program) wait(ctx context.Context, c *child, full <-chan string, beat *pulse, reactions <-chan Reaction) (Cause, string) {
	cause, why := p.first(ctx, c, full, beat, reactions)
	return c.rather(cause), why
}

// rather is the cause, unless a program that is said to have been too long has
// ended by itself meanwhile.
func (c *child) rather(cause Cause) Cause {
	select {
	case <-c.exited:
		if cause == TimedOut || cause == WentIdle || cause == Lingered {
			return Exited
		}
	default:
	}
	return cause
}

// first is what wait sees first; much may have happened at once.
func (p Program) first(ctx context.Context, c *child, full <-chan string, beat *pulse, reactions <-chan Reaction) (Cause, string) {
	whole, idle := after(p.Whole), after(p.Idle)
	over, silent := time.Now().Add(p.Whole), time.Now().Add(p.Idle)
	var linger <-chan time.Time
	for {
		var r Reaction
		select {
		case <-c.exited:
			return Exited, ""
		case why := <-full:
			return Overfull, why
		case <-ctx.Done():
			return Cancelled, ""
		case <-whole:
			rest := overslept(over)
			if rest <= 0 {
				return TimedOut, ""
			}
			whole, over = after(rest), time.Now().Add(rest)
		case <-linger:
			return Lingered, ""
		case <-idle:
			rest := p.Idle - p.quiet(beat) + overslept(silent)
			if rest <= 0 {
				return WentIdle, ""
			}
			idle, silent = after(rest), time.Now().Add(rest)
		case r = <-reactions:
			linger = nil // after its result it has all of that time
		case r = <-p.Tell:
			if p.Told != nil {
				p.Told()
			}
		}
		switch {
		case r == GiveUp:
			return Stopped, ""
		case r == Done && linger == nil: // hearing it again gives it no more time
			linger = after(p.Linger)
		}
	}
}

// nap is by how much a timer may be late. If it is later, nobody had a turn meanwhile: all processes were stopped, or
// the machine slept.
const nap = 10 * time.Second

// overslept says how much of a time that was to be over when a timer went off counts for nothing.
func overslept(due time.Time) time.Duration {
	if late := time.Since(due); late > nap {
		return late
	}
	return 0
}

// quiet is for how long there has been no sign of life.
func (p Program) quiet(beat *pulse) time.Duration {
	if p.Heard == nil {
		return beat.age()
	}
	return min(beat.age(), time.Since(p.Heard()))
}

// hurry is the grace of a program whose caller was itself told to stop: within 5 s all is to be
// saved and over, and what is left of that is for saving the work.
const hurry = 2 * time.Second

// grace is how long a program has to end once it is asked to, by why.
func (p Program) grace(why Cause) time.Duration {
	if why == Cancelled {
		return min(p.Grace, hurry)
	}
	return p.Grace
}

// stop ends what is still there of the program, and says how many processes
// were left behind outside of its group.
func (p Program) stop(c *child, why Cause, task string) int {
	if why != Exited && why != Overfull { // that one would go on filling
		c.ask()
		select {
		case <-c.exited:
		case <-time.After(p.grace(why)):
		}
	}
	c.kill()
	select {
	case <-c.exited:
		if p.Own {
			return 0 // it was the first process of its namespace: the kernel has ended the others
		}
	case <-time.After(5 * time.Second): // it hangs in the kernel; nobody can end it
	}
	return sweep(c.pid(), task)
}

// after is time.After, where 0 means never.
func after(d time.Duration) <-chan time.Time {
	if d == 0 {
		return nil
	}
	return time.After(d)
}

// started is a program with what leads to it.
type started struct {
	task  string // marks what is of the call
	child *child
	pipes *pipes
	over  func() // has to be called when it has ended
}

// Ending is how a program ended.
type Ending struct {
	Cause  Cause
	Why    string           // what it used up too much of, if that ended it
	State  *os.ProcessState // nil if it could not be ended at all
	Stderr string           // tail
	Cut    int              // lines that were too long
	Left   int              // processes it had left behind, now ended
	report report
}

// Cause is what made a program end.
type Cause int

// The causes.
const (
	Exited    Cause = iota // by itself
	TimedOut               // over its time
	WentIdle               // no output for too long
	Cancelled              // the caller asked
	Lingered               // it stayed after its result
	Stopped                // a line said that nothing good will come
	Overfull               // it filled the disk
)

// Signal is the one that ended the program; 0 if none did.
func (e Ending) Signal() syscall.Signal {
	if e.State == nil {
		return 0
	}
	if ws, ok := e.State.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return ws.Signal()
	}
	return syscall.Signal(e.report.Signal)
}

// Code is the exit code of a program that has ended; -1 if a signal ended it.
func (e Ending) Code() int {
	if e.Signal() != 0 {
		return -1
	}
	return e.State.ExitCode()
}

// report is what the first process of a namespace says when its program is over: nothing inside ends that process by a
// signal.
type report struct {
	Signal int `json:"signal"` // that ended the program; 0: none did
	Left   int `json:"left"`   // processes that the program had left behind
}

// reportFile is the descriptor of the pipe that it is written to.
const reportFile = 3

// tell writes the report.
func (r report) tell(to *os.File) { _ = json.NewEncoder(to).Encode(r) } // reprise may be gone
