package gate

import (
	"context"
	"io"
	"strings"
	"testing"
	"time"
)

const (
	anthropicStream = `event: message_start
data: {"type":"message_start","message":{"model":"claude-x","usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":30,"output_tokens":1}}}

event: content_block_delta
data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"{\"usage\":{\"output_tokens\":9999}}"}}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":40}}

event: message_stop
data: {"type":"message_stop"}

`
	anthropicWhole = `{"type":"message","model":"claude-x","content":[{"type":"text","text":"hi"}],
		"usage":{"input_tokens":10,"cache_read_input_tokens":20,"cache_creation_input_tokens":30,"output_tokens":40}}`
	responsesStream = `data: {"type":"response.created","response":{"model":"gpt-x","usage":null}}

data: {"type":"response.output_text.delta","delta":"hello"}

data: {"type":"response.completed","response":{"model":"gpt-x","usage":{"input_tokens":60,"input_tokens_details":{"cached_tokens":20},"output_tokens":40,"total_tokens":100}}}

`
	responsesWhole = `{"model":"gpt-x","usage":{"input_tokens":60,"input_tokens_details":{"cached_tokens":20},"output_tokens":40}}`
	responsesWrote = `{"model":"gpt-x","usage":{"input_tokens":60,"input_tokens_details":{"cached_tokens":20,"cache_write_tokens":30},"output_tokens":40}}`
	chatStream     = `data: {"model":"gpt-x","choices":[{"delta":{"content":"hello"}}],"usage":null}

data: {"model":"gpt-x","choices":[],"usage":{"prompt_tokens":60,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":20}}}

data: [DONE]

`
	chatWhole    = `{"model":"gpt-x","choices":[{"message":{"content":"hi"}}],"usage":{"prompt_tokens":60,"completion_tokens":40,"prompt_tokens_details":{"cached_tokens":20}}}`
	geminiStream = `data: {"modelVersion":"gemini-x","candidates":[{"content":{"parts":[{"text":"he"}]}}],"usageMetadata":{"promptTokenCount":50,"candidatesTokenCount":3}}

data: {"modelVersion":"gemini-x","usageMetadata":{"promptTokenCount":50,"toolUsePromptTokenCount":10,"cachedContentTokenCount":20,"candidatesTokenCount":30,"thoughtsTokenCount":10}}

`
	geminiWhole = `[{"modelVersion":"gemini-x","usageMetadata":{"promptTokenCount":50}},
		{"modelVersion":"gemini-x","usageMetadata":{"promptTokenCount":50,"toolUsePromptTokenCount":10,"cachedContentTokenCount":20,"candidatesTokenCount":30,"thoughtsTokenCount":10}}]`
	chatUnsaid = "data: {\"model\":\"gpt-x\",\"choices\":[{\"delta\":{\"content\":\"123456789012345678901234567890\"}}]}\n\ndata: [DONE]\n\n"
)

func TestMeter(t *testing.T) {
	anthropic, others := tokens{10, 20, 30, 40, 0}, tokens{40, 20, 0, 40, 0}
	for name, tt := range map[string]struct {
		api       API
		text      string
		stream    bool
		model     string
		want      tokens
		estimated bool
	}{
		"anthropic":               {Anthropic, anthropicStream, true, "claude-x", anthropic, false},
		"anthropic, whole":        {Anthropic, anthropicWhole, false, "claude-x", anthropic, false},
		"responses":               {openAI, responsesStream, true, "gpt-x", others, false},
		"responses, whole":        {openAI, responsesWhole, false, "gpt-x", others, false},
		"what a cache was given":  {openAI, responsesWrote, false, "gpt-x", tokens{Input: 10, CacheRead: 20, CacheWrite: 30, Output: 40}, false},
		"chat":                    {openAI, chatStream, true, "gpt-x", others, false},
		"chat, whole":             {openAI, chatWhole, false, "gpt-x", others, false},
		"gemini":                  {gemini, geminiStream, true, "gemini-x", others, false},
		"gemini, whole":           {gemini, geminiWhole, false, "gemini-x", others, false},
		"silent about its usage":  {openAI, chatUnsaid, true, "gpt-x", tokens{Input: 100, Output: 10}, true},
		"no answer":               {Anthropic, "", true, "", tokens{Input: 100, Output: 1}, true},
		"no JSON":                 {Anthropic, "<html>", false, "", tokens{Input: 100, Output: 1}, true},
		"numbers that are none":   {Anthropic, `{"usage":{"input_tokens":-5,"output_tokens":"7","cache_read_input_tokens":1e300}}`, false, "", tokens{Output: 1}, true},
		"a name that is too long": {Anthropic, `{"model":"` + strings.Repeat("x", 200) + `","usage":{"input_tokens":1,"output_tokens":2}}`, false, "", tokens{Input: 1, Output: 2}, false},
	} {
		t.Run(name, func(t *testing.T) {
			for _, size := range []int{1, 7, 1 << 20} {
				m := newMeter(tt.api, tt.stream, newRoom())
				for p := range bytesOf(tt.text, size) {
					m.write(p)
				}
				m.end()
				got, estimated := m.total(tokens{Input: 100}, true, 1000)
				if got != tt.want || estimated != tt.estimated || m.model != tt.model {
					t.Errorf("in pieces of %d: %+v, estimated %v, of %q; want %+v, %v, %q", size, got, estimated, m.model, tt.want, tt.estimated, tt.model)
				}
			}
		})
	}
}

