package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Harden keeps other processes of the same user from reading this one's memory and environment, and from tracing it;
// root can all the same. From then on this process may not open its own environ, mem or oom_score_adj, nor arrange a
// child's user namespace.
func Harden() error {
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("closing /proc/self against the agents: %w", err)
	}
	return nil
}

// Apart gives a program a session, and so a process group, of its own: no
// terminal, no signals that are meant for reprise. It dies with reprise.
func Apart() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}
}

// Namespaces is how a program is started with namespaces of its own: no process there outlives its first one, which
// dies with reprise, and none sees others. Without root it needs a user namespace. With network, it also has a network,
// which leads nowhere.
func Namespaces(network bool) *syscall.SysProcAttr {
	attr := Apart()
	attr.Cloneflags = unix.CLONE_NEWPID | unix.CLONE_NEWNS | unix.CLONE_NEWIPC
	if network {
		attr.Cloneflags |= unix.CLONE_NEWNET
	}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
		if network {
			attr.AmbientCaps = append(attr.AmbientCaps, unix.CAP_NET_ADMIN)
		}
	}
	return attr
}

// prepareThread ties the goroutine to its thread: the program dies with it and gains no rights. Orphans of the program
// become children of this process.
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

// How long processes are looked for: where others come and go without end, and where a killed one is still there.
const (
	restTime = 2 * time.Second
	endTime  = 20 * time.Second
)

// sweep ends the processes of a call that left its process group, and says how many
// there were.
func sweep(leader int, task string) int {
	own, _ := unix.Getsid(0)               // 0 in a container whose session was begun outside of it
	since, _ := stat(strconv.Itoa(leader)) // what is older than the program is not of it
	return family{mark: markerVar + "=" + task, sessions: map[int]bool{leader: true}, own: own, orphans: true, leader: leader, since: since.start}.end()
}

// EndLeftovers ends the processes of calls in a work tree that outlived their reprise, and says how many there were.
// Call it only while no other process can be at work there.
func EndLeftovers(dir string) int {
	own, _ := unix.Getsid(0)
	return family{mark: treeVar + "=" + dir, sessions: map[int]bool{}, own: own}.end()
}

// end ends the processes of a family, and says how many there were. Orphans among them are collected here, and no other
// children of this process.
func (f family) end() int {
	killed, dead, blank := map[int]bool{}, map[int]bool{}, map[int]int{}
	alive := false // one of them, when we looked last
	for began := time.Now(); time.Since(began) < restTime || alive && time.Since(began) < endTime; time.Sleep(time.Millisecond) {
		calm := true // nothing moved while we looked, so nothing was missed
		alive = false
		for _, p := range processes() {
			switch {
			case p.pid == f.leader || p.pid == os.Getpid() || p.session == f.own && (f.orphans || p.dead) || p.start < f.since:
			case p.dead:
				calm = calm && dead[p.pid]
				dead[p.pid] = true
				// A child that another part of reprise has started has this
				// process's session, or one of its own. Any other was adopted,
				// and nobody else waits for it.
				if p.parent == os.Getpid() && (killed[p.pid] || p.session != p.pid) {
					_, _ = unix.Wait4(p.pid, nil, unix.WNOHANG, nil)
				}
			case f.has(p):
				calm, alive, killed[p.pid] = false, true, true
				if p.session != f.own && p.session != 0 {
					f.sessions[p.session] = true // each call began one
				}
				_ = unix.Kill(p.pid, unix.SIGKILL) // it may have gone meanwhile
			case p.blank() && blank[p.pid] < 50:
				// While a process becomes another program it shows no
				// environment. One that keeps showing none has none.
				blank[p.pid]++
				calm = false
			default:
				now, ok := stat(strconv.Itoa(p.pid))
				calm = calm && ok && !now.dead
			}
		}
		if calm {
			break
		}
	}
	return len(killed)
}

