package terminal

import (
	"bytes"
	"io"
	"os"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
)

// safeWriter writes to a terminal. What others wrote is printed there, too:
// of control characters only line ends, tabs and our own colours have an
// effect, all else is shown. See text.Visible. Messages of ours break between words.
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
	if width, _, ok := sizeOf(s); ok && bytes.HasPrefix(body, []byte("reprise: ")) {
		body = []byte(folded(string(body), width))
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
	s.rest = append([]byte(nil), body...)
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
