package agents

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Harden keeps other processes of the same user, such as agents, from reading
// this one's memory and environment (/proc/PID/environ) and from tracing it.
// It says nothing to a process of root. Call it once, before the first agent.
func Harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing /proc/self against the agents: %w", err)
	}
	return nil
}

// apart gives a program a session, and so a process group, of its own: no
// terminal, no signals that are meant for reprise. It dies with reprise.
func apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// prepareThread ties the goroutine to its thread, for two reasons: the program
// is to die with the thread that started it, and that it can gain no rights
// (by sudo, say) is a mark on the thread that starts it. The thread ends with
// the goroutine. Orphans of the program become children of this process.
func prepareThread() {
	runtime.LockOSThread()
	_ = unix.Prctl(unix.PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) // kernels from 3.5 on have both
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// awaitExit waits until the program has ended, and leaves its status for Wait.
func awaitExit(cmd *exec.Cmd) {
	for {
		err := unix.Waitid(unix.P_PID, cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func (c *child) ask()  { _ = unix.Kill(-c.pid(), unix.SIGTERM) }
func (c *child) kill() { _ = unix.Kill(-c.pid(), unix.SIGKILL) }

// sweep ends the processes of a call that left its process group and outlived
// their parents, which made them children of this process. It says how many
// there were. Other children of this process, such as git's, are waited for
// elsewhere: it touches none of them.
func sweep(leader int, task string) (ended int) {
	own, _ := unix.Getsid(0)
	f := family{leader: leader, mark: []byte(markerVar + "=" + task), own: own, sessions: map[int]bool{leader: true}}
	killed := map[int]bool{}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		found := false
		for _, p := range children() {
			switch {
			case p.pid == leader:
			case p.zombie():
				if killed[p.pid] || f.left(p) {
					found = true
					_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
				}
			case f.has(p):
				found, killed[p.pid], f.sessions[p.session] = true, true, true
				_ = unix.Kill(p.pid, unix.SIGKILL)
			}
		}
		if !found {
			break
		}
	}
	return len(killed)
}

// family knows the processes of one call.
type family struct {
	leader   int
	mark     []byte
	own      int          // session of this process
	sessions map[int]bool // of processes known to belong to the call
}

// has says whether a living child of this process belongs to the call.
func (f family) has(p process) bool {
	if p.session == f.own {
		return false
	}
	if f.sessions[p.session] {
		return true
	}
	env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", p.pid)) // gone, or not ours
	return bytes.Contains(append([]byte{0}, env...), append(append([]byte{0}, f.mark...), 0))
}

// left says whether a dead child of this process may be laid to rest here. A
// process that this one has started has its session, or one of its own; what
// has neither was adopted, and nobody else waits for it.
func (f family) left(p process) bool {
	return p.session != f.own && p.session != p.pid
}

// process is a line of /proc/PID/stat.
type process struct {
	pid, parent, session int
	state                string
}

func (p process) zombie() bool { return p.state == "Z" || p.state == "X" }

// children lists the children of this process.
func children() []process {
	var out []process
	lists, _ := filepath.Glob("/proc/self/task/*/children")
	if len(lists) == 0 {
		return childrenByScan()
	}
	for _, list := range lists {
		data, _ := os.ReadFile(list) // a thread that ended has none
		for _, pid := range strings.Fields(string(data)) {
			if p, ok := stat(pid); ok {
				out = append(out, p)
			}
		}
	}
	return out
}

// childrenByScan is for kernels that do not list children.
func childrenByScan() []process {
	var out []process
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		if p, ok := stat(filepath.Base(dir)); ok && p.parent == os.Getpid() {
			out = append(out, p)
		}
	}
	return out
}

func stat(pid string) (process, bool) {
	data, _ := os.ReadFile("/proc/" + pid + "/stat")
	text := string(data)
	// The name, in parentheses, may hold anything.
	rest := strings.Fields(text[strings.LastIndexByte(text, ')')+1:])
	if len(rest) < 4 {
		return process{}, false
	}
	p := process{state: rest[0]}
	p.pid, _ = strconv.Atoi(pid)
	p.parent, _ = strconv.Atoi(rest[1])
	p.session, _ = strconv.Atoi(rest[3])
	return p, true
}
