package gate

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Tokens are what requests used.
type Tokens struct {
	Input      int64 // neither read from a cache nor written to one
	CacheRead  int64
	CacheWrite int64
	Output     int64
	CacheHour  int64 // of CacheWrite, what is kept for an hour
}

// Add gives the sum.
func (t Tokens) Add(u Tokens) Tokens {
	return Tokens{t.Input + u.Input, t.CacheRead + u.CacheRead, t.CacheWrite + u.CacheWrite, t.Output + u.Output, t.CacheHour + u.CacheHour}
}

// meter reads from an answer what it used, while it passes: a whole one at its end, and of a
// stream each line with data when it is there.
type meter struct {
	api    API
	stream bool // the answer is a stream of events
	held   held // the answer, or a line of it
	lost   bool // some of it could not be read

	uses, usesTwice int64 // what tools cost, as lists have them and as they came two times
	model           string
	most            map[field]int64
	words           int64 // bytes that the model said, in a stream
}

func newMeter(api API, stream bool, room *room) *meter {
	return &meter{api: api, stream: stream, held: held{room: room}, most: map[field]int64{}}
}

// write takes the next piece of the answer.
func (m *meter) write(p []byte) {
	for m.stream {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		m.held.add(line)
		if !ended {
			return
		}
		m.end()
		p = rest
	}
	m.held.add(p)
}

// end reads what was held. What is no JSON says nothing.
func (m *meter) end() {
	if data, is := bytes.CutPrefix(m.held.data, []byte("data:")); is || !m.stream {
		_ = walk(data, protocols()[m.api].inAnswer, m.found) // as far as it came, if it broke off
	}
	m.lost = m.lost || m.held.lost
	m.held.reset()
}

func (m *meter) found(f field, v any) {
	said, isText := v.(string)
	_, known := v.(json.Number)
	switch p := protocols()[m.api]; {
	case f == ofModel:
		if isText && len(said) <= maxModel {
			m.model = said
		}
	case f == ofWords:
		m.words += int64(len(said))
	case f == ofQuery && isText:
		m.uses += p.Search
	case f == ofUse, f == ofUseTwice:
		for name, price := range p.Uses {
			switch {
			case !strings.Contains(said, name):
			case f == ofUse:
				m.uses += price
			default:
				m.usesTwice += price
			}
		}
	case known:
		m.most[f] = max(m.most[f], count(v))
	}
}

// toolsUsed gives what the tools cost that an answer has used so far, in millionths
// of a US dollar.
func (m *meter) toolsUsed() int64 {
	return max(m.uses, (m.usesTwice+1)/2) + m.most[ofSearches]*protocols()[m.api].Search
}

// maxModel is how long the name of a model may be, in bytes.
const maxModel = 128

// tokens gives what was used as far as the answer has said so.
func (m *meter) tokens() Tokens {
	t := Tokens{Input: m.most[ofInput] + m.most[ofInputTool], CacheRead: m.most[ofRead], CacheWrite: m.most[ofWrite], CacheHour: m.most[ofHour], Output: m.most[ofOutput] + m.most[ofThoughts]}
	if m.api != Anthropic { // there, what has to do with the cache is not among the input
		t.Input = max(0, t.Input-t.CacheRead-t.CacheWrite)
	}
	return t
}

// bytesPerToken is about how long a token is. A real one is rather longer, so
// that what is worked out with it is rather too much.
const bytesPerToken = 3

// total gives what was used by an answer that is over. What it did not say is worked out from lengths; one that broke
// off before counts as no less than what may be unseen.
func (m *meter) total(request int64, whole bool, unseen int64) (t Tokens, estimated bool) {
	t = m.tokens()
	if _, said := m.most[ofInput]; !said {
		t.Input, estimated = request/bytesPerToken, true
	}
	_, toldOutput := m.most[ofOutput]
	said := m.words / bytesPerToken
	if !whole && !toldOutput {
		said = max(said, unseen)
	}
	if !toldOutput || !whole && said > t.Output {
		t.Output, estimated = max(t.Output, said), true
	}
	return t, estimated
}
