// Package objects reads what git holds under a name: commits, folders and files.
package git

import (
	"bufio"
	"bytes"
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

// Object is what git holds under a name; Kind is "" if it holds nothing.
type object struct {
	ID   string
	Kind string
	Data []byte
}

// Store reads the objects of a git directory. One git process answers all
// requests, since starting one takes longer than most answers. It finds objects
// that are written while it runs, and ends after a few seconds without a
// request, see Stay. It also ends with this process, in whatever way, because its
// standard input is closed then.
type store struct {
	Place func(context.Context) (call, error) // directory and environment of the process

	mu   sync.Mutex
	now  *answerer // nil: none runs
	idle *time.Timer
	stay bool
}

// Stay has the process end after ten minutes without a request, which is longer than most
// calls of agents, until Close.
func (s *store) Stay() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stay = true
}

// wait is how long the process waits for the next question.
func (s *store) wait() time.Duration {
	if s.stay {
		return 10 * time.Minute
	}
	return 5 * time.Second
}

// Unlimited is the limit for objects of any size.
const unlimited = -1

// Ask gives the objects of the names, one for each.
func (s *store) Ask(ctx context.Context, names ...string) ([]object, error) {
	objects := make([]object, len(names))
	for i, name := range names {
		o, err := s.One(ctx, name, unlimited)
		if err != nil {
			return nil, err
		}
		objects[i] = o
	}
	return objects, nil
}

// One gives the object of a name. One of more than limit bytes is a *TooLarge.
func (s *store) One(ctx context.Context, name string, limit int64) (object, error) {
	if err := oneLine(name); err != nil {
		return object{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	c, err := s.start(ctx)
	if err != nil {
		return object{}, err
	}
	o, err := s.now.ask(ctx, name, limit)
	s.idle.Reset(s.wait())
	if err == nil {
		return o, nil
	}
	s.now.end()
	s.now = nil
	if large := (*tooLarge)(nil); errors.As(err, &large) {
		return object{}, err
	}
	// It had ended since the last question, or the question ended it. A process
	// of its own answers, or says what is wrong.
	c.Stdin = strings.NewReader(name + "\n")
	out, err := c.Do(ctx)
	if err != nil {
		return object{}, err
	}
	return readObject(bufio.NewReader(bytes.NewReader(out)), name, limit)
}

// start starts a process unless one is running, and gives its command.
func (s *store) start(ctx context.Context) (call, error) {
	if s.now != nil {
		return s.now.call, nil
	}
	c, err := s.Place(ctx)
	if err != nil {
		return c, err
	}
	c.Args = []string{"cat-file", "--batch"}
	now, err := startAnswerer(c)
	if err != nil {
		return c, &Error{Args: c.Args, Err: err}
	}
	s.now = now
	if s.idle == nil {
		s.idle = time.AfterFunc(s.wait(), s.rest)
	}
	return c, nil
}

// Close ends the process. The next question starts another.
func (s *store) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stay = false
	s.end()
}

// rest ends a process that nothing was asked of. The one after it stays as long.
func (s *store) rest() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.end()
}

func (s *store) end() {
	if s.now != nil {
		s.now.end()
		s.now = nil
	}
}

// answerer is a git process that reads names and writes objects. Between two
// questions nothing in this process waits for it.
type answerer struct {
	call call
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
}

func startAnswerer(c call) (*answerer, error) {
	a := &answerer{call: c}
	var err error
	if a.cmd, a.in, a.out, err = c.Conversation(); err != nil {
		return nil, err
	}
	c.Lock = nil // it outlives what the lock is for
	done, err := c.Files(a.cmd)
	if err != nil {
		return nil, err
	}
	defer done()
	return a, a.cmd.Start()
}

func (a *answerer) ask(ctx context.Context, name string, limit int64) (object, error) {
	stopped := make(chan struct{})
	calm := context.AfterFunc(ctx, func() {
		_ = syscall.Kill(-a.cmd.Process.Pid, syscall.SIGTERM) // it is not waited for before stopped
		close(stopped)
	})
	o, err := object{}, error(nil)
	if _, err = io.WriteString(a.in, name+"\n"); err == nil {
		o, err = readObject(a.out, name, limit)
	}
	if !calm() {
		<-stopped
		return object{}, ctx.Err()
	}
	return o, err
}

// end ends the process, also in the middle of an answer.
func (a *answerer) end() {
	_ = a.in.Close()
	_ = syscall.Kill(-a.cmd.Process.Pid, syscall.SIGTERM) // it may have ended
	_ = a.cmd.Wait()                                      // why it ended is of no interest
}

// TooLarge says that an Object is larger than it may be.
type tooLarge struct{ Size int64 }

// Error says how large it is.
func (e *tooLarge) Error() string { return fmt.Sprintf("it has %d bytes", e.Size) }

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
	return object{ID: f[0], Kind: f[1], Data: data[:size:size]}, nil
}

// IsHash reports whether a text is the full hash of an object.
func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
