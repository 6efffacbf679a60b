package gate

import (
	"sync"

	"github.com/reprise-ci/reprise/internal/gate/scan"
	"github.com/reprise-ci/reprise/internal/gate/sse"
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

// What is read from an answer.
const (
	ofModel scan.Field = iota
	ofInput
	ofInputTool // of Gemini, beside ofInput
	ofRead
	ofWrite
	ofHour // of ofWrite
	ofOutput
	ofThoughts // of Gemini, beside ofOutput
	ofSearches // of the web
	ofWords    // what the model says
	ofUse      // a tool of the provider, by its name
	ofUseTwice // the same, where each comes two times
	ofQuery    // a search
)

// answerFields says where answers have their usage: whole ones, and the events of
// streamed ones. Where two stand for the same, the larger counts: events give it as
// it was so far.
var answerFields = sync.OnceValue(func() map[API]scan.Fields {
	return map[API]scan.Fields{
		Anthropic: {
			"model": ofModel, "message.model": ofModel,
			"usage.input_tokens": ofInput, "message.usage.input_tokens": ofInput,
			"usage.cache_read_input_tokens": ofRead, "message.usage.cache_read_input_tokens": ofRead,
			"usage.cache_creation_input_tokens": ofWrite, "message.usage.cache_creation_input_tokens": ofWrite,
			"usage.cache_creation.ephemeral_1h_input_tokens": ofHour, "message.usage.cache_creation.ephemeral_1h_input_tokens": ofHour,
			"usage.server_tool_use.web_search_requests": ofSearches, "content_block.name": ofUse, "content.name": ofUse,
			"usage.output_tokens": ofOutput,
			"delta.text":          ofWords, "delta.partial_json": ofWords, "delta.thinking": ofWords,
		},
		OpenAI: {
			"model": ofModel, "response.model": ofModel,
			"usage.input_tokens": ofInput, "response.usage.input_tokens": ofInput, "usage.prompt_tokens": ofInput,
			"usage.input_tokens_details.cached_tokens": ofRead, "response.usage.input_tokens_details.cached_tokens": ofRead,
			"usage.prompt_tokens_details.cached_tokens":     ofRead,
			"usage.input_tokens_details.cache_write_tokens": ofWrite, "response.usage.input_tokens_details.cache_write_tokens": ofWrite,
			"usage.prompt_tokens_details.cache_write_tokens": ofWrite,
			"usage.output_tokens":                            ofOutput, "response.usage.output_tokens": ofOutput, "usage.completion_tokens": ofOutput,
			"delta": ofWords, "choices.delta.content": ofWords, "choices.delta.tool_calls.function.arguments": ofWords,
			"choices.message.content": ofWords,
			"response.output.type":    ofUse, "output.type": ofUse, "item.type": ofUseTwice,
		},
		Gemini: {
			"modelVersion":                          ofModel,
			"usageMetadata.promptTokenCount":        ofInput,
			"usageMetadata.toolUsePromptTokenCount": ofInputTool,
			"usageMetadata.cachedContentTokenCount": ofRead,
			"usageMetadata.candidatesTokenCount":    ofOutput,
			"usageMetadata.thoughtsTokenCount":      ofThoughts,
			"candidates.content.parts.text":         ofWords,

			"candidates.groundingMetadata.webSearchQueries": ofQuery,
		},
	}
})

// meter reads from an answer what it used, while it passes.
type meter struct {
	api    API
	events sse.Reader
	json   scan.Scanner
	stream bool // the answer is a stream of events

	tools [2]int64 // what tools cost, as lists have them and as they came two times
	model string
	most  [ofWords + 1]int64
	seen  [ofWords + 1]bool
	words int64 // bytes that the model said, in a stream
}

func newMeter(api API, stream bool) *meter {
	m := &meter{api: api, stream: stream}
	m.json = scan.Scanner{Want: answerFields()[api], Found: m.found}
	m.events.Data, m.events.End = m.json.Write, func() { m.json.End(); m.json.Reset() }
	return m
}

// write takes the next piece of the answer.
func (m *meter) write(p []byte) {
	if m.stream {
		m.events.Write(p)
	} else {
		m.json.Write(p)
	}
}

func (m *meter) found(f scan.Field, v scan.Value) {
	switch {
	case v.Opens:
	case f == ofModel:
		if name, ok := v.Text(); ok && len(name) <= maxModel {
			m.model = name
		}
	case f >= ofUse:
		m.use(f, v)
	case f == ofWords:
		if v.Quoted {
			m.words += int64(v.Size)
		}
	case v.Quoted || string(v.Raw) == "null":
	default:
		m.most[f], m.seen[f] = max(m.most[f], v.Count()), true
	}
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

// total gives what was used by an answer that is over. What it did not say,
// because it broke off or is silent about it, is worked out from the length of the
// request and of the answer; one that broke off before it said so counts as no less than
// what may have been made unseen.
func (m *meter) total(request int64, whole bool, unseen int64) (t Tokens, estimated bool) {
	m.json.End()
	t = m.tokens()
	if !m.seen[ofInput] {
		t.Input, estimated = request/bytesPerToken, true
	}
	said := m.words / bytesPerToken
	if !whole && !m.seen[ofOutput] {
		said = max(said, unseen)
	}
	if !m.seen[ofOutput] || !whole && said > t.Output {
		t.Output, estimated = max(t.Output, said), true
	}
	return t, estimated
}
