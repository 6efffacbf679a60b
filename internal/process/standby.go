package process

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"
)

// Standby is a helper that was started before it is known which program it is for. To
// start takes a helper about as long as reprise takes to get a call ready, so the two do
// it at the same time. It ends with reprise, as each helper does.
type Standby struct {
	started
	ended sync.Once
}

// started is a program, or its helper, with what leads to it.
type started struct {
	task  string // marks what is of the call
	child *child
	pipes *pipes
	over  func() // has to be called when it has ended
}

// StandBy starts a helper in namespaces of its own, which calls AwaitOrder. With network,
// it has a network of its own as well. It inherits files from descriptor 4 on; StandBy
// closes them.
func StandBy(argv, env []string, network bool, files []*os.File) (*Standby, error) {
	cmd := &exec.Cmd{Path: argv[0], Args: argv, Dir: "/", Env: env, SysProcAttr: Namespaces(network)}
	s, err := start(cmd, uuid.NewString(), true, files)
	if err != nil {
		return nil, err
	}
	return &Standby{started: s}, nil
}

// start starts cmd, which writes a report if it is reporting, and inherits files.
func start(cmd *exec.Cmd, task string, reporting bool, files []*os.File) (s started, err error) {
	s.task = task
	if s.pipes, err = connect(cmd, reporting, files); err != nil {
		return s, err
	}
	s.child, s.over, err = atWork.start(cmd, markerVar+"="+task)
	s.pipes.closeTheirs()
	if err != nil {
		s.pipes.close()
	}
	return s, err
}

// Waits reports whether the helper is still there.
func (s *Standby) Waits() bool {
	select {
	case <-s.child.exited:
		return false
	default:
		return true
	}
}

// End ends a helper that is not needed after all. It may be called again.
func (s *Standby) End() {
	s.ended.Do(func() {
		s.child.kill()
		s.pipes.close()
		go func() {
			<-s.child.exited
			s.child.collect()
			s.over()
		}()
	})
}

// orderHead has the same length for all orders, so that no byte of the program is read with it.
const orderHead = "%10d %20d\n"

// order is the text that tells a helper on standby its program: how many arguments it
// has, and how many bytes follow; the folder, the arguments and the environment, with a
// NUL between them, which none of them can have.
func order(dir string, argv, env []string) (string, error) {
	parts := slices.Concat([]string{dir}, argv, env)
	for _, part := range parts {
		if strings.ContainsRune(part, 0) {
			return "", fmt.Errorf("starting %s: a NUL byte is in its arguments, its folder or its environment", argv[0])
		}
	}
	text := strings.Join(parts, "\x00")
	return fmt.Sprintf(orderHead+"%s", len(argv), len(text), text), nil
}

// AwaitOrder waits until a helper on standby is told its program, goes to the folder of
// that, and gives its arguments and environment. What follows on standard input is the
// program's. An error says that there is nothing to start.
func AwaitOrder() (argv, env []string, err error) {
	in := unbuffered{}
	head := make([]byte, len(fmt.Sprintf(orderHead, 0, 0)))
	if _, err := io.ReadFull(in, head); err != nil {
		return nil, nil, errors.New("reprise has ended, or needs no helper any more")
	}
	var n, size int
	if _, err := fmt.Sscanf(string(head), orderHead, &n, &size); err != nil {
		return nil, nil, fmt.Errorf("reading what to start: %w", err)
	}
	text := make([]byte, size)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, nil, fmt.Errorf("reading what to start: %w", err)
	}
	parts := strings.Split(string(text), "\x00")
	if n < 1 || len(parts) < 1+n {
		return nil, nil, fmt.Errorf("reading what to start: %d parts, with %d arguments", len(parts), n)
	}
	return parts[1 : 1+n], parts[1+n:], os.Chdir(parts[0])
}
