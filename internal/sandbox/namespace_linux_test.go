//go:build amd64 || arm64

package sandbox

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// fakes are the programs that the test binary can be.
func fakes() map[string]func(args []string) int {
	old := func(args []string) int {
		newestABI = args[0]
		return enterSandbox(args[1:])
	}
	kept := func(args []string) int {
		for {
			if f, err := unix.Open(os.DevNull, unix.O_RDONLY, 0); err != nil || f > relayFile {
				break
			}
		}
		code := enterSandbox(args)
		if _, err := unix.FcntlInt(relayFile, unix.F_GETFD, 0); code == 0 && err != nil {
			fmt.Fprintln(os.Stderr, "sandbox: a descriptor that nobody handed over:", err)
			return 1
		}
		return code
	}
	return map[string]func([]string) int{"enter the sandbox": enterSandbox, "enter an old one": old, "keep descriptors": kept, "reprise": fakeReprise, "crowded": fakeCrowded}
}

// Without a gate, the helper closes no descriptor: that may be one of the language itself, which ends when it misses it.
func TestNothingIsClosedThatWasNotHandedOver(t *testing.T) {
	helper, here := []string{testenv.Self(t), "fake", "keep descriptors"}, newCell(t).box.together
	p := policy{Own: here.network, Memory: memoryFor(Limits{}.withDefaults()), Network: &closed{Own: here.network}}
	p.noteUser()
	attr := process.Apart()
	if here.network {
		attr = process.Namespaces(true)
	}
	if err := try(helper, p, attr); err != nil {
		t.Error(err)
	}
}

// together keeps the processes of a cell's calls together in a way, if this
// machine can do that.
func (c *cell) together(s separation) (can bool) {
	c.t.Helper()
	here := c.box.together
	if s.namespaced && !here.namespaced {
		c.t.Logf("calls have no namespaces here: %s", here.why)
		return false
	}
	c.box.together = s
	return true
}

// A program in namespaces of its own has the user, the exit codes, the signals
// and the orphans that it has without.
func TestNamespacesChangeNothingElse(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, run string
		code      int
		output    string
	}{
		{"user", "id -u; id -g", 0, fmt.Sprintf("%d\n%d\n", os.Geteuid(), os.Getegid())},
		{"own files", "echo > mine; stat -c %u mine", 0, fmt.Sprintf("%d\n", os.Geteuid())},
		{"exit code", "exit 7", 7, ""},
		{"signal", "kill -SEGV $$", -1, ""},
		{"killed", "kill -KILL $$", -1, ""},
		{"session", "test $(ps -o sid= -p $$) = $$", 0, ""},
		{"no zombies", "for n in 1 2 3; do (setsid sh -c \"echo > gone$n\" &); done; until [ -e gone1 ] && [ -e gone2 ] && [ -e gone3 ]; do sleep 0.02; done; while ps -eo stat | grep -q Z; do sleep 0.02; done; echo all gone", 0, "all gone\n"},
		{"no rights", "awk '/^Cap(Prm|Eff|Amb)/ && $2 != \"0000000000000000\"' /proc/self/status", 0, ""},
		{"own user namespace", "unshare --user true", 0, ""},
		{"standard input", "cat", 0, ""},
	} {
		for _, s := range []separation{{namespaced: true}, {}} {
			t.Run(fmt.Sprintf("%s, %s", tt.name, s.word()), func(t *testing.T) {
				t.Parallel()
				if tt.name == "no zombies" && !s.namespaced {
					return // reprise is the one that collects them, after the call
				}
				run := tt.run
				if tt.name == "no rights" && os.Geteuid() == 0 {
					run = "true" // root keeps some: TestSandbox
				}
				c := newCell(t)
				if !c.together(s) {
					return
				}
				e := c.run(run, time.Minute)
				if e.Code() != tt.code || e.Stdout != tt.output {
					t.Errorf("code %d, output %q; want %d, %q", e.Code(), e.Stdout, tt.code, tt.output)
				}
			})
		}
	}
}

