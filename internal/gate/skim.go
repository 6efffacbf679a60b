package gate

import "bytes"

// What most events of a stream are is the words of a model. They are only counted:
// to read them as JSON would take longer than to pass them on.

// landmark is a text that is looked for by its end: a search is fast for what begins
// with a rare character, which a quote is not.
type landmark struct{ begin, end []byte }

func landmarkOf(begin, end string) landmark { return landmark{[]byte(begin), []byte(end)} }

// after gives what follows a landmark; nil: it is not there.
func (l landmark) after(p []byte) []byte {
	for from := 0; ; {
		i := bytes.Index(p[from:], l.end)
		if i < 0 {
			return nil
		}
		i, from = i+from, i+from+len(l.end)
		if bytes.HasSuffix(p[:i], l.begin) {
			return p[from:]
		}
	}
}

// wordKeys begin the words in an event, for each protocol, as services write them.
var wordKeys = map[API][]landmark{
	Anthropic: {landmarkOf(`"te`, `xt":"`), landmarkOf(`"partial_`, `json":"`), landmarkOf(`"thin`, `king":"`)},
	OpenAI:    {landmarkOf(`"`, `delta":"`), landmarkOf(`"`, `content":"`)},
}

var (
	eventEnd  = []byte("\n\n")
	lineEnd   = eventEnd[:1]
	modelName = landmarkOf(`"`, `model`)
	usageName = landmarkOf(`"`, `usage"`)
	noUsage   = []byte(`:null`)
)

// writeEvents takes the next piece of a stream of events.
func (m *meter) writeEvents(p []byte) {
	for len(p) > 0 {
		if !m.events.Between() { // on to the next line
			n := until(p, lineEnd)
			m.events.Write(p[:n])
			p = p[n:]
			continue
		}
		if n := m.pass(p); n > 0 {
			p = p[n:]
			continue
		}
		whole := p[:bytes.LastIndex(p, eventEnd)+1] // and what follows is kept for later
		if len(whole) > 0 {
			whole = p[:len(whole)+1]
		}
		if !m.skim(whole) {
			whole = p[:until(p, eventEnd)]
			if !m.skim(whole) {
				m.events.Write(whole)
			}
		}
		p = p[len(whole):]
	}
}

// Lines that say what their events are, as Anthropic's Messages and OpenAI's Responses
// have them, and what is in those that have words alone.
var (
	eventLine  = []byte("event:")
	usualEvent = []byte("event: content_block_delta\n")
	typedLine  = []byte(`data: {"type":"`)
	blockDelta = []byte(`content_block_delta",`)
	response   = []byte(`response.`)
	itemDelta  = landmarkOf(`.`, `delta",`)
	itemWords  = landmarkOf(`"`, `delta":"`)
	deltaWords = [][]byte{[]byte(`{"type":"text_delta","text":"`), []byte(`{"type":"input_json_delta","partial_json":"`), []byte(`{"type":"thinking_delta","thinking":"`)}
)

// pass takes the lines that p begins with as long as they say that nothing is wanted of
// them but how many words they have, and reads one that says otherwise. It gives how
// much that was; 0 where there is no such line.
func (m *meter) pass(p []byte) (n int) {
	if m.exact || m.model == "" {
		return 0
	}
	for {
		line := p[n:]
		// These two lines of three need no search for their ends.
		if len(line) > 0 && line[0] == '\n' {
			n++
			continue
		}
		if bytes.HasPrefix(line, usualEvent) {
			n += len(usualEvent)
			continue
		}
		end := bytes.IndexByte(line, '\n')
		if end < 0 {
			return n
		}
		line = line[:end]
		if rest, typed := bytes.CutPrefix(line, typedLine); typed {
			if words := wordsOf(rest); words >= 0 {
				m.words += int64(words)
			} else {
				m.events.Write(p[n : n+end+1])
				return n + end + 1
			}
		} else if end > 0 && !bytes.HasPrefix(line, eventLine) {
			return n
		}
		n += end + 1
	}
}

// wordsOf counts the words in the data of an event that has nothing else; -1 is any other.
func wordsOf(data []byte) int {
	if bytes.HasPrefix(data, blockDelta) {
		delta := data[max(0, bytes.IndexByte(data, '{')):]
		for _, begin := range deltaWords {
			if text, ok := bytes.CutPrefix(delta, begin); ok {
				return bytes.LastIndexByte(text, '"') // what closes the objects may be padded
			}
		}
		return -1
	}
	if kind := data[:min(len(data), 80)]; bytes.HasPrefix(kind, response) && itemDelta.after(kind) != nil {
		if text := itemWords.after(data); text != nil {
			return endOfText(text)
		}
	}
	return -1
}

// until gives the length of p up to the end of what ends it, or all of it.
func until(p, end []byte) int {
	if i := bytes.Index(p, end); i >= 0 {
		return i + len(end)
	}
	return len(p)
}

// skim counts the words of whole events, if there is nothing in them but words that is
// wanted. Else it does nothing and reports false.
func (m *meter) skim(events []byte) bool {
	if len(events) < len(eventEnd) || m.exact || m.model == "" && modelName.after(events) != nil {
		return false
	}
	for rest := usageName.after(events); rest != nil; rest = usageName.after(rest) {
		if !bytes.HasPrefix(rest, noUsage) {
			return false
		}
	}
	words, found := int64(0), false
	for _, key := range wordKeys[m.api] {
		for text := key.after(events); text != nil; {
			n := endOfText(text)
			if n < 0 {
				return false
			}
			words, found, text = words+int64(n), true, key.after(text[n:])
		}
	}
	if found {
		m.words += words
	}
	return found
}

// endOfText gives where a text ends: at the first quote that is not escaped. If there
// is none, it is less than 0.
func endOfText(p []byte) int {
	for n := 0; ; n++ {
		i := bytes.IndexByte(p[n:], '"')
		if i < 0 {
			return -1
		}
		n += i
		escapes := 0
		for escapes < n && p[n-1-escapes] == '\\' {
			escapes++
		}
		if escapes%2 == 0 {
			return n
		}
	}
}
