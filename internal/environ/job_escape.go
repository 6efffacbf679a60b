package environ

import (
	"io"
	"sync"
	"unicode/utf8"
)

// CommandEscaper is a writer to the log of a job on GitHub, through which no line gets as a workflow command: one that
// begins with :: behind any space, or has ##[ anywhere.
type CommandEscaper struct {
	mu     sync.Mutex
	w      io.Writer
	inside bool // a line, behind the space it begins with
	hashes int  // that stand right before
}

// NewCommandEscaper gives a writer to the log behind w.
func NewCommandEscaper(w io.Writer) *CommandEscaper { return &CommandEscaper{w: w} }

// Write writes p so that nothing in it is a command. It reports len(p) also
// where it wrote more.
func (i *CommandEscaper) Write(p []byte) (int, error) {
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

// EscapedEnv gives the environment of a command whose output is the log of a job on
// GitHub, if it is; elsewhere lines are only lines.
func EscapedEnv(e Env) Env {
	if e.Getenv("GITHUB_ACTIONS") == "true" {
		e.Stdout, e.Stderr = NewCommandEscaper(e.Stdout), NewCommandEscaper(e.Stderr)
	}
	return e
}

// Unescaped gives the writer for workflow commands of our own.
func Unescaped(w io.Writer) io.Writer {
	if i, ok := w.(*CommandEscaper); ok {
		return i.w
	}
	return w
}
