package testenv

import (
	"fmt"
	"io"
	"os"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Hostile is text that a terminal would obey: it would clear the screen, write
// to the clipboard, move the cursor, hide text and reorder it.
const Hostile = "a\x1b[2Jb\x1b]52;c;ZXZpbA==\x07c\u009b31md\u202ee\x1b[8mf\rg\x7fh"

// Harmlessly is Hostile as reprise shows it on a terminal: nothing in it has an effect.
const Harmlessly = "a␛[2Jb␛]52;c;ZXZpbA==␇c<U+009B>31md<U+202E>e␛[8mf␍g␡h"

// OpenTerminal makes a terminal: what is written to it comes out of screen.
func OpenTerminal(t *testing.T) (screen, terminal *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	Must(t, err)
	t.Cleanup(func() { _ = screen.Close() })
	Must(t, unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0))
	n, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	Must(t, err)
	terminal, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	Must(t, err)
	t.Cleanup(func() { _ = terminal.Close() })
	return screen, terminal
}

// ReadScreen gives what has come out of a terminal when nobody writes to it
// any more.
func ReadScreen(screen, terminal *os.File) string {
	_ = terminal.Close()
	out, _ := io.ReadAll(screen) // it ends with an error, as nobody has the other side open
	return string(out)
}
