package process

import (
	"os"
	"os/exec"
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
