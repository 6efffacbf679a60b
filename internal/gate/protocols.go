package gate

import (
	"bytes"
	_ "embed" // the protocols
	"encoding/json"
	"io"
	"net/http"
	"path"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/text"
)

//go:embed protocols.yaml
var protocolsFile []byte

// field is something that is read from requests or answers.
type field string

// What is read from a request.
const (
	asksFor    field = "model"
	tool       field = "tool"       // the kind of a tool
	called     field = "called"     // its name, or what it is said to be
	connector  field = "connector"  // a tool of the provider that reaches elsewhere
	address    field = "address"    // of something that the provider is to fetch
	longest    field = "longest"    // answer, in tokens
	answers    field = "answers"    // to the one request
	stored     field = "stored"     // what the request goes on from, which the provider keeps
	helper     field = "helper"     // another model, which a tool asks
	place      field = "place"      // where a tool works
	tier       field = "tier"       // how soon the answer is wanted, which has a price
	streams    field = "stream"     // whether the answer comes in events
	saysUsage  field = "says_usage" // whether those say what was used
	searchable field = "option"     // the answer may be searched for in the web
	part       field = "part"       // the kind of a part of what is asked
	item       field = "item"       // something that has a kind or a role, or is what the provider keeps
	named      field = "named"      // that kind or role
	data       field = "data"       // an image
	edit       field = "edit"       // of what was said before, by the provider
)

// What is read from an answer.
const (
	ofModel     field = "model"
	ofInput     field = "input"
	ofInputTool field = "input_tool" // beside ofInput
	ofRead      field = "read"
	ofWrite     field = "write"
	ofHour      field = "hour" // of ofWrite
	ofOutput    field = "output"
	ofThoughts  field = "thoughts" // beside ofOutput
	ofSearches  field = "searches" // of the web
	ofWords     field = "words"    // what the model says
	ofWhole     field = "whole"    // the same once more, in a stream
	ofUse       field = "use"      // a tool of the provider, by its name
	ofUseTwice  field = "use_twice"
	ofQuery     field = "query" // a search
)

// protocol is what protocols.yaml says of one.
type protocol struct {
	Asks, Free      []string
	Request, Answer map[field][]string
	Uses            map[string]int64 // what the use of a tool costs
	Bounded         map[string]int64 // kinds of parts and tools that cost no more than their bytes, and so many tokens
	Window          int64            // the most tokens that a model reads, but for some
	Windows         map[string]int64
	Headers         []string         // that are passed on
	Forbidden       map[field]string // why a request cannot have these
	Search, Option  int64            // what a search costs, and the option to search
	Tiers           map[string]float64
	Statuses        map[int]string
	Otherwise       string
	Error           string

	inRequest, inAnswer map[string]field // by path
}

// protocols are those of protocols.yaml.
var protocols = sync.OnceValue(func() map[API]*protocol {
	all := text.TableIn(map[API]*protocol{}, protocolsFile)
	for _, p := range all {
		p.inRequest, p.inAnswer = byPath(p.Request, all["gateways"].Request), byPath(p.Answer)
	}
	return all
})

// byPath turns lists of paths around.
func byPath(lists ...map[field][]string) map[string]field {
	out := map[string]field{}
	for _, list := range lists {
		for f, paths := range list {
			for _, path := range paths {
				out[fold(path)] = f
			}
		}
	}
	return out
}

// API is a protocol in which programs speak with models.
type API string

// The protocols. OpenAI has two, Responses and Chat Completions, at one address.
const (
	Anthropic API = "anthropic"
	openAI    API = "openai"
	gemini    API = "gemini"
)

const chatCompletions = "/chat/completions"

// purpose is what a request to a provider is for.
type purpose int

const (
	unknownTo purpose = iota // the gate: a key may do much that no agent needs
	free                     // it costs nothing
	asksModel
)

// purposeOf tells what a request is for by its method and the path below the base
// address. Of a Gemini model, and of any in a cloud, the path also has the name.
func (a API) purposeOf(method, at string) (what purpose, model string) {
	if at != path.Clean(at) || strings.ContainsAny(at, `%\\`) {
		return unknownTo, ""
	}
	if a == gemini || strings.HasPrefix(at, "/projects/") { // the colon is before what a model is to do
		colons := strings.Count(at, ":")
		if colons > 1 || (colons == 1) != (method == http.MethodPost) {
			return unknownTo, ""
		}
		model, _, _ = strings.Cut(path.Base(at), ":")
	} else if strings.HasPrefix(at, "/model/") {
		model = path.Base(path.Dir(at))
	}
	fits := func(pattern string) bool {
		ok, _ := path.Match(pattern, method+" "+at) // the patterns are ours
		return ok
	}
	switch p := protocols()[a]; {
	case slices.ContainsFunc(p.Free, fits):
		return free, ""
	case slices.ContainsFunc(p.Asks, fits):
		return asksModel, model
	}
	return unknownTo, ""
}

