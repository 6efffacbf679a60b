// Package terminal is what people and programs read in a terminal or a log: the
// progress of a run while it works, and reports on where it stands, what happened
// and what its pipeline is.
package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"time"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// liveView keeps a picture of the run at the bottom of a terminal. What is done scrolls away above it.
//
// It asks the terminal nothing and leaves its input alone, so Ctrl-C still is a signal. Between two drawings nothing is
// switched off: a program that is killed leaves a terminal that works.
type liveView struct {
	canvas Canvas
	others []*safeWriter // by which the program writes to the terminal meanwhile

	mu     sync.Mutex
	screen screen   // what to draw next
	above  []string // what to print above it

	rung bool // it has called the person, as the run goes no further

	stop, done chan struct{}
	once       sync.Once
}

// newLiveView starts to draw.
func newLiveView(w io.Writer, o Options) *liveView {
	v := &liveView{canvas: Canvas{w: drawing(w)}, screen: screen{Options: o}, stop: make(chan struct{}), done: make(chan struct{})}
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
	v.canvas.repaint(above, lines, s.Width)
	if s.Stopped != nil && !v.rung && s.Run.Status != metadata.Interrupted { // that was the person
		v.rung = true
		v.canvas.Ring(s.Run)
	}
}

// next takes what there is to draw and to print now.
func (v *liveView) next(last bool) (screen, []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if width, height := sizeOf(v.canvas.w); width > 0 {
		v.screen.Width, v.screen.Height = width, max(height-1, 1) // the cursor needs a line
	}
	v.screen.Now, v.screen.Closed = time.Now(), last
	v.screen.Frame++
	above := v.above
	v.above = nil
	return v.screen, above
}

// repaint makes a terminal show lines in place of those before, and what is done above
// them. The cursor is below the picture before and after.
func (c *Canvas) repaint(above, lines []string, width int) {
	var b strings.Builder
	b.WriteString(ansi.HideCursor + "\r")
	n := linesTaken(c.drawn, width)
	switch {
	case n == 0:
	case len(above) > 0 || width != c.width:
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
	_, _ = io.WriteString(c.w, b.String()) // what cannot be drawn never stops the work
	c.drawn, c.width = lines, width
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

// Canvas is a place at the bottom of a terminal at which lines are drawn over those
// that were drawn before. Their texts have to be harmless: they are not looked at.
type Canvas struct {
	w     io.Writer
	drawn []string // what stands on the terminal, at this width
	width int
}

// NewCanvas gives a canvas on a terminal, or nil if w is none.
func NewCanvas(w io.Writer) *Canvas {
	if !environ.IsTerminal(w) {
		return nil
	}
	return &Canvas{w: drawing(w)}
}

// Draw shows lines in place of those before. Of more than fit the first are shown.
func (c *Canvas) Draw(lines []string) {
	width, height := sizeOf(c.w)
	if width > 0 {
		lines = lines[:min(len(lines), max(height-1, 1))] // the cursor needs a line
		for i, l := range lines {
			lines[i] = ansi.Truncate(l, width, "")
		}
	}
	c.repaint(nil, lines, width)
}

// Ring calls the person at the terminal, as the run goes no further: with a bell, and with a
// message where it has a desktop to show it on. One that knows no such message shows nothing.
func (c *Canvas) Ring(run metadata.Run) {
	said := "reprise: #" + text.Flat(run.IssueNumber) + " " + text.Words(run.Status) + ": " + text.Flat(run.IssueTitle)
	_, _ = io.WriteString(c.w, "\a"+ansi.Notify(text.Cut(said, 200))) // who cannot be called finds out
}

// safeWriter writes to a terminal what others wrote, too: of control characters only line ends, tabs and our own colours
// have an effect, all else is shown. Messages of ours break between words.
type safeWriter struct {
	terminal *os.File // not embedded: it has more ways to write than Write

	mu   sync.Mutex
	rest []byte // the beginning of a character or of a colour
	// above prints lines above a picture that stands on the terminal; it gives false if none does
	above func(string) bool
}

// NewSafeWriter gives the writer for a stream of this process: one that is no
// terminal stays as it is, as programs have to read what was written.
func NewSafeWriter(f *os.File) io.Writer {
	if environ.IsTerminal(f) {
		return &safeWriter{terminal: f}
	}
	return f
}

// Fd is for what asks whether it is a terminal, and how large.
func (s *safeWriter) Fd() uintptr { return s.terminal.Fd() }

// onto has lines that are written given to print, which says whether it takes them; nil ends that.
func (s *safeWriter) onto(print func(lines string) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.above = print
}

// ownColour is what text.Palette puts around text.
var ownColour = text.Pattern(`^\x1b\[(?:0|1|2|3[1236])m`)

// Write shows p. What may go on with the next call waits for it.
func (s *safeWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	body := append(s.rest, p...)
	if bytes.HasPrefix(body, []byte("reprise: ")) {
		body = []byte(folded(string(body), Width(s)))
	}
	var out bytes.Buffer
	for len(body) > 0 && !unfinished(body) {
		if m := ownColour().Find(body); m != nil {
			out.Write(m)
			body = body[len(m):]
			continue
		}
		_, n := utf8.DecodeRune(body)
		out.WriteString(text.Visible(string(body[:n])))
		body = body[n:]
	}
	s.rest = bytes.Clone(body)
	if lines, whole := strings.CutSuffix(out.String(), "\n"); whole && s.above != nil && s.above(lines) {
		return len(p), nil
	}
	if _, err := s.terminal.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// beginning is what may become a colour of ours.
var beginning = text.Pattern(`^\x1b(?:\[(?:0|1|2|3[1236]?)?)?$`)

// unfinished reports whether text may be only the beginning of a character, or of a colour of ours.
func unfinished(text []byte) bool { return !utf8.FullRune(text) || beginning().Match(text) }

// drawing gives what a picture is drawn on, which moves the cursor: its texts
// are made harmless one by one.
func drawing(w io.Writer) io.Writer {
	if s, ok := w.(*safeWriter); ok {
		return s.terminal
	}
	return w
}

// View shows people how a run goes. Report may be called from several goroutines, Close more than once.
type View interface {
	engine.Reporter
	Close()
}

// Options says how to show a run.
type Options struct {
	Live    bool                // keep a picture up to date; w must be a terminal, and the format "text"
	Color   bool                // see text.WantsColor
	Verbose bool                // also tell what agents do in between
	JSON    bool                // one object per line
	Plan    *pipelines.Pipeline // of the run; nil if it is not known yet
	Width   int                 // of the terminal in cells; 0 if unknown
	// Group begins a group of lines that the page of a job can fold, and ends the one before; ""
	// only ends it. Nil: lines have no groups.
	Group func(title string)
	// Messages is where else the program writes meanwhile. What goes to a terminal is printed
	// above the picture.
	Messages io.Writer
	// Standing is how a run stands to its base; empty: there is nothing to say of it.
	Standing metadata.Reason
	// Worker is the process of this machine that works on the run; 0: none does.
	Worker int
	// Merged tells that the branch of the run is merged or gone.
	Merged bool
	// Near says which open runs of other issues change the same files.
	Near metadata.Reason
}

// NewView gives the view that o asks for. It writes to w and nowhere else.
func NewView(w io.Writer, o Options) View {
	o.Plan = view.Whole(o.Plan)
	if o.Live {
		return newLiveView(w, o)
	}
	return &logView{p: text.Printer{W: w, Palette: text.Palette(o.Color)}, o: o}
}
