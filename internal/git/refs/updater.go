package refs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/git/program"
)

// Updater moves refs of a repository. One git process moves them all, since starting one
// takes longer. It holds no lock between two of them, and ends after ten minutes without
// one. It also ends with this process, in whatever way, because its standard input is
// closed then; an update that it had got as a whole is done then, as by a process for it alone.
type Updater struct {
	place    func() program.Call // directory and environment
	patience time.Duration

	mu    sync.Mutex
	now   *updating // nil: none runs
	idle  *time.Timer
	alone bool // git tells of its updates when it ends, and not before: before 2.34 it did so
}

const (
	idleTime = 10 * time.Minute // longer than most calls of agents
	patience = 2 * time.Second  // for an answer, before git is taken for one that answers when it ends
)

type updating struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// Update moves a ref from one commit, from none as zeros, or from whatever it is at as "", to another. The error says no
// more than that it was not moved. What git has got as a whole it does, also when ctx ends
// meanwhile: told to end, git might leave its lock, and nobody would know where the ref is.
func (u *Updater) Update(ctx context.Context, ref, to, from string) error {
	if strings.ContainsAny(ref+to+from, " \n\x00") {
		return fmt.Errorf("%q is no name of a ref", ref)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now == nil {
		started, err := u.start()
		if err != nil {
			return err
		}
		u.now = started
	}
	if u.idle == nil {
		u.idle = time.AfterFunc(idleTime, u.Close)
	}
	u.idle.Reset(idleTime)
	move := strings.TrimSpace(ref + " " + to + " " + from)
	done, err := u.ask(ctx, "start\nupdate "+move+"\nprepare\ncommit\n")
	if !done || u.alone || ctx.Err() != nil { // then the process was told to end
		u.end()
	}
	switch {
	case done:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	}
	return fmt.Errorf("move %s: git did not: %w", ref, err)
}

// Set moves a ref from whatever it is at. An error says why it was not moved.
func (u *Updater) Set(ctx context.Context, ref, to string) error {
	if u.Update(ctx, ref, to, "") == nil {
		return nil
	}
	c := u.place() // once more, as this says what is wrong
	c.Args = []string{"update-ref", "-m", "reprise", ref, to}
	_, err := c.Do(ctx)
	return err
}

// ask reports whether git says that it has made a change.
func (u *Updater) ask(ctx context.Context, text string) (done bool, err error) {
	answered, stopped := make(chan struct{}), make(chan struct{})
	calm := context.AfterFunc(ctx, func() {
		defer close(stopped)
		_ = u.now.in.Close() // it ends once it has done what it has got
		select {
		case <-answered:
		case <-time.After(u.patience):
			_ = syscall.Kill(-u.now.cmd.Process.Pid, syscall.SIGTERM) // it is not waited for before stopped
		}
	})
	_, err = io.WriteString(u.now.in, text)
	closed := make(chan struct{})
	late := time.AfterFunc(u.patience, func() {
		_ = u.now.in.Close() // it ends then, and what it says counts
		close(closed)
	})
	if u.alone {
		_ = u.now.in.Close()
	}
	for line := ""; err == nil && !done; done = line == "commit: ok\n" {
		line, err = u.now.out.ReadString('\n')
	}
	close(answered)
	if !late.Stop() {
		<-closed
		u.alone = u.alone || ctx.Err() == nil
	}
	if !calm() {
		<-stopped
	}
	return done, err
}

func (u *Updater) start() (*updating, error) {
	c := u.place()
	c.Args = []string{"update-ref", "-m", "reprise", "--stdin"}
	n := &updating{}
	var err error
	if n.cmd, n.in, n.out, err = c.Conversation(); err != nil {
		return nil, err
	}
	return n, n.cmd.Start()
}

// Close ends the process. The next update starts another.
func (u *Updater) Close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.now != nil {
		u.end()
	}
}

func (u *Updater) end() {
	_ = u.now.in.Close()
	_ = syscall.Kill(-u.now.cmd.Process.Pid, syscall.SIGTERM) // it may have ended
	_ = u.now.cmd.Wait()                                      // why it ended is of no interest
	u.now = nil
}

// NewUpdater gives one for the repository that commands of such a place work on.
func NewUpdater(place func() program.Call) *Updater {
	return &Updater{place: place, patience: patience}
}
