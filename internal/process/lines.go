package process

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// MaxLine is how much of one line is read; the rest of it is dropped. MaxMessage is the same of a program whose lines are
// messages of a protocol, with whole files in them.
const (
	MaxLine    = 2 << 20
	MaxMessage = 16 << 20
)

// EachLine calls f with every line of r, without its end and at most MaxLine bytes of it, until r ends; bytes that are
// not UTF-8 arrive as U+FFFD. It returns how many were cut. A line is valid only during the call.
func EachLine(r io.Reader, f func(line []byte)) (cut int) { return eachLine(r, MaxLine, f) }

// eachLine does that with at most so many bytes of a line.
func eachLine(r io.Reader, most int, f func(line []byte)) (cut int) {
	b := bufio.NewReaderSize(r, 64<<10)
	var long []byte // what is there of a line that does not fit the buffer
	for {
		line, err := b.ReadSlice('\n')
		if full := errors.Is(err, bufio.ErrBufferFull); full || len(long) > 0 {
			if long == nil {
				long = make([]byte, 0, MaxLine)
			}
			room := most - len(long)
			long = append(long, line[:min(len(line), room)]...)
			if full && len(line) < room {
				continue
			}
			if full || len(line) > room {
				cut++
			}
			if full {
				err = skipLine(b)
			}
			line = long
		}
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 {
			if !utf8.Valid(line) {
				line = bytes.ToValidUTF8(line, []byte("\uFFFD"))
			}
			f(line)
		}
		if err != nil {
			return cut
		}
		long = long[:0]
	}
}

// skipLine reads to the end of a line.
func skipLine(b *bufio.Reader) error {
	for {
		if _, err := b.ReadSlice('\n'); !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// Excerpt keeps the head and the tail of what is written to it, at most
// HeadMax and TailMax bytes, in memory of about twice that.
type Excerpt struct {
	HeadMax, TailMax int
	Total            int64               // bytes that were written
	Show             func(string) string // gives what is shown of the text; nil: Printable
	head, tail       []byte
}

// Write never fails.
func (e *Excerpt) Write(p []byte) (int, error) {
	n := len(p)
	e.Total += int64(n)
	if room := e.HeadMax - len(e.head); room > 0 {
		k := min(room, len(p))
		e.head, p = append(e.head, p[:k]...), p[k:]
	}
	if len(p) > e.TailMax {
		p = p[len(p)-e.TailMax:]
	}
	if len(e.tail)+len(p) > 2*e.TailMax {
		e.tail = append(e.tail[:0], e.tail[len(e.tail)-e.TailMax:]...)
	}
	e.tail = append(e.tail, p...)
	return n, nil
}

// maxWord is how much of a word that is cut is left out of a long excerpt, in bytes: secrets
// are shorter.
const maxWord = 4 << 10

// String gives the text as Show has it, and says how much was left out.
func (e *Excerpt) String() string {
	show := e.Show
	if show == nil {
		show = Printable
	}
	tail := e.tail[max(0, len(e.tail)-e.TailMax):]
	if e.Total == int64(len(e.head)+len(tail)) {
		return show(string(e.head) + string(tail))
	}
	// What is cut may be a sequence, or a secret, of which a part is not found as one.
	head := e.head
	if i := bytes.LastIndexAny(head, " \t\n"); i >= len(head)/2 {
		head = head[:i+1]
	} else if len(head) > 2*maxWord {
		head = head[:len(head)-maxWord]
	}
	if i := bytes.IndexByte(tail, '\n'); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	} else if i := bytes.IndexAny(tail, " \t"); i >= 0 && i < len(tail)/2 {
		tail = tail[i+1:]
	} else if len(tail) > 2*maxWord {
		tail = tail[maxWord:]
	}
	left := e.Total - int64(len(head)+len(tail))
	// Each by itself: a sequence that was cut would take along what follows.
	return show(string(head)) + fmt.Sprintf("\n[%d bytes left out]\n", left) + show(string(tail))
}

var (
	// A control sequence of a terminal, such as one for colours; a string for it,
	// such as its title, up to its end; and any other escape.
	sequences = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?:\x1b\[|\x{9b})[0-?]*[ -/]*[@-~]|(?:\x1b[\]PX^_]|[\x{90}\x{98}\x{9d}-\x{9f}])[^\x07\x1b\x{9c}\n]*(?:\x07|\x1b\\|\x{9c})|\x1b[ -/]*[0-~]`)
	})
	// What a terminal would have written over.
	overwritten = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^.*\r([^\r\n])`) })
)

