package process

import (
	"bytes"
	"os/exec"
	"sync"
)

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
