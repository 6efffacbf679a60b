package main

import (
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A prompt is printed exactly as it would be sent, but on a terminal harmlessly.
func TestPromptOnATerminal(t *testing.T) {
	dir := t.TempDir()
	goal, err := json.Marshal("\x1b[31m" + testenv.Hostile)
	testenv.Must(t, err)
	for name, text := range map[string]string{
		"issue.md": "# Say hello\n",
		"own.json": `{"name": "own", "agents": {"own": {"use": "rehearsal"}}, "phases": [{"name": "build", "goal": ` + string(goal) + `, "review": false}]}`,
	} {
		testenv.Must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	env := append(os.Environ(), "REPRISE_HOME="+filepath.Join(dir, "home"), "TERM=xterm")
	for _, args := range [][]string{{"init", "-q"}, {"-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false", "commit", "-q", "--allow-empty", "-m", "x"}} {
		c := exec.Command("git", args...)
		c.Dir, c.Env = dir, env
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
	}
	ask := func(out *os.File) {
		t.Helper()
		c := exec.Command("reprise", "explain", "--issue-file", "issue.md", "--pipeline", "own.json", "--phase", "build", "--step", "execute")
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, out, out
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		testenv.Must(t, c.Run())
	}
	screen, terminal := testenv.OpenTerminal(t)
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // it ends with an error, as nobody has the other side open
		read <- string(text)
	}()
	ask(terminal)
	_ = terminal.Close()
	if got := <-read; !strings.Contains(got, testenv.Harmlessly) || strings.ContainsAny(got, "\x1b\a\u202e\u009b") {
		t.Errorf("on a terminal: %q", got)
	}
	name := filepath.Join(dir, "out")
	file, err := os.Create(name)
	testenv.Must(t, err)
	ask(file)
	_ = file.Close()
	if got, err := os.ReadFile(name); err != nil || !strings.Contains(string(got), testenv.Hostile) {
		t.Errorf("in a file: %q, %v", got, err)
	}
}

// Help is broken between words on a narrow terminal, in the list of commands as well, and what
// one would copy stays whole.
func TestHelpOnANarrowTerminal(t *testing.T) {
	for _, args := range [][]string{{"--help"}, {"rollback", "--help"}} {
		screen, terminal := testenv.OpenTerminal(t)
		testenv.Must(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 50}))
		read := make(chan string)
		go func() {
			text, _ := io.ReadAll(screen) // it ends with an error, as nobody has the other side open
			read <- string(text)
		}()
		c := exec.Command("reprise", args...)
		c.Stdout, c.Stderr, c.SysProcAttr = terminal, terminal, &syscall.SysProcAttr{Setsid: true}
		testenv.Must(t, c.Run())
		_ = terminal.Close()
		got := strings.ReplaceAll(<-read, "\r\n", "\n")
		wide := 0
		for line := range strings.Lines(got) {
			if line = strings.TrimRight(line, "\n"); len(line) > 50 && !strings.HasPrefix(line, "  reprise rollback --issue 7 ") {
				t.Errorf("%q: %d cells: %s", args, len(line), line)
			} else if len(line) > 50 {
				wide++
			}
		}
		if args[0] == "rollback" && (wide != 2 || !strings.Contains(got, "--to-phase PHASE\n  (--reason TEXT | --reason-file FILE |\n  --interactive) | --auto) [flags]")) {
			t.Errorf("%d examples are whole:\n%s", wide, got)
		}
		if args[0] == "--help" && !strings.Contains(got, "  answer       Answer a question that a run has\n               asked\n") {
			t.Errorf("the commands:\n%s", got)
		}
	}
}