// Printable gives the text that a terminal would show, without what moves its
// cursor, colours or hides text.
func Printable(s string) string {
	s = sequences().ReplaceAllString(strings.ToValidUTF8(s, "\uFFFD"), "")
	s = overwritten().ReplaceAllString(s, "$1")
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) && r != '\n' && r != '\t' {
			return -1
		}
		return r
	}, s)
}

// OneLine gives the start of s as one line of at most n characters.
func OneLine(s string, n int) string {
	if len(s) > 8*n {
		s = s[:8*n]
	}
	s = strings.Join(strings.Fields(Printable(s)), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return s
}

// below is what stands below the line that says what went wrong: where that was, and in which version.
var below = regexp.MustCompile(`^(?:\s|$|[\]})]|\d+: 0x|-{3,}|Node\.js v\d|note: )`)

// LastWords quotes the last line of what a program complained, after a colon;
// it is empty if there is none.
func LastWords(stderr string) string {
	lines := strings.Split(strings.TrimSpace(stderr), "\n")
	words := lines[len(lines)-1]
	for _, line := range slices.Backward(lines) {
		if !below.MatchString(line) {
			words = line
			break
		}
	}
	if last := OneLine(words, 200); last != "" {
		return ": " + last
	}
	return ""
}

// Head keeps the first bytes that are written to it, at most Limit of them; 0 means
// all. Writing never fails.
type Head struct {
	bytes.Buffer
	Limit int64
}

// Write takes p, and keeps what there is room for.
func (h *Head) Write(p []byte) (int, error) {
	keep := p
	if room := h.Limit - int64(h.Len()); h.Limit > 0 && int64(len(p)) > room {
		keep = p[:max(room, 0)]
	}
	h.Buffer.Write(keep)
	return len(p), nil
}

// ReadFrom hides the buffer's own, which knows no limit.
func (h *Head) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{h}, r)
}

// RunBounded runs a command, and gives all that is printed until it has ended to two writers, where exec.Cmd waits for
// everybody who holds the pipes open, or loses the end of it. The error is that of the command.
func RunBounded(cmd *exec.Cmd, stdout, stderr io.Writer) error {
	var ours, theirs [2]*os.File
	defer func() {
		for _, f := range append(ours[:], theirs[:]...) {
			_ = f.Close() // nil, closed, or only read from
		}
	}()
	for i := range ours {
		var err error
		if ours[i], theirs[i], err = os.Pipe(); err != nil {
			return err
		}
	}
	cmd.Stdout, cmd.Stderr = theirs[0], theirs[1]
	if err := cmd.Start(); err != nil {
		return err
	}
	var read sync.WaitGroup
	for i, to := range []io.Writer{stdout, stderr} {
		_ = theirs[i].Close() // the command has it
		read.Go(func() { _, _ = io.Copy(to, &restOfOutput{Pipe: ours[i]}) })
	}
	err := cmd.Wait()
	for _, f := range ours {
		_ = f.SetReadDeadline(time.Now()) // pipes have one
	}
	read.Wait()
	return err
}

// restOfOutput reads a pipe to its end and, once its deadline is over, to the end of what is in it then.
type restOfOutput struct {
	Pipe *os.File
	late int // bytes read since the deadline
}

// Read reads. An error is the end.
func (r *restOfOutput) Read(p []byte) (int, error) {
	n, err := r.Pipe.Read(p)
	const most = 1 << 20 // bytes that a pipe holds; somebody who is not ours may go on writing
	if errors.Is(err, os.ErrDeadlineExceeded) && r.late < most {
		_ = r.Pipe.SetReadDeadline(time.Now().Add(100 * time.Millisecond)) // what is there is read before that is asked for
		n, err = r.Pipe.Read(p)
		r.late += n
	}
	return n, err
}
