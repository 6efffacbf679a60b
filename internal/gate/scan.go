package gate

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

// field stands for a place in a JSON text that somebody wants to know of.
type field int

// fields are places by their path: the names of the objects joined by dots. A
// list adds nothing, so each of its items has the path of the list.
type fields map[string]field

// value is what stands at a place: a string, a number or a word, or the beginning
// of an object or a list.
type value struct {
	raw    []byte // as it is written, without quotes, cut after maxValue bytes
	size   int    // bytes that it really has
	quoted bool
	opens  bool // it is an object or a list, and raw is empty
}

// text gives a string that was not cut.
func (v value) text() (string, bool) {
	if !v.quoted || v.size > len(v.raw) {
		return "", false
	}
	if bytes.IndexByte(v.raw, '\\') < 0 && utf8.Valid(v.raw) {
		return string(v.raw), true // most are like this, and it is much faster
	}
	var s string
	err := json.Unmarshal(append(append([]byte{'"'}, v.raw...), '"'), &s)
	return s, err == nil
}

// count gives a number that is no less than zero, else 0.
func (v value) count() int64 {
	var n float64
	if v.quoted || v.size > len(v.raw) || json.Unmarshal(v.raw, &n) != nil || n < 0 || n > 1<<50 {
		return 0
	}
	return int64(n)
}

// scanner reads JSON in pieces of any size and tells the values at the wanted
// places, each as often as it comes. It keeps little, however large the text is.
// It finds in valid JSON what any parser finds; of other text it makes what it can.
type scanner struct {
	want  fields
	found func(field, value)

	state  state
	open   []bool // objects (true) and lists that are open, up to maxDepth
	deep   int    // those below
	ends   []int  // where the path ends outside of each of them
	path   []byte
	isKey  bool // the next string is a name
	escape bool
	raw    []byte
	size   int
	closed bool // an object or list at the top has ended
	odd    bool // there is something that JSON does not have, though some parsers take it
}

type state int

const (
	between state = iota
	inText
	inWord
)

// reset begins a new text.
func (s *scanner) reset() {
	s.state, s.deep, s.isKey, s.escape, s.closed, s.odd = between, 0, false, false, false, false
	s.open, s.ends, s.path = s.open[:0], s.ends[:0], s.path[:0]
}

// write takes the next piece.
func (s *scanner) write(p []byte) {
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

// end says that the text is over, which a number at its end cannot show.
func (s *scanner) end() { s.write([]byte{' '}) }

// mark takes a byte that is in no value.
func (s *scanner) mark(b byte) {
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

func (s *scanner) begin(in state) {
	s.state, s.raw, s.size, s.escape = in, s.raw[:0], 0, false
}

func (s *scanner) enter(object bool) {
	if s.deep > 0 || len(s.open) == maxDepth {
		s.deep++
		return
	}
	s.tell(value{opens: true})
	s.open, s.ends, s.isKey = append(s.open, object), append(s.ends, len(s.path)), object
}

func (s *scanner) leave() {
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
func (s *scanner) inText(p []byte) int {
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
func (s *scanner) inWord(p []byte) int {
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

func (s *scanner) keep(p []byte) {
	s.size += len(p)
	s.raw = append(s.raw, p[:min(len(p), maxValue-len(s.raw))]...)
}

// complete has a whole string or word: a name in an object, or a value.
func (s *scanner) complete(quoted bool) {
	s.odd = s.odd || !quoted && (s.isKey || !isWord(s.raw))
	switch {
	case s.deep > 0:
	case s.isKey:
		s.name(value{raw: s.raw, size: s.size, quoted: quoted})
	default:
		s.tell(value{raw: s.raw, size: s.size, quoted: quoted})
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
func (s *scanner) name(v value) {
	s.path = s.path[:s.ends[len(s.ends)-1]]
	if len(s.path) > 0 {
		s.path = append(s.path, '.')
	}
	if v.quoted && v.size <= maxName && bytes.IndexByte(v.raw, '\\') < 0 {
		s.path = append(s.path, v.raw...)
	} else if name, ok := v.text(); ok && len(name) <= maxName {
		s.path = append(s.path, name...)
	} else {
		s.path = append(s.path, 0) // no wanted path has that
	}
}

func (s *scanner) tell(v value) {
	if f, ok := s.want[string(s.path)]; ok {
		s.found(f, v)
	}
}
