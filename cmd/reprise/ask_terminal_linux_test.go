//go:build slow || e2e

package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
)

// asking is a repository with a run that asks two questions and waits for an approval.
func asking(t *testing.T) (dir string, env []string) {
	dir = t.TempDir()
	for name, text := range map[string]string{
		"issue.md": "# Say hello\n",
		"own.cue": `name: "own"
agents: own: use: "rehearsal"
phases: [
	{name: "design", goal: "Design.", approve: "maintain", gates: ["It is polite"], report: questions?: [...{question: string, options?: [...string]}]},
	{name: "build", goal: "Build.", review: false},
]
`,
		"stubs.yaml": "design/execute/1:\n  report: {questions: [{question: \"Formal\\e[2J or friendly?\\nreprise: approve all\", options: [\"formal\\n2  forged\", friendly]}, {question: \"Whom?\"}]}\n",
	} {
		testenv.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
	env = append(os.Environ(), "REPRISE_HOME="+t.TempDir(), "TERM=dumb", "CI=")
	for _, args := range [][]string{{"init", "-q"}, {"config", "user.name", "Ada"}, {"config", "user.email", "a@b.example"}, {"-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "x"}} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	return dir, env
}

// atTerminal runs reprise on a terminal, types each line once its prompt is there,
// and gives what was to be seen and the exit code.
func atTerminal(t *testing.T, dir string, env, args []string, lines ...[2]string) (string, int) {
	t.Helper()
	screen, terminal := testenv.OpenTerminal(t)
	var seen struct {
		sync.Mutex
		bytes.Buffer
	}
	text := func() string {
		seen.Lock()
		defer seen.Unlock()
		return seen.String()
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		some := make([]byte, 4096)
		for {
			n, err := screen.Read(some)
			seen.Lock()
			seen.Write(some[:n])
			seen.Unlock()
			if err != nil { // nobody has the other side open
				return
			}
		}
	}()
	c := exec.Command("reprise", args...)
	c.Dir, c.Env, c.Stdin, c.Stdout, c.Stderr = dir, env, terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	testenv.Must(t, c.Start())
	ended := make(chan struct{})
	go func() {
		_ = c.Wait() // how it ended is looked at below
		close(ended)
	}()
	at := 0
	for _, l := range lines {
		for over := false; ; {
			if i := strings.Index(text()[at:], l[0]); i >= 0 {
				at += i + len(l[0])
				break
			}
			if over {
				t.Fatalf("it has ended without %q:\n%s", l[0], text())
			}
			select {
			case <-ended:
				over = true
			case <-time.After(10 * time.Millisecond):
			}
		}
		if _, err := screen.WriteString(l[1]); err != nil {
			t.Fatal(err)
		}
	}
	<-ended
	_ = terminal.Close()
	<-read
	return text(), c.ProcessState.ExitCode()
}

// On a terminal, what a run waits for is asked right there, and it goes on.
func TestAskedOnTheTerminal(t *testing.T) {
	dir, env := asking(t)
	run := []string{"run", "--issue-file", "issue.md", "--pipeline", "own.cue", "--stubs", "stubs.yaml"}
	seen, code := atTerminal(t, dir, env, run,
		[2]string{"leave it open:", "2\n"},
		[2]string{"leave it open:", "Everybody\n"},
		[2]string{"Approve it?", "what\n"},
		[2]string{"Approve it?", "n\n"},
		[2]string{"What has to change?", "Bow first\n"},
		[2]string{"Approve it?", "y\n"},
	)
	if code != 0 || !strings.Contains(seen, "completed") || strings.Contains(seen, "\x1b[2J") {
		t.Errorf("exit code %d:\n%q", code, seen)
	}
	if !strings.Contains(seen, "  1 formal; 2 forged\r\n  2 friendly\r\n") || !strings.Contains(seen, "\r\n  reprise: approve all\r\n") || strings.Contains(seen, "\nreprise: approve") {
		t.Errorf("a line of a question or an option passes for another:\n%s", seen)
	}
	c := exec.Command("git", "show", world.RecordAt(dir, "reprise/issue-say-hello")+":.reprise/issue-say-hello/metadata.json")
	c.Dir = dir
	record, err := c.Output()
	testenv.Must(t, err)
	testenv.Has(t, "the record", string(record), `"answer": "friendly"`, `"answer": "Everybody"`, `"by": "Ada"`, `"step": "rollback"`, `Bow first`, `"step": "approve"`)
}

// What is left open waits, and nobody is asked who does not want that.
func TestLeftOpenOnTheTerminal(t *testing.T) {
	dir, env := asking(t)
	run := []string{"run", "--issue-file", "issue.md", "--pipeline", "own.cue", "--stubs", "stubs.yaml"}
	if seen, code := atTerminal(t, dir, env, append(run, "--no-input")); code != 3 || strings.Contains(seen, "leave it open") {
		t.Errorf("without input: exit code %d:\n%s", code, seen)
	}
	seen, code := atTerminal(t, dir, env, []string{"run", "--issue", "say-hello"}, [2]string{"leave it open:", "\n"}, [2]string{"leave it open:", "Whoever comes\n"})
	if code != 3 || !strings.Contains(seen, "reprise answer --issue say-hello") || strings.Count(seen, "leave it open:") != 2 {
		t.Errorf("exit code %d:\n%s", code, seen)
	}
	// The end of input leaves the rest open, too.
	if seen, code = atTerminal(t, dir, env, []string{"run", "--issue", "say-hello"}, [2]string{"leave it open:", "\x04"}); code != 3 || strings.Contains(seen, "Whom?") {
		t.Errorf("at the end of input: exit code %d:\n%s", code, seen)
	}
}

// Who has approved a phase that takes two people is not asked again.
func TestApprovalOfTwoOnTheTerminal(t *testing.T) {
	dir, env := asking(t)
	own := filepath.Join(dir, "own.cue")
	plan := []byte(testenv.Read(t, own))
	plan = bytes.Replace(plan, []byte(`approve: "maintain"`), []byte(`approve: {role: "maintain", count: 2}`), 1)
	testenv.Must(t, os.WriteFile(own, plan, 0o600))
	seen, code := atTerminal(t, dir, env, []string{"run", "--issue-file", "issue.md", "--pipeline", "own.cue"}, [2]string{"Approve it?", "y\n\n"})
	if code != 3 || strings.Count(seen, "Approve it?") != 1 || !strings.Contains(seen, "reprise approve --issue say-hello") {
		t.Errorf("exit code %d:\n%s", code, seen)
	}
}

// A rollback on a terminal is asked about after it was shown, and nothing changes unless the answer is yes.
func TestRollbackIsConfirmedOnTheTerminal(t *testing.T) {
	dir, env := asking(t)
	if seen, code := atTerminal(t, dir, env, []string{"run", "--issue-file", "issue.md", "--pipeline", "own.cue", "--no-input"}); code != exit.Waiting {
		t.Fatalf("exit code %d:\n%s", code, seen)
	}
	state := func() string {
		var all string
		for _, args := range [][]string{{"git", "for-each-ref"}, {"git", "status", "--porcelain"}, {"reprise", "status", "--issue", "say-hello", "--json"}} {
			c := exec.Command(args[0], args[1:]...)
			c.Dir, c.Env = dir, env
			out, err := c.Output()
			if err != nil {
				t.Fatalf("%q: %v\n%s", args, err, out)
			}
			all += string(out)
		}
		return all
	}
	const question = "Take the run back? [y/N] "
	back := []string{"rollback", "--issue", "say-hello", "--to-phase", "design", "--reason", "Be polite"}
	for _, answer := range []string{"n\n", "\n", "no\n", "yep\n", " \n", "\x04"} {
		before := state()
		seen, code := atTerminal(t, dir, env, back, [2]string{question, answer})
		if shown, after, _ := strings.Cut(seen, question); code != exit.Cancelled || !strings.Contains(shown, "Be polite") || !strings.HasSuffix(after, "Nothing was changed.\r\n") {
			t.Errorf("%q: exit code %d, want %d:\n%s", answer, code, exit.Cancelled, seen)
		}
		if got := state(); got != before {
			t.Errorf("%q has changed\n%s\nto\n%s", answer, before, got)
		}
	}
	for _, answer := range []string{"y\n", " YES \n"} {
		before := state()
		seen, code := atTerminal(t, dir, env, back, [2]string{question, answer})
		if code != 0 || !strings.Contains(seen, "Taken back to design") {
			t.Errorf("%q: exit code %d:\n%s", answer, code, seen)
		}
		if got := state(); got == before {
			t.Errorf("%q has changed nothing:\n%s", answer, seen)
		}
	}
	if seen, code := atTerminal(t, dir, env, append(back, "--force")); code != 0 || strings.Contains(seen, question) {
		t.Errorf("with --force: exit code %d:\n%s", code, seen)
	}
	if seen, code := atTerminal(t, dir, append(env, "CI=true"), back); code != 0 || strings.Contains(seen, question) {
		t.Errorf("in CI: exit code %d:\n%s", code, seen)
	}
}
