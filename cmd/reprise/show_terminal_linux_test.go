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
)

// hostile is text that a terminal would obey: it would clear the screen, write
// to the clipboard, move the cursor, hide text and reorder it.
const hostile = "a\x1b[2Jb\x1b]52;c;ZXZpbA==\x07c\u009b31md\u202ee\x1b[8mf\rg\x7fh"

const harmlessly = "a␛[2Jb␛]52;c;ZXZpbA==␇c<U+009B>31md<U+202E>e␛[8mf␍g␡h"

// Our own colours work; what others wrote is shown, however it is cut in pieces.
func TestScreenWriter(t *testing.T) {
	for pieces := 1; pieces < 12; pieces++ {
		screen, terminal := openTerminal(t)
		w := onScreen(terminal)
		if !isTerminal(w) {
			t.Fatal("it is no terminal any more")
		}
		text := palette(true).green("✓ 日本語") + "\t" + hostile + palette(true).bold("!") + "\n"
		for len(text) > 0 {
			n := min(pieces, len(text))
			if _, err := io.WriteString(w, text[:n]); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		got := strings.ReplaceAll(readScreen(screen, terminal), "\r\n", "\n") // the terminal's own
		if want := "\x1b[32m✓ 日本語\x1b[0m\t" + harmlessly + "\x1b[1m!\x1b[0m\n"; got != want {
			t.Errorf("in pieces of %d bytes\n got %q\nwant %q", pieces, got, want)
		}
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	if err != nil {
		t.Fatal(err)
	}
	if w := onScreen(file); w != io.Writer(file) {
		t.Errorf("a file is written by %T", w)
	}
	_ = file.Close()
}

// A prompt is printed exactly as it would be sent, but on a terminal harmlessly.
func TestPromptOnATerminal(t *testing.T) {
	dir := t.TempDir()
	goal, err := json.Marshal(hostile)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"issue.md": "# Say hello\n",
		"own.json": `{"name": "own", "agents": {"own": {"use": "rehearsal"}}, "phases": [{"name": "build", "goal": ` + string(goal) + `, "review": false}]}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
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
		c := exec.Command("reprise", "prompt", "--issue-file", "issue.md", "--pipeline", "own.json", "--phase", "build", "--step", "execute")
		c.Dir, c.Env, c.Stdout, c.Stderr = dir, env, out, out
		c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		if err := c.Run(); err != nil {
			t.Fatal(err)
		}
	}
	screen, terminal := openTerminal(t)
	read := make(chan string)
	go func() {
		text, _ := io.ReadAll(screen) // it ends with an error, as nobody has the other side open
		read <- string(text)
	}()
	ask(terminal)
	_ = terminal.Close()
	if got := <-read; !strings.Contains(got, harmlessly) || strings.ContainsAny(got, "\x1b\a\u202e\u009b") {
		t.Errorf("on a terminal: %q", got)
	}
	name := filepath.Join(dir, "out")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	ask(file)
	_ = file.Close()
	if got, err := os.ReadFile(name); err != nil || !strings.Contains(string(got), hostile) {
		t.Errorf("in a file: %q, %v", got, err)
	}
}

// JSON stays the same value, and is harmless on a terminal, too.
func TestJSONIsHarmless(t *testing.T) {
	var out strings.Builder
	in := []string{hostile, "日本語 👩‍👩‍👧 \U000E0041 ##[x]"}
	if err := printJSON(&out, in); err != nil {
		t.Fatal(err)
	}
	if i := strings.IndexFunc(out.String(), obeyed); i >= 0 || strings.Contains(out.String(), "##[") {
		t.Errorf("%q is obeyed in %s", out.String()[i:], out.String())
	}
	var back []string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back[0] != in[0] || back[1] != in[1] {
		t.Errorf("%q, %v", back, err)
	}
}
