package terminal

import (
	"bytes"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/phases/engine"
)

// screenAfter is the screen when n events of a play have happened.
func screenAfter(p *progresstest.Play, n int, o Options) screen {
	s := screen{Options: o}
	for _, e := range p.Events[:n] {
		s.take(e)
	}
	return s
}

func TestRender(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	active := len(p.Events) - 2 // the newest review is under way
	for _, tt := range []struct {
		name          string
		events        int
		width, height int
	}{
		{"begin", 0, 80, 24},
		{"80", active, 80, 24},
		{"40", active, 40, 24},
		{"low", active, 80, 9},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := screenAfter(p, tt.events, Options{Plan: p.Plan, Width: tt.width})
			s.Height, s.Now = tt.height, s.Now.Add(65*time.Second)
			progresstest.Golden(t, "live-"+tt.name+".txt", render(s)+"\n")
		})
	}
	s := screenAfter(p, len(p.Events), Options{Plan: p.Plan, Width: 80})
	s.Closed = true
	progresstest.Golden(t, "live-closed.txt", render(s)+"\n")
	if got := render(screenAfter(progresstest.Plays(t, "ja")["middle"], active, Options{Plan: p.Plan, Width: 80})); !strings.Contains(got, " トークン · full") {
		t.Errorf("in Japanese it is\n%s", got)
	}
}

// What agents do is printed above the picture if that was asked for.
func TestLiveViewTellsActivityWhenVerbose(t *testing.T) {
	p := progresstest.Plays(t, "en")["stuck"]
	for _, verbose := range []bool{false, true} {
		s, above := screen{Options: Options{Plan: p.Plan, Width: 80, Verbose: verbose}}, ""
		for _, e := range p.Events {
			above += strings.Join(s.take(e), "\n")
		}
		if strings.Contains(above, "design execute … Read design.go") != verbose {
			t.Errorf("verbose %v: it leaves\n%s", verbose, above)
		}
	}
}

