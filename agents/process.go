package agents

import (
	"context"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
)

// markerVar is in the environment of every process of a call. Processes that
// leave the session of their program are found by it.
const markerVar = "REPRISE_TASK"

// treeVar is there as well, and names the folder the call works in, so that
// another reprise can tell what an earlier one left running.
const treeVar = "REPRISE_TREE"

// program is a program to run once under supervision.
type program struct {
	argv  []string // the first is an absolute path
	env   []string
	dir   string
	stdin string

	whole, idle   time.Duration // limits; 0 means none
	grace, linger time.Duration
	room          *room // nil: what it does to the disk is not watched

	// line is told each line of standard output, from one goroutine, and says
	// whether to go on.
	line func(line []byte) reaction
}

// reaction is what a line of output calls for.
type reaction int

const (
	goOn   reaction = iota
	isDone          // the result is there: the program has a little time to end
	giveUp          // nothing good will come: end it now
)

// ending is how a program ended.
type ending struct {
	cause  cause
	why    string           // what it used up too much of, if that ended it
	state  *os.ProcessState // nil if it could not be ended at all
	stdout string           // head and tail
	stderr string           // tail
	cut    int              // lines that were too long
	left   int              // processes it had left behind, now ended
}

// cause is what made a program end.
type cause int

const (
	exited    cause = iota // by itself
	timedOut               // over its time
	wentIdle               // no output for too long
	cancelled              // the caller asked
	lingered               // it stayed after its result
	stopped                // a line said that nothing good will come
	overfull               // it filled the disk
)

// run starts the program and returns when it and all its processes are gone.
// An error means that it did not start.
func (p program) run(ctx context.Context) (ending, error) {
	task := uuid.NewString()
	cmd := &exec.Cmd{Path: p.argv[0], Args: p.argv, Dir: p.dir, Env: setVar(setVar(p.env, markerVar, task), treeVar, p.dir), SysProcAttr: apart()}
	pipes, err := connect(cmd)
	if err != nil {
		return ending{}, err
	}
	defer pipes.close()
	c, done, err := atWork.start(cmd, markerVar+"="+task)
	pipes.closeTheirs()
	if err != nil {
		return ending{}, err
	}
	defer done()
	go pipes.feed(p.stdin)
	beat := newPulse()
	out, errs := &excerpt{headMax: 64 << 10, tailMax: 192 << 10}, &excerpt{tailMax: 8 << 10}
	reactions := make(chan reaction, 2)
	stdoutRead, stderrRead := make(chan int, 1), make(chan struct{})
	go func() {
		stdoutRead <- eachLine(io.TeeReader(beat.on(pipes.stdout), out), p.reader(reactions))
	}()
	go func() {
		defer close(stderrRead)
		_, _ = io.Copy(errs, beat.on(pipes.stderr)) // ends when the pipe does
	}()

	var e ending
	e.cause, e.why = p.watch(ctx, c, beat, reactions)
	e.left = p.stop(c, e.cause, task)
	// What is in the pipes is still read. Whoever else holds them open is no
	// reason to wait.
	pipes.expire(time.Now().Add(time.Second))
	e.cut = <-stdoutRead
	<-stderrRead
	e.state = c.collect()
	e.stdout, e.stderr = out.String(), strings.TrimSpace(errs.String())
	return e, nil
}

// reader tells each line, and passes on the first reactions that matter.
func (p program) reader(reactions chan<- reaction) func([]byte) {
	seen := goOn
	return func(line []byte) {
		if r := p.line(line); r > seen {
			seen = r
			reactions <- r // there is room for both kinds
		}
	}
}