// What broke off has cost what it had begun with, and about what was said.
func TestMeterOfHalfAnAnswer(t *testing.T) {
	m := newMeter(Anthropic, true, newRoom())
	m.write([]byte(anthropicStream[:len(anthropicStream)*2/3]))
	m.end()
	got, estimated := m.total(tokens{Input: 100}, false, 1)
	if want := (tokens{10, 20, 30, m.words / bytesPerToken, 0}); got != want || !estimated || m.words == 0 {
		t.Errorf("%+v, estimated %v, want %+v", got, estimated, want)
	}
}

// What a model thinks is not in what it says. An answer that broke off before it told
// what it used counts with what it may have come to: a stream by the time that it took,
// and a whole one that the client did not wait for as it was allowed to be.
func TestWhatIsThoughtUnseen(t *testing.T) {
	ago := time.Now().Add(-2 * time.Second)
	for name, tt := range map[string]struct {
		x        *exchange
		end      error
		min, max int64
	}{
		"a stream that a client left":       {&exchange{began: ago, asked: request{streams: true}}, context.Canceled, 2000, 20_000},
		"a short one":                       {&exchange{began: ago, asked: request{streams: true, longest: 30}}, context.Canceled, 30, 30},
		"several":                           {&exchange{began: ago, asked: request{streams: true, longest: 30, answers: 3}}, context.Canceled, 90, 90},
		"one that is seen to be a stream":   {&exchange{began: ago, meter: newMeter(openAI, true, newRoom())}, context.Canceled, 2000, 20_000},
		"a whole one that a client left":    {&exchange{began: ago}, context.Canceled, longestAnswer, longestAnswer},
		"the same, of a known length":       {&exchange{began: ago, asked: request{longest: 4000}}, context.Canceled, 4000, 4000},
		"a whole one that a provider ended": {&exchange{began: ago}, io.ErrUnexpectedEOF, 2000, 20_000},
	} {
		if got := tt.x.unseen(tt.end); got < tt.min || got > tt.max {
			t.Errorf("%s: %d tokens, want %d to %d", name, got, tt.min, tt.max)
		}
	}
	for name, tt := range map[string]struct {
		text  string
		whole bool
		want  int64
	}{
		"cut before the usage":   {responsesStream[:strings.Index(responsesStream, "data: {\"type\":\"response.completed")], false, 500},
		"cut after the usage":    {responsesStream, false, 40},
		"whole, and said little": {chatUnsaid, true, 10},
	} {
		m := newMeter(openAI, true, newRoom())
		m.write([]byte(tt.text))
		if got, _ := m.total(tokens{}, tt.whole, 500); got.Output != tt.want {
			t.Errorf("%s: %d tokens of output, want %d", name, got.Output, tt.want)
		}
	}
}

// bytesOf cuts a text into pieces.
func bytesOf(text string, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			n := min(size, len(text))
			if !yield([]byte(text[:n])) {
				return
			}
			text = text[n:]
		}
	}
}