// ofCall lists the processes of a call by its first one and its mark.
func ofCall(leader int, task string) (out []int) {
	own, _ := unix.Getsid(0)
	f := family{mark: markerVar + "=" + task, sessions: map[int]bool{leader: true}, own: own, orphans: true}
	all, in := processes(), map[int]bool{}
	for more := true; more; { // a child may be listed before its parent
		more = false
		for _, p := range all {
			if !in[p.pid] && !p.dead && p.pid != os.Getpid() && (p.pid == leader || in[p.parent] || f.has(p)) {
				in[p.pid], more = true, true
				out = append(out, p.pid)
			}
		}
	}
	return out
}

// family knows the processes of one call.
type family struct {
	mark     string
	sessions map[int]bool // of processes known to belong to the call
	own      int          // this process's session, for orphans
	orphans  bool         // orphans that have shed everything are of it, too
	leader   int          // the program itself, which is ended elsewhere
	since    int          // no process of it started before, see process
}

// has says whether a process is of the call: by its session, by the mark in its environment, or as an orphan that has
// shed both.
func (f family) has(p process) bool {
	if f.sessions[p.session] {
		return true
	}
	env, _ := p.environ() // it is gone, or somebody else's
	return marked(env, f.mark) || f.orphans && f.orphan(p, env)
}

// orphan says whether a process that this one did not start has become its child: unlike what reprise starts, it has
// another session and may gain no rights.
func (f family) orphan(p process, env []byte) bool {
	if p.parent != os.Getpid() || p.session == f.own || atWork.knows(p.pid, env) {
		return false
	}
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.pid)) // it may be gone
	return bytes.Contains(status, []byte("\nNoNewPrivs:\t1\n"))
}

// process is what the system says of one. It is dead when none of its threads lives, which its first one alone does not
// tell.
type process struct {
	pid, parent, session int
	thread               int // one that lives
	dead                 bool
	start                int // in ticks since the machine started
}

// environ is the environment that a process was started with. A thread that has
// ended shows none.
func (p process) environ() ([]byte, error) {
	return os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/environ", p.pid, p.thread))
}

// blank reports whether a process shows no environment, though this process
// may look at it. Those of the kernel, which have no session, never do.
func (p process) blank() bool {
	env, err := p.environ()
	return err == nil && len(env) == 0 && p.session != 0
}

// processes lists all there are, without those of the kernel. The kernel's own lists of children are
// shorter, but may leave some out while others come and go.
func processes() (out []process) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close() // opened for reading
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if p, ok := stat(name); ok {
			out = append(out, p)
		}
	}
	return out
}

func stat(name string) (p process, ok bool) {
	if p.pid, _ = strconv.Atoi(name); p.pid == 0 {
		return p, false
	}
	f := fieldsOf("/proc/" + name + "/stat")
	if len(f) < 20 {
		return p, false
	}
	const ofKernel = 0x00200000 // PF_KTHREAD: a thread of the kernel, of which there are many
	if flags, _ := strconv.ParseUint(f[6], 10, 64); flags&ofKernel != 0 {
		return p, false
	}
	p.parent, _ = strconv.Atoi(f[1])
	p.session, _ = strconv.Atoi(f[3])
	p.start, _ = strconv.Atoi(f[19])
	p.thread = p.pid
	if over(f) {
		p.thread = p.livingThread()
		p.dead = p.thread == 0
	}
	return p, true
}

// fieldsOf gives what follows the name in a stat file of the system: the name,
// in parentheses, may hold anything.
func fieldsOf(file string) []string {
	data, _ := os.ReadFile(file) // it is gone
	return strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
}

// over reports whether these are the fields of a thread that has ended.
func over(fields []string) bool {
	return len(fields) == 0 || strings.ContainsAny(fields[0], "ZXx")
}

// livingThread finds a thread of a process that has not ended; 0 means none.
func (p process) livingThread() int {
	dir := fmt.Sprintf("/proc/%d/task/", p.pid)
	threads, _ := os.ReadDir(dir) // it is gone
	for _, t := range threads {
		if id, err := strconv.Atoi(t.Name()); err == nil && !over(fieldsOf(dir+t.Name()+"/stat")) {
			return id
		}
	}
	return 0
}