// Who is asked to end can still tidy up.
func TestAskedToEndInNamespaces(t *testing.T) {
	t.Parallel()
	c := newCell(t)
	if !c.together(separation{namespaced: true}) {
		return
	}
	tell := make(chan process.Reaction, 1)
	p := process.Program{Whole: time.Minute, Grace: time.Minute, Tell: tell, Line: func(line []byte) process.Reaction {
		if string(line) == "ready" {
			tell <- process.GiveUp
		}
		return process.GoOn
	}}
	e, err := inside(t.Context(), c.box, c.call("trap 'echo asked; exit 3' TERM; echo ready; while :; do sleep 0.05; done"), p)
	if err != nil || !strings.HasPrefix(e.Stdout, "ready\n") || !strings.Contains(e.Stdout, "asked\n") {
		t.Errorf("it ended with %+v", e)
	}
}

// What a program leaves behind is ended with it and counted.
func TestLeftBehindInNamespaces(t *testing.T) {
	t.Parallel()
	c := limited(t, Limits{})
	if !c.together(separation{namespaced: true}) {
		return
	}
	name := fmt.Sprintf("4713.%d", time.Now().UnixNano())
	e := c.run(strings.ReplaceAll(`(setsid sh -c 'env -i setsid sleep N & env -i sleep N & wait' &); until [ $(ps -eo args | grep -c "^sleep N") = 2 ]; do sleep 0.05; done; echo done`, "N", name), time.Minute)
	if e.Stdout != "done\n" || e.Left != 3 {
		t.Errorf("it ended with %+v", e)
	}
	if left := testenv.StartedWith(t, name); len(left) > 0 {
		t.Errorf("processes are left: %q", left)
	}
}

// The memory that programs share is gone with the call, and is no more than it
// may write.
func TestSharedMemoryIsOwn(t *testing.T) {
	t.Parallel()
	c := limited(t, Limits{Disk: 4 << 20})
	if !c.together(separation{namespaced: true}) {
		return
	}
	c.box.Sockets = true // for memory in the manner of System V
	name := "reprise-" + filepath.Base(filepath.Dir(c.root))
	queue := fmt.Sprintf(`perl -e 'exit(syscall(%d, %d, 0%o) >= 0 ? 0 : 1)'`, unix.SYS_MSGGET, os.Getpid(), unix.IPC_CREAT|0o600)
	worked := c.attempts(map[string]string{
		"small": "echo > /dev/shm/" + name, "large": "head -c 5M /dev/zero > /dev/shm/large; s=$?; rm /dev/shm/large; exit $s", "queue": queue,
	})
	if want := []string{"queue", "small"}; !slices.Equal(worked, want) {
		t.Errorf("what worked: %q, want %q", worked, want)
	}
	if exists(filepath.Join(memory, name)) {
		t.Error("the file in memory is still there")
		_ = os.Remove(filepath.Join(memory, name))
	}
	if id, _, err := syscall.Syscall(unix.SYS_MSGGET, uintptr(os.Getpid()), 0, 0); err == 0 {
		t.Errorf("the queue %d is still there", id)
		_, _, _ = syscall.Syscall(unix.SYS_MSGCTL, id, unix.IPC_RMID, 0)
	}
}

// killedReprise is a reprise whose call starts programs that shed everything,
// and which is killed then. It gives a text that is in their command lines.
func (c *cell) killedReprise(s separation) string {
	c.t.Helper()
	name := fmt.Sprintf("4714.%d", time.Now().UnixNano())
	cmd := exec.Command(testenv.Self(c.t), "fake", "reprise", c.root, c.dir, name, string(s.word()))
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.user, "TMPDIR=" + c.temp}
	out := &strings.Builder{}
	cmd.Stderr = out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	for end := time.Now().Add(5 * time.Minute); len(sleeping(c.t, name)) < 2; time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			c.t.Fatalf("the programs did not start: %s", out)
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait() // it was killed
	return name
}

// sleeping finds the sleeps of that many seconds.
func sleeping(t testing.TB, seconds string) []string {
	t.Helper()
	return slices.DeleteFunc(testenv.StartedWith(t, seconds), func(line string) bool { return !strings.Contains(line, ": sleep "+seconds) })
}

