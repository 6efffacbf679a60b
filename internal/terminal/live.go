package terminal

import (
	"io"
	"strings"
	"sync"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// liveView keeps a picture of the run at the bottom of a terminal. What is
// done scrolls away above it, as with any other program.
//
// It asks the terminal nothing and leaves its input alone, so Ctrl-C still is
// a signal. Between two drawings the cursor stands below the picture and
// nothing is switched off: a program that is killed leaves a terminal that
// works.
type liveView struct {
	w      io.Writer
	others []*safeWriter // by which the program writes to the terminal meanwhile

	mu     sync.Mutex
	screen screen   // what to draw next
	above  []string // what to print above it

	drawn []string // what stands on the terminal, at this width
	width int
	rung  bool // it has called the person, as the run goes no further

	stop, done chan struct{}
	once       sync.Once
}

// newLiveView starts to draw.
func newLiveView(w io.Writer, o Options) *liveView {
	v := &liveView{w: drawing(w), screen: screen{Options: o}, stop: make(chan struct{}), done: make(chan struct{})}
	for _, other := range []io.Writer{w, o.Messages} {
		if s, ok := other.(*safeWriter); ok {
			v.others = append(v.others, s)
			s.onto(v.print)
		}
	}
	go v.drawUntilStopped()
	return v
}

// Report changes the picture, and keeps for printing what is done. It does not
// wait for the terminal, which a person may have stopped with Ctrl-S.
func (v *liveView) Report(e engine.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.above = append(v.above, v.screen.take(e)...)
}

// Close draws the last picture and leaves it standing.
func (v *liveView) Close() {
	v.once.Do(func() { close(v.stop) })
	<-v.done
	for _, s := range v.others {
		s.onto(nil)
	}
}

// print keeps lines for printing above the picture. It gives false if there is no picture
// yet, or no more.
func (v *liveView) print(lines string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.screen.Closed { // the last one is being drawn
		v.mu.Unlock()
		<-v.done
		v.mu.Lock()
		return false
	}
	if v.screen.Began.IsZero() {
		return false
	}
	v.above = append(v.above, lines)
	return true
}

func (v *liveView) drawUntilStopped() {
	defer close(v.done)
	ticks := time.NewTicker(100 * time.Millisecond)
	defer ticks.Stop()
	for {
		select {
		case <-ticks.C:
			v.draw(false)
		case <-v.stop:
			v.draw(true)
			return
		}
	}
}

// draw brings the terminal up to date. Before the first event it leaves the
// terminal to whatever else the program has to say.
func (v *liveView) draw(last bool) {
	s, above := v.next(last)
	if s.Began.IsZero() {
		return
	}
	lines := strings.Split(render(s), "\n")
	if s.Height > 0 { // lines that have left the terminal could not be drawn over
		lines = lines[max(len(lines)-s.Height, 0):]
	}
	// What cannot be drawn never stops the work.
	_, _ = io.WriteString(v.w, repaint(v.drawn, above, lines, s.Width, s.Width != v.width))
	v.drawn, v.width = lines, s.Width
	if s.Stopped != nil && !v.rung && s.Run.Status != metadata.Interrupted { // that was the person
		v.rung = true
		_, _ = io.WriteString(v.w, ring(s.Run))
	}
}

// ring calls a person: with a bell, and with a message where the terminal has a desktop
// to show it on. A terminal that knows no such message shows nothing.
func ring(run metadata.Run) string {
	said := "reprise: #" + text.Flat(run.IssueNumber) + " " + text.Words(run.Status) + ": " + text.Flat(run.IssueTitle)
	return "\a" + ansi.Notify(text.Cut(said, 200))
}

// next takes what there is to draw and to print now.
func (v *liveView) next(last bool) (screen, []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if width, height, ok := sizeOf(v.w); ok {
		v.screen.Width, v.screen.Height = width, max(height-1, 1) // the cursor needs a line
	}
	v.screen.Now, v.screen.Closed = time.Now(), last
	v.screen.Frame++
	above := v.above
	v.above = nil
	return v.screen, above
}

// repaint gives what makes a terminal that shows drawn show lines instead, and
// what is done above them. The cursor is below the picture before and after.
func repaint(drawn, above, lines []string, width int, resized bool) string {
	var b strings.Builder
	b.WriteString(ansi.HideCursor + "\r")
	n := linesTaken(drawn, width)
	switch {
	case n == 0:
	case len(above) > 0 || resized:
		// Not all at once: a terminal may take that for a screen to be kept
		// in what it has scrolled away.
		b.WriteString(strings.Repeat(ansi.CursorUp(1)+ansi.EraseEntireLine, n))
	default:
		b.WriteString(ansi.CursorUp(n)) // to draw over it does not flicker
	}
	if len(above) > 0 {
		// Breaks lines between words; the terminal would break within them.
		text := ansi.Wrap(strings.Join(above, "\n"), width, "")
		b.WriteString(strings.ReplaceAll(text, "\n", "\r\n") + "\r\n")
	}
	// A line must stay one line also where the terminal and we do not agree
	// on the width of a character.
	b.WriteString(ansi.ResetModeAutoWrap)
	for _, l := range lines {
		b.WriteString(l)
		if width <= 0 || ansi.StringWidth(l) < width { // else there is no rest, and the last character would go
			b.WriteString(ansi.EraseLineRight)
		}
		b.WriteString("\r\n")
	}
	b.WriteString(ansi.EraseScreenBelow + ansi.SetModeAutoWrap + ansi.ShowCursor)
	return b.String()
}

// linesTaken says how many lines of a terminal the lines of a picture take up. A
// terminal that has become narrower has broken those that are wider.
func linesTaken(lines []string, width int) int {
	n := len(lines)
	for _, l := range lines {
		if width > 0 {
			n += max(ansi.StringWidth(l)-1, 0) / width
		}
	}
	return n
}
