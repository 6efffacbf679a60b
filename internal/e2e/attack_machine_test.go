//go:build e2e

package e2e

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// machine is what a system has for the sandbox. The tests of one that has less
// than this one are made with a build of reprise that uses no more: the linker
// sets how much.
type machine struct {
	name  string // for people
	flags string // of the linker
	lacks []gap
}

// gap is what some machines lack, and what works there for that reason.
type gap string

const (
	noNamespaces gap = "without namespaces"
	noScopes     gap = "before Landlock 6 without namespaces" // which keeps back signals
)

// gaps are the attempts that work on some machines, by their names.
func gaps() map[string]gap {
	return map[string]gap{"arguments": noNamespaces, "kill": noScopes, "kill-other": noScopes}
}

// stays is what a program does to stay, with a test for each.
func stays() []sabotage {
	return []sabotage{
		{wish: "outlive a reprise that is killed", then: "it ends with reprise"},               // TestOutliveKilledReprise
		{wish: "leave a file in `/dev/shm` for later calls", then: "it is gone with the call"}, // TestStayInMemory
	}
}

// deceits are what code under review does to its reviewer, with a test for each.
func deceits() []sabotage {
	return []sabotage{
		{wish: "change, while it is reviewed, what its reviewer is told in its session", then: "it finds no session"}, // TestSessionOfAReviewer
		{wish: "lead its reviewer to another model, by settings of the client", then: "it finds no settings"},         // TestModelOfAReviewer
	}
}

// machines are those that the attempts are made on: this one, which is to have
// namespaces and Landlock 6; one that has the same Landlock and refuses
// namespaces; and one that has Landlock 2 alone, as Debian 12.
func machines() []machine {
	const set = "-X github.com/reprise-ci/reprise/internal/sandbox."
	return []machine{
		{name: "with namespaces"},
		{"without namespaces", set + "noNamespaces=on", []gap{noNamespaces}},
		{"with Landlock 2 alone", set + "noNamespaces=on " + set + "newestABI=2", []gap{noNamespaces, noScopes}},
	}
}

// builds are the builds of reprise by the flags of the linker, each made once.
var builds sync.Map

// program is reprise for the machine.
func (m machine) program() (string, error) {
	if m.flags == "" {
		return binary()
	}
	build, _ := builds.LoadOrStore(m.flags, sync.OnceValues(func() (string, error) {
		path := filepath.Join(scratch, "reprise-"+strings.ReplaceAll(m.name, " ", "-"))
		if out, err := exec.Command("go", "build", "-ldflags", m.flags, "-o", path, "github.com/reprise-ci/reprise/cmd/reprise").CombinedOutput(); err != nil {
			return "", fmt.Errorf("build reprise: %w\n%s", err, out)
		}
		return path, nil
	}))
	return build.(func() (string, error))()
}

// everyMachine calls a test for every user on every machine.
func everyMachine(t *testing.T, test func(t *testing.T, user int, m machine)) {
	t.Helper()
	for _, m := range machines() {
		t.Run(m.name, func(t *testing.T) {
			everyUser(t, func(t *testing.T, user int) { test(t, user, m.here(t, user)) })
		})
	}
}

// here is the machine as it is for a user of this one: where the system refuses
// namespaces, as in many containers, it lacks them. That is found out by another
// program than reprise, or a sandbox that is broken would pass for a system
// that refuses.
func (m machine) here(t *testing.T, user int) machine {
	t.Helper()
	if m.has(noNamespaces) {
		return m
	}
	args := []string{"--pid", "--mount", "--ipc", "--fork", "--mount-proc", "true"}
	if user != 0 || os.Geteuid() != 0 {
		args = append([]string{"--user", "--map-root-user"}, args...)
	}
	c := exec.Command("unshare", args...)
	if user != 0 {
		c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(user), Gid: uint32(user)}}
	}
	if out, err := c.CombinedOutput(); err != nil {
		t.Logf("this system refuses namespaces, so what they hold back is not tried: %v\n%s", err, out)
		m.lacks = append(slices.Clone(m.lacks), noNamespaces)
	}
	return m
}

// has reports whether a machine has a gap.
func (m machine) has(g gap) bool {
	return slices.Contains(m.lacks, g)
}

// A build that uses less than the machine has says so, or the attempts on it
// would prove nothing about less.
func TestMachines(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		p := besieged(t, user, m)
		out := p.under("doctor")
		if said := strings.Contains(out.stdout, "a call has namespaces of its own"); said == m.has(noNamespaces) {
			t.Errorf("namespaces: %v\n%s", said, out.stdout)
		}
		if said := strings.Contains(out.stdout, "in force (Landlock 2)"); said != m.has(noScopes) {
			t.Errorf("Landlock 2: %v\n%s", said, out.stdout)
		}
	})
}

// The one attempt that a run does not survive where it works.
func TestKillOnMachines(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		p := besieged(t, user, m)
		p.attackers([]attempt{killReprise()})
		out := p.under("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", "required")
		if killed := out.code == -1; killed != m.has(gaps()[killReprise().name]) {
			t.Errorf("reprise was killed: %v\n%s%s", killed, out.stdout, out.stderr)
		}
	})
}

// What sheds session, parents and environment ends with a reprise that is
// killed, where calls have namespaces. Elsewhere it lives on, for root until the
// next start.
func TestOutliveKilledReprise(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		p := besieged(t, user, m)
		p.shell("hide.sh", fmt.Sprintf("env -i setsid sleep %[1]s & (env -i setsid sh -c 'sleep %[1]s & sleep %[1]s' &); sleep 600", sign(p)))
		c := p.startUnder("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", "required")
		for end := time.Now().Add(5 * time.Minute); len(commandLines(t, "sleep\x00"+sign(p))) < 3; time.Sleep(20 * time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the agent did not start them: %q", commandLines(t, sign(p)))
			}
		}
		_ = c.cmd.Process.Kill() // it is there
		c.wait()
		time.Sleep(300 * time.Millisecond)
		left := commandLines(t, "sleep\x00"+sign(p))
		for end := time.Now().Add(5 * time.Minute); !m.has(noNamespaces) && len(left) > 0 && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			left = commandLines(t, "sleep\x00"+sign(p)) // the system is at it
		}
		if (len(left) > 0) != m.has(noNamespaces) {
			t.Errorf("still there: %q", left)
		}
		for _, pid := range processesOf(t, "sleep\x00"+sign(p)) {
			_ = syscall.Kill(pid, syscall.SIGKILL) // it may be gone
		}
	})
}

// What a call leaves in memory is gone with it, where calls have namespaces.
func TestStayInMemory(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		p := besieged(t, user, m)
		file := "/dev/shm/reprise-" + sign(p)
		t.Cleanup(func() { _ = os.Remove(file) })
		p.shell("stay.sh", fmt.Sprintf("echo x > %s && echo x > new.txt", file))
		p.want(0, p.under("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", "required"))
		testenv.Same(t, "new.txt", "x", p.git(p.repo, "show", "reprise/issue-7:new.txt"))
		if _, err := os.Stat(file); (err == nil) != m.has(noNamespaces) {
			t.Errorf("the file is there: %v", err == nil)
		}
	})
}
