// Package scan reads JSON in pieces of any size, as it passes, and tells what stands at some
// places of it.
package scan

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"
)

const (
	maxValue = 256 // bytes of a value that are kept
	maxName  = 64  // bytes of a name in an object; a longer one is nobody's
	maxDepth = 32  // of objects and lists; what is deeper is passed over
)

// Field stands for a place in a JSON text that somebody wants to know of.
type Field int

// Fields are places by their path: the names of the objects joined by dots. A
// list adds nothing, so each of its items has the path of the list.
type Fields map[string]Field

// Value is what stands at a place: a string, a number or a word, or the beginning
// of an object or a list.
type Value struct {
	Raw    []byte // as it is written, without quotes, cut after 256 bytes; good until the next Write
	Size   int    // bytes that it really has
	Quoted bool   // it is a string
	Opens  bool   // it is an object or a list, and Raw is empty
}

// Text gives a string that was not cut.
func (v Value) Text() (string, bool) {
	if !v.Quoted || v.Size > len(v.Raw) {
		return "", false
	}
	if bytes.IndexByte(v.Raw, '\\') < 0 && utf8.Valid(v.Raw) {
		return string(v.Raw), true // most are like this, and it is much faster
	}
	var s string
	err := json.Unmarshal(append(append([]byte{'"'}, v.Raw...), '"'), &s)
	return s, err == nil
}

// Count gives a number that is no less than zero, else 0.
func (v Value) Count() int64 {
	var n float64
	if v.Quoted || v.Size > len(v.Raw) || json.Unmarshal(v.Raw, &n) != nil || n < 0 || n > 1<<50 {
		return 0
	}
	return int64(n)
}

// Scanner reads JSON in pieces of any size and tells the values at the wanted
// places, each as often as it comes. It keeps little, however large the text is.
// It finds in valid JSON what any parser finds; of other text it makes what it can.
type Scanner struct {
	Want  Fields
	Found func(Field, Value) // called within Write and End

	state  state
	open   []bool // objects (true) and lists that are open, up to maxDepth
	deep   int    // those below
	ends   []int  // where the path ends outside of each of them
	path   []byte
	isKey  bool // the next string is a name
	escape bool
	raw    []byte
	size   int
	closed bool // see Closed
	odd    bool // see Odd
}

type state int

const (
	between state = iota
	inText
	inWord
)

// Reset begins a new text.
func (s *Scanner) Reset() {
	s.state, s.deep, s.isKey, s.escape, s.closed, s.odd = between, 0, false, false, false, false
	s.open, s.ends, s.path = s.open[:0], s.ends[:0], s.path[:0]
}

// Write takes the next piece.
func (s *Scanner) Write(p []byte) {
	for i := 0; i < len(p); {
		switch s.state {
		case inText:
			i += s.inText(p[i:])
		case inWord:
			i += s.inWord(p[i:])
		default:
			s.mark(p[i])
			i++
		}
	}
}

// End says that the text is over, which a number at its end cannot show.
func (s *Scanner) End() { s.Write([]byte{' '}) }

// Closed reports whether an object or a list at the top has ended.
func (s *Scanner) Closed() bool { return s.closed }

// Odd reports whether there was something that JSON does not have, though some parsers take it.
func (s *Scanner) Odd() bool { return s.odd }

// mark takes a byte that is in no value.
func (s *Scanner) mark(b byte) {
	switch b {
	case ' ', '\n', '\r', '\t':
		return
	}
	s.odd = s.odd || s.closed // of two texts, some parsers read the first and others the last
	switch b {
	case '{', '[':
		s.enter(b == '{')
	case '}', ']':
		s.leave()
	case ',':
		s.isKey = s.deep == 0 && len(s.open) > 0 && s.open[len(s.open)-1]
	case ':':
		s.isKey = false
	case '"':
		s.begin(inText)
	default:
		s.begin(inWord)
		s.inWord([]byte{b})
	}
}

func (s *Scanner) begin(in state) {
	s.state, s.raw, s.size, s.escape = in, s.raw[:0], 0, false
}

func (s *Scanner) enter(object bool) {
	if s.deep > 0 || len(s.open) == maxDepth {
		s.deep++
		return
	}
	s.tell(Value{Opens: true})
	s.open, s.ends, s.isKey = append(s.open, object), append(s.ends, len(s.path)), object
}

func (s *Scanner) leave() {
	if s.deep > 0 {
		s.deep--
		return
	}
	if last := len(s.open) - 1; last >= 0 {
		s.path = s.path[:s.ends[last]]
		s.open, s.ends, s.closed = s.open[:last], s.ends[:last], last == 0
	}
	s.isKey = false
}

// inText takes what belongs to a string and says how much that is.
func (s *Scanner) inText(p []byte) int {
	n := 0
	if s.escape && len(p) > 0 {
		s.escape, n = false, 1
	}
	for quote := -1; n < len(p); {
		if quote < n { // looked for once, however many escapes come before it
			if quote = bytes.IndexByte(p[n:], '"'); quote < 0 {
				quote = len(p)
			} else {
				quote += n
			}
		}
		if i := bytes.IndexByte(p[n:quote], '\\'); i >= 0 {
			n += i + 2 // with what it escapes
			s.escape = n > len(p)
			continue
		}
		if quote == len(p) {
			break
		}
		s.keep(p[:quote])
		s.state = between
		s.complete(true)
		return quote + 1
	}
	s.keep(p)
	return len(p)
}

// inWord takes what belongs to a number, true, false or null.
func (s *Scanner) inWord(p []byte) int {
	for n, b := range p {
		switch b {
		case ',', ':', '}', ']', '{', '[', '"', ' ', '\n', '\r', '\t':
			s.keep(p[:n])
			s.state = between
			s.complete(false)
			return n
		}
	}
	s.keep(p)
	return len(p)
}

func (s *Scanner) keep(p []byte) {
	s.size += len(p)
	s.raw = append(s.raw, p[:min(len(p), maxValue-len(s.raw))]...)
}

// complete has a whole string or word: a name in an object, or a value.
func (s *Scanner) complete(quoted bool) {
	s.odd = s.odd || !quoted && (s.isKey || !isWord(s.raw))
	switch {
	case s.deep > 0:
	case s.isKey:
		s.name(Value{Raw: s.raw, Size: s.size, Quoted: quoted})
	default:
		s.tell(Value{Raw: s.raw, Size: s.size, Quoted: quoted})
	}
}

// isWord reports whether what stands without quotes is a value in JSON, or begins a number.
func isWord(raw []byte) bool {
	switch string(raw) {
	case "true", "false", "null":
		return true
	}
	return len(raw) > 0 && (raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9') && len(bytes.Trim(raw, "+-.0123456789eE")) == 0
}

// name makes a name the end of the path.
func (s *Scanner) name(v Value) {
	s.path = s.path[:s.ends[len(s.ends)-1]]
	if len(s.path) > 0 {
		s.path = append(s.path, '.')
	}
	if v.Quoted && v.Size <= maxName && bytes.IndexByte(v.Raw, '\\') < 0 {
		s.path = append(s.path, v.Raw...)
	} else if name, ok := v.Text(); ok && len(name) <= maxName {
		s.path = append(s.path, name...)
	} else {
		s.path = append(s.path, 0) // no wanted path has that
	}
}

func (s *Scanner) tell(v Value) {
	if f, ok := s.Want[string(s.path)]; ok {
		s.Found(f, v)
	}
}