// takes reports whether a parameter of an address is passed on: no key, and nothing that has Google answer in a form
// that cannot be read.
func (a API) takes(name string, values []string) bool {
	if a == gemini && name == "alt" {
		return len(values) == 1 && (values[0] == "sse" || values[0] == "json")
	}
	return name != "key" && (a != gemini || !strings.HasPrefix(name, "$") && name != "access_token")
}

// fail answers a request with an error as the provider would write it, which clients do not try again.
func (a API) fail(w http.ResponseWriter, status int, code, message string) {
	word, ok := protocols()[a].Statuses[status]
	if !ok {
		word = protocols()[a].Otherwise
	}
	quoted, _ := json.Marshal(message) // a string
	body := strings.NewReplacer("WORD", word, "STATUS", strconv.Itoa(status), "CODE", code, "MESSAGE", string(quoted)).Replace(protocols()[a].Error)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Should-Retry", "false")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, body) // whoever asked may be gone
}

// tokens are what requests used.
type tokens struct {
	Input      int64 // neither read from a cache nor written to one
	CacheRead  int64
	CacheWrite int64
	Output     int64
	CacheHour  int64 // of CacheWrite, what is kept for an hour
}

// Add gives the sum.
func (t tokens) Add(u tokens) tokens {
	return tokens{t.Input + u.Input, t.CacheRead + u.CacheRead, t.CacheWrite + u.CacheWrite, t.Output + u.Output, t.CacheHour + u.CacheHour}
}

// meter reads from an answer what it used, while it passes: a whole one at its end, and of a
// stream each line with data when it is there.
type meter struct {
	api    API
	stream bool // the answer is a stream of events
	frames bool // each of them is in a frame, as AWS sends them
	held   held // the answer, or a line or a frame of it
	lost   bool // some of it could not be read

	uses, usesTwice int64 // what tools cost, as lists have them and as they came two times
	model           string
	most            map[field]int64
	words           int64  // bytes that the model said, in a stream
	said            []byte // those, or the answer that is no stream
}

func newMeter(api API, stream bool, room *room) *meter {
	return &meter{api: api, stream: stream, held: held{room: room}, most: map[field]int64{}}
}

// write takes the next piece of the answer.
func (m *meter) write(p []byte) {
	for m.stream && !m.frames {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		m.held.add(line)
		if !ended {
			return
		}
		m.end()
		p = rest
	}
	m.held.add(p)
	for m.frames && !m.held.lost {
		payload, size, good := frame(m.held.data)
		if !good {
			m.held.reset()
			m.held.lost = true // nobody knows where the next one begins
		}
		if size == 0 {
			return
		}
		var event struct{ Bytes []byte }
		if json.Unmarshal(payload, &event) == nil { // else it is an error
			_ = walk(event.Bytes, protocols()[m.api].inAnswer, m.found) // what is no JSON says nothing
		}
		m.held.drop(size)
	}
}

// end reads what was held, and reports whether nothing broke off. What is no JSON says nothing.
func (m *meter) end() (whole bool) {
	whole = !m.frames || len(m.held.data) == 0
	if data, is := bytes.CutPrefix(m.held.data, []byte("data:")); is || !m.stream {
		_ = walk(data, protocols()[m.api].inAnswer, m.found)             // as far as it came, if it broke off
		if !m.stream || bytes.Contains(data, []byte(`"functionCall"`)) { // what Gemini gives a tool is no text in the answer
			m.hold(data)
		}
	}
	m.lost = m.lost || m.held.lost
	m.held.reset()
	return whole && !m.lost
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
		m.hear(said)
	case f == ofWhole:
		m.hear(said)
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

// hear remembers a piece of a stream.
func (m *meter) hear(said string) {
	if m.stream { // else it is in the answer
		m.hold([]byte(said))
	}
}

// hold remembers what the model said, if it is not too long.
func (m *meter) hold(said []byte) {
	if len(m.said)+len(said) <= maxHeard {
		m.said = append(m.said, said...)
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
func (m *meter) tokens() tokens {
	t := tokens{Input: m.most[ofInput] + m.most[ofInputTool], CacheRead: m.most[ofRead], CacheWrite: m.most[ofWrite], CacheHour: m.most[ofHour], Output: m.most[ofOutput] + m.most[ofThoughts]}
	if m.api != Anthropic { // there, what has to do with the cache is not among the input
		t.Input = max(0, t.Input-t.CacheRead-t.CacheWrite)
	}
	return t
}

// bytesPerToken is about how long a token is. A real one is rather longer, so
// that what is worked out with it is rather too much.
const bytesPerToken = 3

// total gives what was used by an answer that is over. What it did not say is what is likely, or worked out from its
// length; one that broke off before counts as no less than what may be unseen.
func (m *meter) total(likely tokens, whole bool, unseen int64) (t tokens, estimated bool) {
	t = m.tokens()
	if _, said := m.most[ofInput]; !said {
		likely.Output = t.Output
		t, estimated = likely, true
	}
	_, toldOutput := m.most[ofOutput]
	said := max(1, m.words/bytesPerToken) // what ends between its words has said something, too
	if !whole && !toldOutput {
		said = max(said, unseen)
	}
	if !toldOutput || !whole && said > t.Output {
		t.Output, estimated = max(t.Output, said), true
	}
	return t, estimated
}
