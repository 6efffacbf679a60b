package main

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"sync"
	"unicode/utf8"
)

// screenWriter writes to a terminal. What others wrote is printed there, too:
// of control characters only line ends, tabs and our own colours have an
// effect, all else is shown. See visible.
type screenWriter struct {
	terminal *os.File // not embedded: it has more ways to write than Write

	mu   sync.Mutex
	rest []byte // the beginning of a character or of a colour
}

// onScreen gives the writer for a stream of this process: one that is no
// terminal stays as it is, as programs have to read what was written.
func onScreen(f *os.File) io.Writer {
	if isTerminal(f) {
		return &screenWriter{terminal: f}
	}
	return f
}

// Fd is for what asks whether it is a terminal, and how large.
func (s *screenWriter) Fd() uintptr { return s.terminal.Fd() }

// ownColour is what palette puts around text.
var ownColour = regexp.MustCompile(`^\x1b\[(?:0|1|2|3[1236])m`)

// Write shows p. What may go on with the next call waits for it.
func (s *screenWriter) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := append(s.rest, p...)
	var out bytes.Buffer
	for len(text) > 0 && !unfinished(text) {
		if m := ownColour.Find(text); m != nil {
			out.Write(m)
			text = text[len(m):]
			continue
		}
		_, n := utf8.DecodeRune(text)
		out.WriteString(visible(string(text[:n])))
		text = text[n:]
	}
	s.rest = append([]byte(nil), text...)
	if _, err := s.terminal.Write(out.Bytes()); err != nil {
		return 0, err
	}
	return len(p), nil
}

// beginning is what may become a colour of ours.
var beginning = regexp.MustCompile(`^\x1b(?:\[(?:0|1|2|3[1236]?)?)?$`)

// unfinished reports whether text may be only the beginning of a character or
// of a colour of ours.
func unfinished(text []byte) bool { return !utf8.FullRune(text) || beginning.Match(text) }

// drawing gives what a picture is drawn on, which moves the cursor: its texts
// are made harmless one by one.
func drawing(w io.Writer) io.Writer {
	if s, ok := w.(*screenWriter); ok {
		return s.terminal
	}
	return w
}
