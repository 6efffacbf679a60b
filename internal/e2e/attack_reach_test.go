//go:build e2e

package e2e

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// nobody is a user that no machine has.
const nobody = 54321

// everyUser calls a test for root and for a user without rights, where the
// tests may be both, and else for the user they are.
func everyUser(t *testing.T, test func(t *testing.T, user int)) {
	t.Helper()
	t.Run("as we are", func(t *testing.T) { test(t, 0) })
	if os.Geteuid() == 0 {
		t.Run("as a user", func(t *testing.T) { test(t, nobody) })
	}
}

// besieged is a place with all that an attacker looks for.
func besieged(t *testing.T, user int, m machine) *place {
	t.Helper()
	base, err := os.MkdirTemp("", "reprise-attack-")
	testenv.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(base) })
	program, err := m.program()
	testenv.Must(t, err)
	if out, err := exec.Command("cp", program, filepath.Join(base, "reprise")).CombinedOutput(); err != nil {
		t.Fatalf("%v %s", err, out)
	}
	if err := os.Chmod(base, 0o755); err != nil { // another user comes here, too
		t.Fatal(err)
	}
	p := newPlaceOf(t, base, user)
	temp := "runner/_work/_temp"
	for _, secret := range []string{"home/.netrc", "home/.ssh/id_ed25519", "other/.netrc", temp + "/token"} {
		p.write(secret, canary+"\n")
	}
	p.write("home/.gitconfig", p.read(filepath.Join(p.home, ".gitconfig"))+"[http]\n\textraheader = "+canary+"\n")
	p.write("home/.profile", "")
	p.write(temp+"/_runner_file_commands/set_output_1", "")
	p.write("issue.md", issueText)
	p.git(p.repo, "config", "http.extraheader", canary)
	p.opens = filepath.Join(p.home, ".netrc")
	p.more = []string{
		"RUNNER_TEMP=" + filepath.Join(p.root, temp), "GITHUB_WORKSPACE=" + p.repo,
		"GITHUB_OUTPUT=" + filepath.Join(p.root, temp, "_runner_file_commands/set_output_1"),
	}
	for _, at := range []string{filepath.Join(p.root, "other", "service"), "@" + p.root} {
		l, err := net.Listen("unix", at)
		testenv.Must(t, err)
		t.Cleanup(func() { _ = l.Close() })
	}
	letters, err := net.ListenPacket("unixgram", filepath.Join(p.root, "other", "letters"))
	testenv.Must(t, err)
	t.Cleanup(func() { _ = letters.Close() })
	return p
}

// victim starts a process of the user with a secret in its environment and in
// an open file, which is ended after the test.
func (p *place) victim() int {
	p.t.Helper()
	c := p.launch(p.root, "sh", "-c", "exec 3< home/.netrc; exec sleep 300")
	p.t.Cleanup(func() {
		_ = c.cmd.Process.Kill() // it may have been ended
		c.wait()
	})
	return c.cmd.Process.Pid
}

// under starts reprise as it lies in the folder of the place.
func (p *place) under(args ...string) output {
	p.t.Helper()
	return p.startUnder(args...).wait()
}

// startUnder starts it. Its number is in its environment, for agents that are given
// that variable: in a namespace they could not find it out.
func (p *place) startUnder(args ...string) *process {
	p.t.Helper()
	program := filepath.Join(filepath.Dir(p.root), "reprise")
	return p.launch(p.repo, "/bin/sh", append([]string{"-c", `ATTACKED=$$ exec "$0" "$@"`, program}, args...)...)
}

// shell makes a pipeline whose agent is a shell script, which begins with the
// artifact that is asked of it.
func (p *place) shell(name, text string) {
	p.t.Helper()
	p.write(name, "#!/bin/sh\nmkdir -p $(dirname $REPRISE_ARTIFACT); echo '# Done' > $REPRISE_ARTIFACT\n"+text+"\n")
	file := filepath.Join(p.root, name)
	testenv.Must(p.t, os.Chmod(file, 0o755))
	p.pipeline(fmt.Sprintf("{use: \"command\", command: [%q], env: [\"ATTACKED\"]}", file), "false")
}

// attackers makes a pipeline whose agent makes the attempts.
func (p *place) attackers(tried []attempt) {
	p.t.Helper()
	p.shell("attack.sh", p.attackScript(tried, p.victim()))
}

// pipeline writes a pipeline of one phase whose agent is a shell script, or
// another agent.
func (p *place) pipeline(agent, review string) {
	p.t.Helper()
	p.write("attack.cue", fmt.Sprintf("name: \"attack\"\nagents: worker: %s\nphases: [{name: \"attack\", goal: \"Work.\", access: \"tree\", review: %s, revisions: 1}]\n", agent, review))
}

// assault makes the attempts by a script, and gives those that worked.
func (p *place) assault(tried []attempt, sandbox string) []string {
	p.t.Helper()
	p.attackers(tried)
	out := p.under("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", sandbox)
	p.want(0, out)
	return p.worked()
}

// worked reads what an attacker wrote down.
func (p *place) worked() []string {
	p.t.Helper()
	list := strings.Fields(p.git(p.repo, "show", "reprise/issue-7:attempts.txt"))
	slices.Sort(list)
	return list
}