func TestFoldedBreaksAtSpacesAlone(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"short", "short"},
		{"reprise: --issue-file, --pipelines name an issue", "reprise:\n--issue-file,\n--pipelines\nname an issue"},
		{"a\n  b c", "a\n  b c"},
		{"aaaaaaa bbbbbbbbb cccc", "aaaaaaa\nbbbbbbbbb cccc"},
		{"/a/path/that/is/wider/than/the/line stays", "/a/path/that/is/wider/than/the/line\nstays"},
		{"go on with: reprise run --issue 7", "go on with:\nreprise run --issue 7"}, // it is copied
		{"do: reprise a", "do: reprise a"},
		{"one of:\n  reprise run --issue 7", "one of:\n  reprise run --issue 7"},
		{"reprise takes an issue", "reprise takes\nan issue"},
		{"日本語の 長い文字", "日本語の\n長い文字"},
	} {
		if got := folded(tt.text, 14); got != tt.want {
			t.Errorf("folded(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

func TestParagraphs(t *testing.T) {
	if got, want := Paragraphs("one two\nthree four\n\n  kept as\n  it is\n\nlast", 9), "one two\nthree\nfour\n\n  kept as\n  it is\n\nlast"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestRenderFits draws every moment of every play on terminals of many sizes.
func TestRenderFits(t *testing.T) {
	for name, p := range progresstest.Plays(t, "ja") {
		p.Run.IssueTitle = "とても長い題名"
		for _, size := range [][2]int{{80, 24}, {40, 24}, {20, 8}, {3, 5}, {1, 1}, {200, 60}, {0, 0}} {
			s := screenAfter(p, 0, Options{Plan: p.Plan, Width: size[0], Color: true})
			for n, e := range p.Events {
				if n%3 == 0 {
					renderFits(t, s, size[1], fmt.Sprintf("%s, event %d, %v", name, n, size))
				}
				s.take(e)
				s.Verbose = n%2 == 1
			}
		}
	}
}

// renderFits fails if a screen with a lot to say is wider or higher than the terminal.
func renderFits(t *testing.T, s screen, height int, what string) {
	t.Helper()
	s.Height, s.Doing = height, slices.Clone(s.Doing)
	for i := range s.Doing {
		s.Doing[i].activity = "読み込み中 日本語のファイル名.md"
	}
	picture := render(s)
	for _, line := range strings.Split(picture, "\n") {
		if w := ansi.StringWidth(line); s.Width > 0 && w > s.Width {
			t.Fatalf("%s: %d cells: %q", what, w, line)
		}
	}
	if lines := strings.Count(picture, "\n") + 1; height >= 8 && lines > height {
		t.Fatalf("%s: %d lines:\n%s", what, lines, picture)
	}
}

// Of parts that are at work at the same time each is shown, also once another one has
// ended.
func TestRenderSeveralAtWork(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	s := screenAfter(p, len(p.Events)-2, Options{Plan: p.Plan, Width: 80})
	s.Height = 24
	one := s.Doing[0]
	other := one
	other.news.Phase = s.Run.Phases[len(s.Run.Phases)-1].Name
	one.used.USD, other.used.USD = 1, 2
	s.Doing = s.Doing.with(one).with(other)
	both := render(s)
	if n := strings.Count(both, s.spinner()); n != 4 {
		t.Errorf("two at work have %d signs:\n%s", n, both)
	}
	before := s
	s.Doing = s.Doing.without(one.Phase)
	if after := render(s); strings.Count(after, s.spinner()) != 2 || !strings.Contains(after, s.spinner()+" "+other.Phase) {
		t.Errorf("one is still at work:\n%s", after)
	}
	if render(before) != both {
		t.Error("what is drawn by another goroutine was changed")
	}
	for i := range 40 {
		other.news.Phase = fmt.Sprintf("part%d", i)
		s.Doing = s.Doing.with(other)
	}
	if n := strings.Count(render(s), "\n") + 1; n > s.Height {
		t.Errorf("40 at work take %d lines", n)
	}
}

func TestRenderWithoutColour(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	if got := render(screenAfter(p, len(p.Events)-2, Options{Plan: p.Plan, Width: 80})); strings.Contains(got, "\x1b") {
		t.Errorf("colour where none was asked for:\n%q", got)
	}
}

// paper is a terminal that understands what the live view writes. Its
// lines break at width, and it never scrolls.
type paper struct {
	width  int
	lines  [][]rune
	x, y   int
	wraps  bool
	hidden bool
}

var controls = regexp.MustCompile(`^\x1b\[([?0-9]*)([A-Za-z])`)

// calls are the bell and what a desktop shows, which change nothing on the paper.
var calls = regexp.MustCompile(`^(\a|\x1b\]9;[^\a\x1b]*\a)`)

func (t *paper) write(text string) error {
	for text != "" {
		if m := calls.FindString(text); m != "" {
			text = text[len(m):]
			continue
		}
		if m := controls.FindStringSubmatch(text); m != nil {
			if err := t.control(m[1], m[2]); err != nil {
				return err
			}
			text = text[len(m[0]):]
			continue
		}
		r, size := utf8.DecodeRuneInString(text)
		text = text[size:]
		t.put(r)
	}
	return nil
}

func (t *paper) control(n, what string) error {
	line := t.line()
	switch n + what {
	case "?25l", "?25h":
		t.hidden = what == "l"
	case "?7l", "?7h":
		t.wraps = what == "h"
	case "A":
		t.y = max(t.y-1, 0)
	case "2K":
		*line = nil
	case "K":
		*line = (*line)[:min(t.x, len(*line))]
	case "J":
		*line = (*line)[:min(t.x, len(*line))]
		t.lines = t.lines[:t.y+1]
	default:
		up, err := strconv.Atoi(n)
		if err != nil || what != "A" {
			return fmt.Errorf("the terminal does not understand %q %q", n, what)
		}
		t.y = max(t.y-up, 0)
	}
	return nil
}

func (t *paper) put(r rune) {
	switch {
	case r == '\r':
		t.x = 0
	case r == '\n':
		t.y++
	default:
		if t.x == t.width && t.wraps {
			t.x, t.y = 0, t.y+1
		}
		t.x = min(t.x, t.width-1)
		line := t.line()
		*line = append(*line, []rune(strings.Repeat(" ", max(t.x+1-len(*line), 0)))...)
		(*line)[t.x] = r
		t.x++
	}
}

func (t *paper) line() *[]rune {
	for len(t.lines) <= t.y {
		t.lines = append(t.lines, nil)
	}
	return &t.lines[t.y]
}

func (t *paper) String() string {
	var b strings.Builder
	for _, l := range t.lines {
		b.WriteString(strings.TrimRight(string(l), " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// TestLiveViewRepaints draws after every event of a play, which must come to
// the same as drawing once.
func TestLiveViewRepaints(t *testing.T) {
	for name, p := range progresstest.Plays(t, "en") {
		for _, width := range []int{80, 40} {
			var out bytes.Buffer
			v := &liveView{canvas: Canvas{&out, nil, 0}, screen: screen{Options: Options{Plan: p.Plan, Width: width}, Height: 23}}
			term := &paper{width: width, wraps: true}
			var above []string
			s := v.screen
			for i, e := range p.Events {
				v.Report(e)
				v.draw(i == len(p.Events)-1)
				_, _ = out.WriteString("^C") // what a terminal shows of keys
				above = append(above, s.take(e)...)
			}
			testenv.Must(t, term.write(strings.TrimSuffix(out.String(), "^C")))
			s.Closed = true
			want := ""
			if len(above) > 0 {
				want = ansi.Wrap(strings.Join(above, "\n"), width, "") + "\n"
			}
			if len(p.Events) > 0 {
				s.Now = v.screen.Now
				want += render(s)
			}
			if diff := cmp.Diff(strings.TrimRight(want, "\n")+"\n", term.String()); diff != "" {
				t.Errorf("%s, %d cells wide (-want +got):\n%s", name, width, diff)
			}
			if term.hidden || !term.wraps || term.x != 0 {
				t.Errorf("%s: the terminal is left with hidden=%v wraps=%v x=%d", name, term.hidden, term.wraps, term.x)
			}
		}
	}
}

// TestRepaintKeepsLines shows a line on a terminal to which it is wider than
// it is to us, as with some emoji.
func TestRepaintKeepsLines(t *testing.T) {
	term := &paper{width: 4, wraps: true}
	lines := []string{"abcdef", "x"}
	c := Canvas{new(bytes.Buffer), nil, 10}
	for range 3 {
		c.repaint(nil, lines, 10)
	}
	testenv.Must(t, term.write(fmt.Sprint(c.w)))
	if got := term.String(); got != "abcf\nx\n" {
		t.Errorf("got\n%s", got)
	}
}

func TestLinesTaken(t *testing.T) {
	for _, tt := range []struct {
		lines []string
		width int
		want  int
	}{
		{nil, 80, 0},
		{[]string{"", "abc"}, 0, 2},
		{[]string{"", "abcd"}, 4, 2},
		{[]string{"abcde", "\x1b[1m日本語\x1b[0m"}, 4, 4},
	} {
		if got := linesTaken(tt.lines, tt.width); got != tt.want {
			t.Errorf("linesTaken(%q, %d) = %d, want %d", tt.lines, tt.width, got, tt.want)
		}
	}
}

// TestLiveView also sends an interrupt, which must reach the program.
func TestLiveView(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	p := progresstest.Plays(t, "en")["stuck"]
	var out bytes.Buffer // read after the view is closed
	v := NewView(&out, Options{Live: true, Plan: p.Plan, Width: 80})
	for i, e := range p.Events {
		if i == len(p.Events)/2 {
			testenv.Must(t, syscall.Kill(os.Getpid(), syscall.SIGINT))
		}
		v.Report(e)
	}
	select {
	case <-interrupts:
	case <-time.After(time.Minute):
		t.Error("the view keeps the interrupt from the program")
	}
	v.Close()
	v.Report(p.Events[0]) // after the end nothing happens
	v.Close()
	got := out.String()
	for _, want := range []string{"planning execute ✓ wrote planning.md", "  - blocker F1 A warning breaks the JSON", "! waiting (stuck) at design revise", "▸ design"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%q", want, got)
		}
	}
	hidden, back := strings.LastIndex(got, "\x1b[?25l"), strings.LastIndex(got, "\x1b[?25h")
	if hidden < 0 || back < hidden {
		t.Errorf("the terminal is not left as it was:\n%q", got)
	}
}

func TestLiveViewClosedAtOnce(t *testing.T) {
	var out bytes.Buffer
	v := NewView(&out, Options{Live: true, Plan: progresstest.SamplePlan("en")})
	v.Close()
	v.Report(engine.Event{})
	if out.Len() > 0 {
		t.Errorf("a picture of nothing: %q", out.String())
	}
}
