package main

import (
	"bytes"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/charmbracelet/lipgloss"

	"github.com/reprise-ci/reprise/phases"
)

// screenAfter is the screen when n events of a play have happened.
func screenAfter(p *play, n int, o viewOptions) screen {
	s := screen{viewOptions: o}
	for _, e := range p.events[:n] {
		s.take(e)
	}
	return s
}

func TestRender(t *testing.T) {
	p := plays(t, "en")["middle"]
	active := len(p.events) - 2 // the newest review is under way
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
			s := screenAfter(p, tt.events, viewOptions{Plan: p.plan, Width: tt.width})
			s.Height, s.Now = tt.height, s.Now.Add(65*time.Second)
			golden(t, "live-"+tt.name+".txt", render(s)+"\n")
		})
	}
	s := screenAfter(p, len(p.events), viewOptions{Plan: p.plan, Width: 80})
	s.Closed = true
	golden(t, "live-closed.txt", render(s)+"\n")
}

// TestRenderFits draws every moment of every play on terminals of many sizes.
func TestRenderFits(t *testing.T) {
	for name, p := range plays(t, "ja") {
		p.run.IssueTitle = "とても長い題名"
		for _, size := range [][2]int{{80, 24}, {40, 24}, {20, 8}, {3, 5}, {1, 1}, {200, 60}, {0, 0}} {
			for n := 0; n < len(p.events); n += 3 {
				s := screenAfter(p, n, viewOptions{Plan: p.plan, Width: size[0], Color: true})
				s.Height, s.Activity = size[1], "読み込み中 日本語のファイル名.md"
				picture := render(s)
				for _, line := range strings.Split(picture, "\n") {
					if w := lipgloss.Width(line); size[0] > 0 && w > size[0] {
						t.Fatalf("%s, event %d, %v: %d cells: %q", name, n, size, w, line)
					}
				}
				if lines := strings.Count(picture, "\n") + 1; size[1] >= 8 && lines > size[1] {
					t.Fatalf("%s, event %d, %v: %d lines:\n%s", name, n, size, lines, picture)
				}
			}
		}
	}
}

func TestRenderWithoutColour(t *testing.T) {
	p := plays(t, "en")["middle"]
	if got := render(screenAfter(p, len(p.events)-2, viewOptions{Plan: p.plan, Width: 80})); strings.Contains(got, "\x1b") {
		t.Errorf("colour where none was asked for:\n%q", got)
	}
}

// output is a writer for several goroutines.
type output struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.b.String()
}

// TestLiveView also sends an interrupt, which must reach the program.
func TestLiveView(t *testing.T) {
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	defer signal.Stop(interrupts)
	p := plays(t, "en")["stuck"]
	var out output
	v := newView(&out, viewOptions{Live: true, Plan: p.plan, Width: 80})
	for i, e := range p.events {
		if i == len(p.events)/2 {
			if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
				t.Fatal(err)
			}
		}
		v.Report(e)
	}
	select {
	case <-interrupts:
	case <-time.After(10 * time.Second):
		t.Error("the view keeps the interrupt from the program")
	}
	v.Close()
	v.Report(p.events[0]) // after the end nothing happens
	v.Close()
	got := out.String()
	for _, want := range []string{"planning execute ✓ wrote planning.md", "  - blocker F1 No paging", "! waiting (stuck) at design revise", "▸ design"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%q", want, got)
		}
	}
	hidden, back := strings.LastIndex(got, "\x1b[?25l"), strings.LastIndex(got, "\x1b[?25h")
	if back < hidden || strings.Contains(got, "\x1b[?1049h") || strings.Contains(got, "\x1b[?2004h") {
		t.Errorf("the terminal is not left as it was:\n%q", got)
	}
}

func TestLiveViewClosedAtOnce(t *testing.T) {
	var out output
	v := newView(&out, viewOptions{Live: true, Plan: samplePlan("en")})
	v.Close()
	v.Report(phases.Event{})
}