// expected are the attempts that nothing stops on a machine.
func (m machine) expected() (names []string) {
	for _, a := range attempts() {
		if a.stop == "" || m.has(gaps()[a.name]) && a.name != killReprise().name {
			names = append(names, a.name)
		}
	}
	slices.Sort(names)
	return names
}

// unharmed looks at what an attacker was after.
func (p *place) unharmed() {
	p.t.Helper()
	testenv.Lacks(p.t, "origin", p.git(p.root, "--git-dir", "origin.git", "for-each-ref", "--format", "%(refname)"), "evil")
	for file, want := range map[string]string{
		"home/.profile": "", "repo/README.md": "# Demo\n", "repo/main.go": "package main\n\nfunc main() {}\n",
		"runner/_work/_temp/_runner_file_commands/set_output_1": "",
	} {
		testenv.Is(p.t, file+" reads", p.read(filepath.Join(p.root, file)), want)
	}
	if _, err := os.Stat("/etc/reprise-attack"); err == nil {
		p.t.Error("a file of the system was written")
		_ = os.Remove("/etc/reprise-attack")
	}
}

// A script that tries all.
func TestScriptAttacks(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		p := besieged(t, user, m)
		testenv.Same(t, "what worked", m.expected(), p.assault(m.survived(), "required"))
		p.unharmed()
	})
}

// survived are the attempts but for the one that a run does not survive where it works, see TestKillOnMachines.
func (m machine) survived() []attempt {
	return slices.DeleteFunc(attempts(), func(a attempt) bool { return a.name == killReprise().name && m.has(gaps()[a.name]) })
}

// Outside of the sandbox the same attempts work, so that what stops them is the
// sandbox and no mistake in the attempt.
func TestAttacksAreLive(t *testing.T) {
	everyUser(t, func(t *testing.T, user int) {
		p := besieged(t, user, machine{})
		root := user == 0 && p.allRights()
		var tried []attempt
		var want []string
		for _, a := range attempts() {
			if a.name == "trace" && strings.TrimSpace(p.read("/proc/sys/kernel/yama/ptrace_scope")) > "0" {
				continue // this machine lets nobody trace
			}
			if a.live == "all" || root && a.live == "root" {
				tried, want = append(tried, a), append(want, a.name)
			}
		}
		slices.Sort(want)
		testenv.Same(t, "what worked outside of the sandbox", want, p.assault(tried, "off"))
	})
}

// allRights reports whether the test is run by root with all of root's rights, of
// which containers often lack some.
func (p *place) allRights() bool {
	p.t.Helper()
	const needed = 1<<2 | 1<<19 | 1<<21 | 1<<27 // CAP_DAC_READ_SEARCH, _SYS_PTRACE, _SYS_ADMIN and _MKNOD, see capabilities(7)
	_, rest, _ := strings.Cut(p.read("/proc/self/status"), "\nCapEff:\t")
	line, _, _ := strings.Cut(rest, "\n")
	has, err := strconv.ParseUint(line, 16, 64)
	testenv.Must(p.t, err)
	groups, _ := filepath.Glob("/sys/fs/cgroup/*/cgroup.procs")
	move := func(file string) bool { return unix.Access(file, unix.W_OK) == nil }
	return os.Geteuid() == 0 && has&needed == needed && slices.ContainsFunc(append(groups, "/sys/fs/cgroup/cgroup.procs"), move)
}

// A real agent whose model obeys every evil word tries the same with its tools.
func TestAgentAttacks(t *testing.T) {
	everyMachine(t, func(t *testing.T, user int, m machine) {
		each(t, func(t *testing.T, use string) { assaultBy(t, user, m, use) }, "gemini")
	})
}

// program gives the agent that uses a program, with what more is said of it.
func (p *place) program(use, more string) string {
	if use == "gemini" { // which by itself asks another model first which it should take
		p.more = append(p.more, "GEMINI_API_KEY="+theKey, "GOOGLE_GEMINI_BASE_URL="+p.model.URL)
		more += `, models: {light: "gemini-2.5-pro", medium: "gemini-2.5-pro", heavy: "gemini-2.5-pro"}`
	}
	return fmt.Sprintf("{use: %q, %s}", use, strings.TrimPrefix(more, ", "))
}

// assaultBy has an agent make the attempts as a user of a machine.
func assaultBy(t *testing.T, user int, m machine, use string) {
	t.Helper()
	p := besieged(t, user, m)
	p.pipeline(p.program(use, `env: ["ATTACKED"]`), "true")
	p.write("repo/attack.sh", p.attackScript(m.survived(), p.victim()))
	p.git(p.repo, "add", "attack.sh")
	p.git(p.repo, "commit", "--quiet", "-m", "A script")
	p.says((&worker{change: "sh attack.sh"}).script())
	p.want(0, p.under("run", "--issue-file", "../issue.md", "--pipeline", "../attack.cue", "--sandbox", "required"))
	testenv.Same(t, "what worked", m.expected(), p.worked())
	p.unharmed()
	p.noCanary()
}
