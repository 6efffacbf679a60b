package terminal

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/text"
)

// Our own colours work; what others wrote is shown, however it is cut in pieces.
func TestScreenWriter(t *testing.T) {
	for pieces := 1; pieces < 12; pieces++ {
		screen, terminal := testenv.OpenTerminal(t)
		w := NewSafeWriter(terminal)
		if !environ.IsTerminal(w) {
			t.Fatal("it is no terminal any more")
		}
		text := text.Palette(true).Green("✓ 日本語") + "\t" + testenv.Hostile + text.Palette(true).Bold("!") + "\n"
		for len(text) > 0 {
			n := min(pieces, len(text))
			if _, err := io.WriteString(w, text[:n]); err != nil {
				t.Fatal(err)
			}
			text = text[n:]
		}
		got := strings.ReplaceAll(testenv.ReadScreen(screen, terminal), "\r\n", "\n") // the terminal's own
		if want := "\x1b[32m✓ 日本語\x1b[0m\t" + testenv.Harmlessly + "\x1b[1m!\x1b[0m\n"; got != want {
			t.Errorf("in pieces of %d bytes\n got %q\nwant %q", pieces, got, want)
		}
	}
	file, err := os.Create(filepath.Join(t.TempDir(), "f"))
	testenv.Must(t, err)
	if w := NewSafeWriter(file); w != io.Writer(file) {
		t.Errorf("a file is written by %T", w)
	}
	_ = file.Close()
}

// Messages break between words where they are shown, and a program's output stays as it is.
func TestMessagesBreakBetweenWords(t *testing.T) {
	screen, terminal := testenv.OpenTerminal(t)
	testenv.Must(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 30}))
	w := NewSafeWriter(terminal)
	fmt.Fprintln(w, "reprise: no pipeline selects this issue: an agent is asked")
	fmt.Fprintln(w, "a line of a program that is wider than that stays one")
	Ask(w, "Your answer, or nothing to leave it open:")
	report := NewReport(w, AskOptions(environ.Env{Stderr: w}))
	report.Text("a long question of an agent\nthat has two lines, and more words", "  ")
	got := strings.ReplaceAll(testenv.ReadScreen(screen, terminal), "\r\n", "\n")
	if want := "reprise: no pipeline selects\nthis issue: an agent is asked\na line of a program that is wider than that stays one\n" +
		"Your answer, or nothing to\nleave it open:   a long question of an agent\n  that has two lines, and more\n  words\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// JSON stays the same value, and is harmless on a terminal, too.
func TestJSONIsHarmless(t *testing.T) {
	var out strings.Builder
	in := []string{testenv.Hostile, "日本語 👩‍👩‍👧 \U000E0041 ##[x]"}
	testenv.Must(t, text.PrintJSON(&out, in))
	if i := strings.IndexFunc(out.String(), text.Obeyed); i >= 0 || strings.Contains(out.String(), "##[") {
		t.Errorf("%q is obeyed in %s", out.String()[i:], out.String())
	}
	var back []string
	if err := json.Unmarshal([]byte(out.String()), &back); err != nil || back[0] != in[0] || back[1] != in[1] {
		t.Errorf("%q, %v", back, err)
	}
}
