package process

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"time"
)

// pipes connect a program with us. Theirs are the ends that it inherits.
type pipes struct {
	stdin, stdout, stderr *os.File
	report                *os.File // nil: nobody is there who would
	theirs                []*os.File
}

// connect makes the pipes. With reporting, there is one for the report, too, and
// other files follow it.
func connect(cmd *exec.Cmd, reporting bool, others []*os.File) (*pipes, error) {
	p := &pipes{theirs: others}
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
	p.theirs = append(p.theirs, in, out, errs)
	if reporting {
		var report *os.File
		p.report, report = open()
		p.theirs, cmd.ExtraFiles = append(p.theirs, report), append([]*os.File{report}, others...)
	}
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
	if err := json.NewDecoder(&RestOfOutput{Pipe: p.report}).Decode(&r); err != nil {
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