// watch waits until the program is over or has to be ended, and says what it
// used up if that is why.
func (p program) watch(ctx context.Context, c *child, beat *pulse, reactions <-chan reaction) (cause, string) {
	whole, idle := after(p.whole), after(p.idle)
	var linger <-chan time.Time
	var full <-chan string
	if p.room != nil {
		done := make(chan struct{})
		defer close(done)
		full = p.room.watch(time.Second, done)
	}
	for {
		select {
		case <-c.exited:
			return exited, ""
		case why := <-full:
			return overfull, why
		case <-ctx.Done():
			return cancelled, ""
		case <-whole:
			return timedOut, ""
		case <-linger:
			return lingered, ""
		case <-idle:
			rest := p.idle - beat.age()
			if rest <= 0 {
				return wentIdle, ""
			}
			idle = after(rest)
		case r := <-reactions:
			if r == giveUp {
				return stopped, ""
			}
			linger = after(p.linger)
		}
	}
}

// hurry is the grace of a program whose caller was itself told to stop: what
// is left of its own time is for saving the work.
const hurry = 2 * time.Second

// stop ends what is still there of the program, and says how many processes
// were left behind outside of its group.
func (p program) stop(c *child, why cause, task string) int {
	if why != exited && why != overfull { // that one would go on filling
		c.ask()
		grace := p.grace
		if why == cancelled {
			grace = min(grace, hurry)
		}
		select {
		case <-c.exited:
		case <-time.After(grace):
		}
	}
	c.kill()
	select {
	case <-c.exited:
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

// child is a started program. Its exit is seen before its status is collected,
// so that its number and its group's are not given to others in between.
type child struct {
	cmd     *exec.Cmd
	exited  chan struct{}
	collect func() *os.ProcessState
}

// launch starts cmd from a thread that lives as long as the program does.
func launch(cmd *exec.Cmd) (*child, error) {
	started, release, gone := make(chan error, 1), make(chan struct{}), make(chan struct{})
	c := &child{cmd: cmd, exited: make(chan struct{})}
	go func() {
		prepareThread()
		err := cmd.Start()
		started <- err
		if err != nil {
			return
		}
		awaitExit(cmd)
		close(c.exited)
		<-release
		_ = cmd.Wait() // what it says is in cmd.ProcessState
		close(gone)
	}()
	c.collect = func() *os.ProcessState {
		close(release)
		select {
		case <-c.exited:
			<-gone
			return cmd.ProcessState
		default:
			return nil
		}
	}
	return c, <-started
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// pipes connect a program with us. Theirs are the ends that it inherits.
type pipes struct {
	stdin, stdout, stderr *os.File
	theirs                []*os.File
}

func connect(cmd *exec.Cmd) (*pipes, error) {
	p := &pipes{}
	var err error
	open := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var in, out, errs *os.File
	in, p.stdin = open()
	p.stdout, out = open()
	p.stderr, errs = open()
	p.theirs = []*os.File{in, out, errs}
	if err != nil {
		p.closeTheirs()
		p.close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	return p, nil
}

// feed writes the whole standard input. A program that does not read it ends
// this when its pipes are closed.
func (p *pipes) feed(text string) {
	_, _ = io.WriteString(p.stdin, text)
	_ = p.stdin.Close()
}

func (p *pipes) expire(t time.Time) {
	_ = p.stdout.SetReadDeadline(t)
	_ = p.stderr.SetReadDeadline(t)
}

// Closing a pipe that is nil or closed does nothing worth telling.
func (p *pipes) close() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr} {
		_ = f.Close()
	}
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

// pulse remembers when there was output last.
type pulse struct {
	start time.Time
	last  atomic.Int64 // nanoseconds after start
}

func newPulse() *pulse { return &pulse{start: time.Now()} }

func (p *pulse) age() time.Duration { return time.Since(p.start) - time.Duration(p.last.Load()) }

// on gives a reader that beats with everything read.
func (p *pulse) on(r io.Reader) io.Reader { return beating{r, p} }

type beating struct {
	io.Reader
	pulse *pulse
}

func (b beating) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if n > 0 {
		b.pulse.last.Store(int64(time.Since(b.pulse.start)))
	}
	return n, err
}
