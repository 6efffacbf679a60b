package git

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// object is what git holds under a name; kind is "" if it holds nothing.
type object struct {
	id   string
	kind string
	data []byte
}

// store gives the objects of a git directory to all who ask. One git process
// answers them, since to start one takes longer than most answers. It knows what
// is written while it runs, and ends when nobody has asked for a moment. It ends
// with this process, too, however that ends: its standard input is closed then.
type store struct {
	place func(context.Context) (call, error) // directory and environment of the process

	mu   sync.Mutex
	now  *answerer // nil: none runs
	idle *time.Timer
}

// idleTime is how long the process waits for the next question.
const idleTime = 5 * time.Second

// unlimited is the limit for objects of any size.
const unlimited = -1

// ask gives the objects of the names, one for each.
func (s *store) ask(ctx context.Context, names ...string) ([]object, error) {
	objects := make([]object, len(names))
	for i, name := range names {
		o, err := s.one(ctx, name, unlimited)
		if err != nil {
			return nil, err
		}
		objects[i] = o
	}
	return objects, nil
}

// one gives the object of a name. One of more than limit bytes is a *tooLarge.
func (s *store) one(ctx context.Context, name string, limit int64) (object, error) {
	if err := oneLine(name); err != nil {
		return object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		running := s.now != nil
		if !running {
			if err := s.start(ctx); err != nil {
				return object{}, err
			}
		}
		o, err := s.now.ask(ctx, name, limit)
		s.idle.Reset(idleTime)
		if err == nil {
			return o, nil
		}
		err = s.now.end(ctx, err)
		s.now = nil
		var lost *Error
		if !running || !errors.As(err, &lost) || ctx.Err() != nil {
			return object{}, err
		}
		// It had ended since the last question, and another one can answer.
	}
}

func (s *store) start(ctx context.Context) error {
	c, err := s.place(ctx)
	if err != nil {
		return err
	}
	c.args = []string{"cat-file", "--batch"}
	if s.now, err = c.answer(); err == nil && s.idle == nil {
		s.idle = time.AfterFunc(idleTime, s.close)
	}
	return err
}

// close ends the process. The next question starts another.
func (s *store) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now != nil {
		_ = s.now.end(context.Background(), io.EOF) // nobody waits for an answer
		s.now = nil
	}
}

// answerer is a git process that reads names and writes objects.
type answerer struct {
	call call
	cmd  *exec.Cmd
	stop context.CancelFunc
	in   io.WriteCloser
	out  *bufio.Reader
	said *tail
}

func (c call) answer() (*answerer, error) {
	ctx, stop := context.WithCancel(context.Background())
	a := &answerer{call: c, cmd: c.command(ctx), stop: stop, said: &tail{limit: 64 << 10}}
	a.cmd.Stderr = a.said
	in, err := a.cmd.StdinPipe()
	if err == nil {
		var out io.Reader
		out, err = a.cmd.StdoutPipe()
		a.in, a.out = in, bufio.NewReader(out)
	}
	if err == nil {
		err = a.cmd.Start()
	}
	if err != nil {
		stop()
		return nil, &Error{Args: c.args, Err: err}
	}
	return a, nil
}

func (a *answerer) ask(ctx context.Context, name string, limit int64) (object, error) {
	defer context.AfterFunc(ctx, a.stop)()
	if _, err := io.WriteString(a.in, name+"\n"); err != nil {
		return object{}, err
	}
	o, err := readObject(a.out, name, limit)
	return o, errors.Join(err, ctx.Err())
}

// end ends the process and gives the error for why it has not answered.
func (a *answerer) end(ctx context.Context, why error) error {
	_ = a.in.Close() // which ends it, unless it is in the middle of an answer
	gone := errors.Is(why, io.EOF) || errors.Is(why, io.ErrUnexpectedEOF) || errors.Is(why, syscall.EPIPE)
	if !gone {
		a.stop()
	}
	err := a.cmd.Wait()
	a.stop()
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case !gone:
		return why
	case err == nil:
		err = io.ErrUnexpectedEOF
	}
	return a.call.failed(a.said, err)
}

// tooLarge says that an object is larger than it may be.
type tooLarge struct{ size int64 }

func (e *tooLarge) Error() string { return fmt.Sprintf("it has %d bytes", e.size) }

// readObject reads the answer to a name: a line "hash kind size", and the data.
func readObject(r *bufio.Reader, name string, limit int64) (object, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return object{}, err
	}
	line = strings.TrimSuffix(line, "\n")
	if line == name+" missing" || line == name+" ambiguous" {
		return object{}, nil
	}
	f := strings.Fields(line)
	if len(f) == 2 && isHash(f[0]) && f[1] == "submodule" { // newer versions say so; its commit is elsewhere
		return object{}, nil
	}
	if len(f) != 3 || !isHash(f[0]) {
		return object{}, fmt.Errorf("git cat-file answered %q", line)
	}
	size, err := strconv.ParseInt(f[2], 10, 64)
	if err != nil || size < 0 {
		return object{}, fmt.Errorf("git cat-file answered %q", line)
	}
	if limit != unlimited && size > limit {
		return object{}, &tooLarge{size}
	}
	data := make([]byte, size+1) // with the line break behind it
	if _, err := io.ReadFull(r, data); err != nil {
		return object{}, err
	}
	return object{id: f[0], kind: f[1], data: data[:size:size]}, nil
}
