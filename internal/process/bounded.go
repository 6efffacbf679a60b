package process

import (
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Head keeps the first bytes that are written to it, at most Limit of them; 0 means
// all. Writing never fails.
type Head struct {
	bytes.Buffer
	Limit int64
}

// Write takes p, and keeps what there is room for.
func (h *Head) Write(p []byte) (int, error) {
	keep := p
	if room := h.Limit - int64(h.Len()); h.Limit > 0 && int64(len(p)) > room {
		keep = p[:max(room, 0)]
	}
	h.Buffer.Write(keep)
	return len(p), nil
}

// ReadFrom hides the buffer's own, which knows no limit.
func (h *Head) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{h}, r)
}

// Tail keeps the last bytes that are written to it, at most Limit of them. Writing
// never fails.
type Tail struct {
	Limit int
	data  []byte
}

// Write takes p, and forgets what is too old.
func (t *Tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - t.Limit; extra > 0 {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

// String is what is kept.
func (t *Tail) String() string { return string(t.data) }

// RunBounded runs a command, and gives all that is printed until it has ended to two writers, where exec.Cmd waits for
// everybody who holds the pipes open, or loses the end of it. The error is that of the command.
func RunBounded(cmd *exec.Cmd, stdout, stderr io.Writer) error {
	var ours, theirs [2]*os.File
	defer func() {
		for _, f := range append(ours[:], theirs[:]...) {
			_ = f.Close() // nil, closed, or only read from
		}
	}()
	for i := range ours {
		var err error
		if ours[i], theirs[i], err = os.Pipe(); err != nil {
			return err
		}
	}
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
	if err := cmd.Start(); err != nil {
		return err
	}
	var read sync.WaitGroup
	for i, to := range []io.Writer{stdout, stderr} {
		_ = theirs[i].Close() // the command has it
		read.Go(func() { _, _ = io.Copy(to, &RestOfOutput{Pipe: ours[i]}) })
	}
	err := cmd.Wait()
	for _, f := range ours {
		_ = f.SetReadDeadline(time.Now()) // pipes have one
	}
	read.Wait()
	return err
}

// RestOfOutput reads a pipe to its end and, once its deadline is over, to the end of what is in it then.
type RestOfOutput struct {
	Pipe *os.File
	late int // bytes read since the deadline
}

// Read reads. An error is the end.
func (r *RestOfOutput) Read(p []byte) (int, error) {
	n, err := r.Pipe.Read(p)
	const most = 1 << 20 // bytes that a pipe holds; somebody who is not ours may go on writing
	if errors.Is(err, os.ErrDeadlineExceeded) && r.late < most {
		_ = r.Pipe.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // what is there is read before that is asked for
		n, err = r.Pipe.Read(p)
		r.late += n
	}
	return n, err
}