// fakeReprise is a reprise with one call.
func fakeReprise(args []string) int {
	s := map[string]separation{string(Namespaces): {namespaced: true}, string(ControlGroup): {group: true}}[args[3]]
	path, err := os.Executable()
	if err != nil {
		return 1
	}
	box := &Sandbox{Helper: []string{path, "fake", "enter the sandbox"}, State: filepath.Join(args[0], "homes"), together: s, homes: &homesInUse{calls: map[string]int{}}}
	box.Limits = box.Limits.withDefaults()
	call := Call{
		Argv: []string{"/bin/sh", "-c", strings.ReplaceAll("(env -i setsid sleep N &); env -i sleep N & wait", "N", args[2])},
		Env:  os.Environ(), Dir: args[1], User: os.Getenv("HOME"), Access: pipelines.AccessTree,
	}
	r, err := inside(context.Background(), box, call, process.Program{})
	fmt.Fprintln(os.Stderr, r, err)
	return 0
}

// Programs that shed everything end with a reprise that is killed, where a call
// has namespaces, and with the next start, where it has a control group. Without
// either they live on: that is what those are for.
//
// It runs by itself: what a killed reprise leaves becomes a child of this
// process, and the calls of tests beside it would end that, as is their duty.
func TestKilledRepriseLeavesNothing(t *testing.T) {
	c := newCell(t)
	gone := func(name string) {
		t.Helper()
		for end := time.Now().Add(5 * time.Minute); len(sleeping(t, name)) > 0; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("processes are left: %q", sleeping(t, name))
			}
		}
	}
	if c.together(separation{namespaced: true}) {
		gone(c.killedReprise(separation{namespaced: true}))
	}
	if canGroup(c.box.Helper, c.box.Limits) {
		name := c.killedReprise(separation{group: true})
		time.Sleep(100 * time.Millisecond)
		if len(sleeping(t, name)) == 0 {
			t.Error("in a control group nothing is left even before the next start")
		}
		if n := EndLeftovers(c.dir); n < 2 {
			t.Errorf("the next start has ended %d processes", n)
		}
		gone(name)
	}
	if os.Geteuid() == 0 {
		return // root has a group in any case
	}
	name := c.killedReprise(separation{})
	time.Sleep(100 * time.Millisecond)
	if len(sleeping(t, name)) == 0 {
		t.Error("without namespaces nothing is left either")
	}
	EndLeftovers(c.dir)
	for _, line := range sleeping(t, name) { // what it could not find
		var pid int
		if _, err := fmt.Sscanf(line, "/proc/%d/", &pid); err == nil {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}

// fakeCrowded is in a system that gives out no more namespaces, and says how
// calls are kept together there.
func fakeCrowded([]string) int {
	if err := os.WriteFile("/proc/sys/user/max_pid_namespaces", []byte("0"), 0); err != nil {
		fmt.Println(err)
		return 1
	}
	path, err := os.Executable()
	if err != nil {
		return 1
	}
	box, note, err := Sandbox{Helper: []string{path, "fake", "enter the sandbox"}}.Prepare(Required, nil)
	if err != nil || note != "" {
		fmt.Println(note, err)
		return 1
	}
	held := box.held()
	fmt.Println(held.Together, held.Apart)
	fmt.Println(strings.Join(held.Lacks(), "\n"))
	return 0
}

// Where the system refuses namespaces, the sandbox is the rest of it, and says so.
func TestNamespacesRefused(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(testenv.Self(t), "fake", "crowded")
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: unix.CLONE_NEWUSER, AmbientCaps: []uintptr{unix.CAP_SYS_RESOURCE},
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 4711, HostID: os.Geteuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 4711, HostID: os.Getegid(), Size: 1}},
	}
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Logf("this system gives out none at all, which is what is tried: %v", err)
		return
	}
	first, rest, _ := strings.Cut(string(out), "\n")
	if err != nil || first != "marks the system lets this user make none, or no more" && first != "control group the system lets this user make none, or no more" {
		t.Errorf("error %v, it says %q", err, out)
	}
	if !strings.Contains(rest, "files in /dev/shm stay after a call, which has no namespaces of its own (the system lets this user make none, or no more)") {
		t.Errorf("it lacks %q", rest)
	}
}
