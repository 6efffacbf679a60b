package main

import (
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"

	"github.com/reprise-ci/reprise/phases"
)

// liveView keeps a picture of the run at the bottom of a terminal. What is
// done scrolls away above it, as with any other program.
type liveView struct {
	mu      sync.Mutex
	screen  screen // without what only the terminal knows
	width   *atomic.Int64
	program *tea.Program
	done    chan struct{}
	once    sync.Once
}

// newLiveView starts to draw. Without input the terminal stays as it is, so
// Ctrl-C still is a signal, and without a signal handler it is the program's.
func newLiveView(w io.Writer, o viewOptions) *liveView {
	v := &liveView{screen: screen{viewOptions: o}, width: &atomic.Int64{}, done: make(chan struct{})}
	v.width.Store(int64(o.Width))
	v.program = tea.NewProgram(liveModel{v.screen, v.width}, tea.WithOutput(w), tea.WithInput(nil),
		tea.WithoutSignalHandler(), tea.WithoutBracketedPaste(), tea.WithFPS(20))
	go func() {
		defer close(v.done)
		_, _ = v.program.Run() // what cannot be drawn never stops the work
	}()
	return v
}

// Report changes the picture, and prints what is done above it.
func (v *liveView) Report(e phases.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	lines := v.screen.take(e)
	v.program.Send(v.screen)
	if len(lines) > 0 {
		if width := int(v.width.Load()); width > 0 { // the library does not clear behind lines that wrap by themselves
			lines = []string{lipgloss.NewStyle().Width(width).Render(strings.Join(lines, "\n"))}
		}
		// Sent here, and not as a command of the model, so that a Close that
		// follows cannot overtake it.
		v.program.Send(tea.Println(toMargin + strings.Join(lines, "\n"))())
	}
}

// Close draws the last picture and leaves it standing.
func (v *liveView) Close() {
	v.once.Do(func() {
		v.program.Send(closing{})
		v.program.Quit()
		<-v.done
	})
}

// Messages to the model besides a new screen.
type (
	closing struct{}
	ticked  time.Time
)

// liveModel connects a screen to the library that draws it.
type liveModel struct {
	screen
	width *atomic.Int64 // of the terminal, for what is printed above
}

// Init starts the clock.
func (m liveModel) Init() tea.Cmd { return tick() }

// Update takes over a new screen, the size of the terminal, or the time.
func (m liveModel) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case screen:
		msg.Width, msg.Height, msg.Frame = m.Width, m.Height, m.Frame
		m.screen = msg
	case tea.WindowSizeMsg:
		m.Width, m.Height = msg.Width, msg.Height
		m.width.Store(int64(msg.Width))
	case ticked:
		m.Now = time.Time(msg)
		m.Frame++
		return m, tick()
	case closing:
		m.Closed = true
	}
	return m, nil
}

// View draws the screen. The library clears the line that the cursor is in
// when it ends, so that one is left empty.
func (m liveModel) View() string {
	if m.Closed {
		return toMargin + render(m.screen) + "\n"
	}
	return toMargin + render(m.screen)
}

// toMargin begins what is drawn at the left, also where the terminal has just
// shown ^C.
const toMargin = "\r"

func tick() tea.Cmd {
	return tea.Tick(100*time.Millisecond, func(t time.Time) tea.Msg { return ticked(t) })
}
