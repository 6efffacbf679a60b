package process

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

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

// calls are the programs that are at work for a process, by the number of
// their first process, each with the mark of its call.
type calls struct {
	mu   sync.Mutex
	mark map[int]string
}

// atWork are the calls of this process, since the system has one list of children for all of it.
var atWork calls

// start launches a program and notes it; until then nobody is told what is known. done takes it off.
func (c *calls) start(cmd *exec.Cmd, mark string) (p *child, done func(), err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if p, err = launch(cmd); err != nil {
		return nil, nil, err
	}
	pid := p.pid()
	if c.mark == nil {
		c.mark = map[int]string{}
	}
	c.mark[pid] = mark
	return p, func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.mark, pid)
	}, nil
}

// knows reports whether a process is a program at work, or has the mark of one
// in its environment.
func (c *calls) knows(pid int, env []byte) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, is := c.mark[pid]; is {
		return true
	}
	for _, mark := range c.mark {
		if marked(env, mark) {
			return true
		}
	}
	return false
}

// marked reports whether an environment, as the system shows it, has a variable
// with a value.
func marked(env []byte, variable string) bool {
	return bytes.Contains(append([]byte{0}, env...), append(append([]byte{0}, variable...), 0))
}

// pipes connect a program with us. Theirs are the ends that it inherits.
type pipes struct {
	stdin, stdout, stderr *os.File
	report                *os.File // nil: nobody is there who would
	theirs                []*os.File
}

// connect makes the pipes. With reporting, there is one for the report, too, and
// other files follow it. If it is sealed, standard output is a pair of sockets.
func connect(cmd *exec.Cmd, reporting, sealed bool, others []*os.File) (_ *pipes, err error) {
	p := &pipes{theirs: others}
	open := func() (r, w *os.File) {
		if err == nil {
			r, w, err = os.Pipe()
		}
		return r, w
	}
	var in, out, errs *os.File
	in, p.stdin = open()
	if sealed {
		p.stdout, out, err = socketPair()
	} else {
		p.stdout, out = open()
	}
	p.stderr, errs = open()
	p.theirs = append(p.theirs, in, out, errs)
	var reports *os.File
	if reporting {
		p.report, reports = open()
		p.theirs = append(p.theirs, reports)
	}
	if reporting || len(others) > 0 {
		cmd.ExtraFiles = append([]*os.File{reports}, others...) // without reports, its place stays empty
	}
	if err != nil {
		p.closeTheirs()
		p.close()
		return nil, err
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, errs
	return p, nil
}

// socketPair gives two sockets that are connected; only reading from the first has deadlines.
func socketPair() (r, w *os.File, err error) {
	syscall.ForkLock.RLock() // no other program is started that would inherit them
	pair, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM, 0)
	if err == nil {
		syscall.CloseOnExec(pair[0])
		syscall.CloseOnExec(pair[1])
		err = syscall.SetNonblock(pair[0], true)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, nil, err
	}
	return os.NewFile(uintptr(pair[0]), "output"), os.NewFile(uintptr(pair[1]), "output"), nil
}

// feed writes the whole standard input: a text, and then more until that is closed. A program that does not read it ends
// this when its pipes are closed.
func (p *pipes) feed(text string, more <-chan string) {
	_, err := io.WriteString(p.stdin, text)
	if more != nil {
		for text := range more {
			if err == nil {
				_, err = io.WriteString(p.stdin, text)
			}
		}
	}
	_ = p.stdin.Close()
}

// expire says that all who wrote are gone: from now on, nobody waits for more
// than what is in the pipes.
func (p *pipes) expire() {
	for _, f := range []*os.File{p.stdout, p.stderr, p.report} {
		_ = f.SetReadDeadline(time.Now()) // there may be none for a report
	}
}

// Closing a pipe that is nil or closed does nothing worth telling.
func (p *pipes) close() {
	for _, f := range []*os.File{p.stdin, p.stdout, p.stderr, p.report} {
		_ = f.Close()
	}
}

func (p *pipes) closeTheirs() {
	for _, f := range p.theirs {
		_ = f.Close()
	}
}

// readReport gives the report, once the pipes have expired. Who was killed has written none.
func (p *pipes) readReport() (r report) {
	if err := json.NewDecoder(&restOfOutput{Pipe: p.report}).Decode(&r); err != nil {
		return report{}
	}
	return r
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

// Lookup gives the value of a variable, the last one if there are several, as
// programs see it.
func Lookup(env []string, name string) string {
	for _, kv := range slices.Backward(env) {
		if v, ok := strings.CutPrefix(kv, name+"="); ok {
			return v
		}
	}
	return ""
}

// SetVar gives the variables with one of them changed or added.
func SetVar(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	return append(env, fmt.Sprintf("%s=%s", name, value))
}
