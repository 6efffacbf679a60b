package terminal

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/progresstest"
	"github.com/reprise-ci/reprise/internal/testenv"
)

// TestLiveViewKnowsItsTerminal draws on a terminal that becomes narrower.
func TestLiveViewKnowsItsTerminal(t *testing.T) {
	screen, terminal := testenv.OpenTerminal(t)
	p := progresstest.Plays(t, "en")["stuck"]
	v := &liveView{w: terminal, screen: screenAfter(p, 0, Options{Plan: p.Plan})}
	for _, size := range []struct{ width, height int }{{80, 24}, {40, 9}} {
		if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(size.width), Row: uint16(size.height)}); err != nil {
			t.Fatal(err)
		}
		v.Report(p.Events[0])
		v.draw(false)
		if v.screen.Width != size.width || len(v.drawn) >= size.height {
			t.Errorf("on %v it draws %d lines for %d cells", size, len(v.drawn), v.screen.Width)
		}
	}
	_ = testenv.ReadScreen(screen, terminal)
}
