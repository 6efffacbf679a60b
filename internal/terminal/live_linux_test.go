package terminal

import (
	"fmt"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestLiveViewKnowsItsTerminal draws on a terminal that becomes narrower.
func TestLiveViewKnowsItsTerminal(t *testing.T) {
	screen, terminal := testenv.OpenTerminal(t)
	p := progresstest.Plays(t, "en")["stuck"]
	v := &liveView{canvas: Canvas{terminal, nil, 0}, screen: screenAfter(p, 0, Options{Plan: p.Plan})}
	for _, size := range []struct{ width, height int }{{80, 24}, {40, 9}} {
		testenv.Must(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(size.width), Row: uint16(size.height)}))
		v.Report(p.Events[0])
		v.draw(false)
		if v.screen.Width != size.width || len(v.canvas.drawn) >= size.height {
			t.Errorf("on %v it draws %d lines for %d cells", size, len(v.canvas.drawn), v.screen.Width)
		}
	}
	_ = testenv.ReadScreen(screen, terminal)
}

// What the program says while the picture stands is printed above it, in place of the picture that
// stood there; before the first picture and after the last it is printed where the cursor is.
func TestMessagesAboveThePicture(t *testing.T) {
	screen, terminal := testenv.OpenTerminal(t)
	testenv.Must(t, unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: 40, Row: 30}))
	p := progresstest.Plays(t, "en")["stuck"]
	stderr := NewSafeWriter(terminal)
	v := newLiveView(terminal, Options{Plan: p.Plan, Messages: stderr})
	close(v.stop) // here the test draws
	<-v.done
	v.screen.Closed = false
	for range 2 { // none is drawn yet
		fmt.Fprintln(stderr, "reprise: before it")
	}
	v.Report(p.Events[0])
	v.draw(false)
	fmt.Fprintln(stderr, "reprise: issue 5 has an open run that changes the same files")
	v.draw(true)
	fmt.Fprintln(stderr, "reprise: after it")
	got := strings.ReplaceAll(testenv.ReadScreen(screen, terminal), "\r\r\n", "\r\n") // the terminal's own
	if n := strings.Count(got, "reprise: before it\r\nreprise: before it\r\n"); n != 1 || strings.Index(got, "reprise: before") > strings.Index(got, ansi.HideCursor) {
		t.Errorf("what is said before the picture: %q", got)
	}
	if want := ansi.CursorUp(1) + ansi.EraseEntireLine + "reprise: issue 5 has an open run that\r\nchanges the same files\r\n" + ansi.ResetModeAutoWrap; strings.Count(got, want) != 1 {
		t.Errorf("what is said over the picture: %q", got)
	}
	if !strings.HasSuffix(got, ansi.ShowCursor+"reprise: after it\r\n") {
		t.Errorf("what is said after the picture: %q", got)
	}
}
