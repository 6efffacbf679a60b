package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// openTerminal makes a terminal: what is written to it comes out of screen.
func openTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = terminal.Close() })
	return screen, terminal
}

// readScreen gives what has come out of a terminal when nobody writes to it
// any more.
func readScreen(screen, terminal *os.File) string {
	_ = terminal.Close()
	out, _ := io.ReadAll(screen) // it ends with an error, as nobody has the other side open
	return string(out)
}

// TestVersionAsksTheTerminalNothing has a terminal that does not answer. Some
// libraries ask it for its colours when a program starts.
func TestVersionAsksTheTerminalNothing(t *testing.T) {
	screen, terminal := openTerminal(t)
	c := exec.Command("reprise", "version")
	c.Env = append(os.Environ(), "TERM=xterm-256color")
	c.Stdin, c.Stdout, c.Stderr = terminal, terminal, terminal
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // only who is in the foreground would ask
	began := time.Now()
	if err := c.Run(); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(began); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
	if got := readScreen(screen, terminal); !strings.HasPrefix(got, "reprise ") || strings.Contains(got, "\x1b") {
		t.Errorf("got %q", got)
	}
}

// TestLiveViewKnowsItsTerminal draws on a terminal that becomes narrower.
func TestLiveViewKnowsItsTerminal(t *testing.T) {
	screen, terminal := openTerminal(t)
	p := plays(t, "en")["stuck"]
	v := &liveView{w: terminal, screen: screenAfter(p, 0, viewOptions{Plan: p.plan})}
	for _, size := range []struct{ width, height int }{{80, 24}, {40, 9}} {
		if err := unix.IoctlSetWinsize(int(terminal.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Col: uint16(size.width), Row: uint16(size.height)}); err != nil {
			t.Fatal(err)
		}
		v.Report(p.events[0])
		v.draw(false)
		if v.screen.Width != size.width || len(v.drawn) >= size.height {
			t.Errorf("on %v it draws %d lines for %d cells", size, len(v.drawn), v.screen.Width)
		}
	}
	_ = readScreen(screen, terminal)
}
