package main

import (
	"bytes"
	"fmt"
	"io"
	"sync"
	"unicode/utf16"
	"unicode/utf8"
)

// inert is a writer to the log of a job on GitHub. What agents and people
// wrote is printed there, too, and a line of it may look like a workflow
// command, which the machine would carry out: one that begins with :: behind
// any space, or that has ##[ anywhere. Neither gets through.
type inert struct {
	mu     sync.Mutex
	w      io.Writer
	inside bool // a line, behind the space it begins with
	hashes int  // that stand right before
}

// newInert gives a writer to the log behind w.
func newInert(w io.Writer) *inert { return &inert{w: w} }

// Write writes p so that nothing in it is a command. It reports len(p) also
// where it wrote more.
func (i *inert) Write(p []byte) (int, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := make([]byte, 0, len(p)+16)
	for _, c := range p {
		switch {
		case c == '\n' || c == '\r':
			i.inside = false
		case c == ':' && !i.inside:
			out = append(out, "| "...)
			i.inside = true
		case c > ' ' && c < utf8.RuneSelf: // other characters may be space as well
			i.inside = true
		}
		if c == '[' && i.hashes >= 2 {
			out = append(out, ' ')
		}
		if i.hashes++; c != '#' {
			i.hashes = 0
		}
		out = append(out, c)
	}
	if _, err := i.w.Write(out); err != nil {
		return 0, err
	}
	return len(p), nil
}

// inJob gives the environment of a command whose output is the log of a job on
// GitHub, if it is; elsewhere lines are only lines.
func (e environment) inJob() environment {
	if e.getenv("GITHUB_ACTIONS") == "true" {
		e.stdout, e.stderr = newInert(e.stdout), newInert(e.stderr)
	}
	return e
}

// forCommands gives the writer for workflow commands of our own.
func forCommands(w io.Writer) io.Writer {
	if i, ok := w.(*inert); ok {
		return i.w
	}
	return w
}

// inertJSON writes JSON so that it is the same value, nothing in it counts as a
// workflow command, and a terminal obeys nothing in it.
func inertJSON(text []byte) []byte {
	text = bytes.ReplaceAll(text, []byte("##["), []byte(`##\u005b`))
	if bytes.IndexFunc(text, obeyed) < 0 {
		return text
	}
	var out bytes.Buffer
	for _, r := range string(text) { // it is valid UTF-8
		switch {
		case !obeyed(r):
			out.WriteRune(r)
		case r > 0xffff:
			hi, lo := utf16.EncodeRune(r)
			fmt.Fprintf(&out, `\u%04x\u%04x`, hi, lo)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.Bytes()
}
