package gate

import (
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/reprise-ci/reprise/internal/gate/scan"
)

// What is read from a request.
const (
	asksFor    scan.Field = iota // a model
	background                   // the answer is fetched later, where nothing counts it
	tool                         // the kind of a tool
	connector                    // a tool of the provider that reaches elsewhere
	address                      // of something that the provider is to fetch
	longest                      // answer, in tokens
	answers                      // to the one request
	stored                       // what the request goes on from, which the provider keeps
	template                     // what the provider keeps of a request, which may be anything
	helper                       // another model, which a tool asks
	place                        // where a tool works
	elsewhere                    // an address of models, to which the real key would go
	tier                         // how soon the answer is wanted, which has a price
	streams                      // whether the answer comes in events
	saysUsage                    // whether those say what was used
	searches                     // an answer that the provider may search the web for
)

// requestFields says where requests name what is checked.
var requestFields = sync.OnceValue(func() map[API]scan.Fields {
	return map[API]scan.Fields{
		Anthropic: ofGateways(scan.Fields{
			"model": asksFor, "tools.type": tool, "mcp_servers.url": connector,
			"tools.model": helper, "speed": tier, "inference_geo": tier,
			"messages.content.source.url": address, "messages.content.content.source.url": address,
			"messages.content.source.content.source.url": address, "messages.content.content.source.content.source.url": address,
			"max_tokens": longest, "stream": streams,
		}),
		OpenAI: ofGateways(scan.Fields{
			"model": asksFor, "background": background, "tools.type": tool, "web_search_options": searches, "tools.server_url": connector,
			"tools.model": helper, "tools.environment.type": place, "prompt": template, "service_tier": tier, "stream": streams, "stream_options.include_usage": saysUsage,
			"input.content.image_url": address, "input.content.file_url": address, "input.output.image_url": address, "input.output.file_url": address,
			"messages.content.image_url.url": address,
			"max_output_tokens":              longest, "max_completion_tokens": longest, "max_tokens": longest, "n": answers,
			"previous_response_id": stored, "conversation": stored,
		}),
		Gemini: inAnySpelling(scan.Fields{
			"tools.googleSearch": connector, "tools.urlContext": connector, "tools.googleSearchRetrieval": connector,
			"tools.googleMaps": connector, "tools.mcpServers": connector, "tools.enterpriseWebSearch": connector, "serviceTier": tier,
			"contents.parts.fileData.fileUri": address, "contents.parts.functionResponse.parts.fileData.fileUri": address,
			"systemInstruction.parts.fileData.fileUri": address, "generateContentRequest.contents.parts.fileData.fileUri": address,
			"generateContentRequest.systemInstruction.parts.fileData.fileUri": address,
			"generationConfig.maxOutputTokens":                                longest, "generationConfig.candidateCount": answers, "cachedContent": stored,
		}),
	}
})

// ofGateways adds what gateways before providers take besides, such as OpenRouter and
// LiteLLM: other models, which answer where the first does not, and other addresses.
func ofGateways(in scan.Fields) scan.Fields {
	for _, at := range []string{"models", "fallbacks", "fallbacks.model", "extra_body.model", "extra_body.models", "extra_body.fallbacks"} {
		in[at] = helper
	}
	for _, at := range []string{"api_base", "base_url", "extra_body.api_base", "extra_body.base_url"} {
		in[at] = elsewhere
	}
	in["plugins"], in["extra_body.plugins"] = connector, connector
	return in
}

// inAnySpelling adds the other spellings of paths: Google takes each name of one as
// fileUri and as file_uri.
func inAnySpelling(in scan.Fields) scan.Fields {
	out := scan.Fields{}
	for at, f := range in {
		all := []string{""}
		for _, name := range strings.Split(at, ".") {
			var next []string
			for _, before := range all {
				for _, spelled := range []string{name, snake(name)} {
					next = append(next, strings.TrimPrefix(before+"."+spelled, "."))
				}
			}
			slices.Sort(next)
			all = slices.Compact(next)
		}
		for _, at := range all {
			out[at] = f
		}
	}
	return out
}

// snake spells fileUri as file_uri.
func snake(name string) string {
	var out strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			out.WriteByte('_')
		}
		out.WriteRune(unicode.ToLower(r))
	}
	return out.String()
}

// outward are tools that the provider itself uses to reach other hosts, by how
// their kinds begin.
var outward = []string{"web_search", "web_fetch", "mcp", "url_context", "google_search"}

const maxRequest = 256 << 20 // bytes

// requestFilter reads the body of a request to a provider as it passes. A body that is
// refused never comes to its end, so that the provider cannot act on it.
type requestFilter struct {
	body io.Reader
	x    *exchange
	scan scan.Scanner
}

func newRequestFilter(body io.Reader, x *exchange) *requestFilter {
	b := &requestFilter{body: body, x: x}
	b.scan = scan.Scanner{Want: requestFields()[x.provider.API], Found: b.found}
	return b
}

func (b *requestFilter) Read(p []byte) (int, error) {
	x := b.x
	if x.refused() != nil {
		return 0, errRefused
	}
	n, err := b.body.Read(p)
	x.mu.Lock()
	defer x.mu.Unlock()
	if n > 0 {
		x.sent += int64(n)
		if x.gate.transcript.to != nil {
			x.asks.write(p[:n])
		}
		b.scan.Write(p[:n])
		b.check(p[:n])
		if b.scan.Closed() && !x.whole {
			x.whole = true
			x.claim()
		}
	}
	if x.refusal != nil {
		return 0, errRefused
	}
	return n, err
}

// Close leaves the body open: what is left of it is still to be read.
func (b *requestFilter) Close() error { return nil }

// check looks at what is known so far, and at what has just come.
func (b *requestFilter) check(p []byte) {
	x := b.x
	switch {
	case bytes.IndexByte(p, 0) >= 0: // no JSON in UTF-8 has one
		x.refuse(http.StatusBadRequest, "the request is no JSON in UTF-8")
	case x.sent > maxRequest:
		x.refuse(http.StatusRequestEntityTooLarge, "the request has more than "+strconv.Itoa(maxRequest>>20)+" MB")
	case b.scan.Odd():
		x.refuse(http.StatusBadRequest, "the request is no JSON")
	case b.scan.Closed() && x.requested == "" && x.purpose == asksModel && x.gate.config.Limits.Model != nil:
		x.refuse(http.StatusBadRequest, "the request names no model")
	}
}

// found checks a value of the request.
func (b *requestFilter) found(f scan.Field, v scan.Value) {
	x := b.x
	said, _ := v.Text()
	switch f {
	case asksFor:
		if v.Opens || said == "" || len(said) > maxModel {
			x.refuse(http.StatusBadRequest, "the request names no model")
			return
		}
		if x.requested = said; !x.gate.ledger.allows(x.provider.Name, said) {
			x.refuseModel(said)
		}
	case background:
		if string(v.Raw) != "false" && string(v.Raw) != "null" {
			x.refuse(http.StatusBadRequest, "answers in the background cannot be counted")
		}
	case tool:
		x.hosted = x.hosted || slices.ContainsFunc(paid, func(kind string) bool { return strings.HasPrefix(said, kind) })
		if !b.open() && slices.ContainsFunc(outward, func(kind string) bool { return strings.HasPrefix(said, kind) }) {
			x.refuse(http.StatusBadRequest, "the tool "+strconv.Quote(said)+" reaches hosts that the pipeline does not allow")
		}
	case searches:
		if string(v.Raw) != "null" {
			x.tools = chatSearch
		}
		fallthrough
	case connector:
		if !b.open() && string(v.Raw) != "null" {
			x.refuse(http.StatusBadRequest, "tools of the provider that reach other hosts are not allowed by the pipeline")
		}
	case address:
		if !b.open() && !v.Opens && !strings.HasPrefix(string(v.Raw), "data:") && string(v.Raw) != "null" {
			x.refuse(http.StatusBadRequest, "the provider would fetch an address, and the pipeline does not allow that")
		}
	case longest:
		x.longest = max(x.longest, v.Count())
	case answers:
		x.answersTo = max(x.answersTo, v.Count())
	case stored:
		x.goesOn = x.goesOn || string(v.Raw) != "null"
	default:
		b.more(f, v, said)
	}
}

// more checks what has to do with money.
func (b *requestFilter) more(f scan.Field, v scan.Value, said string) {
	x := b.x
	switch f {
	case template:
		if string(v.Raw) != "null" {
			x.refuse(http.StatusBadRequest, "a prompt that the provider keeps may name another model and tools; send it as it is")
		}
	case helper:
		if !v.Opens && string(v.Raw) != "null" && !x.gate.ledger.allows(x.provider.Name, said) {
			x.refuseModel(said)
		}
	case place:
		if strings.HasPrefix(said, "container") {
			x.refuse(http.StatusBadRequest, "what runs in containers of the provider has no limits of the pipeline; run it here")
		}
	case elsewhere:
		if string(v.Raw) != "null" {
			x.refuse(http.StatusBadRequest, "the request names another address of models, and the key is for one alone")
		}
	case tier:
		x.factor = max(x.factor, tierFactor(x.provider.API, said))
	case streams:
		if x.saysHow {
			x.refuse(http.StatusBadRequest, "the request says stream twice")
		}
		x.saysHow, x.streams = true, string(v.Raw) == "true"
	case saysUsage:
		x.saysUsage = string(v.Raw) == "true"
	}
}

// open reports whether the agent may reach the whole network anyway.
func (b *requestFilter) open() bool { return b.x.gate.config.World.Open }

// joined is what was read of a body, and the rest.
type joined struct {
	first     []byte
	err       error // after first
	rest      io.ReadCloser
	remaining int64 // bytes that are still to come; less than 0: nobody knows
}

// Read reads on. It ends by itself after the last byte: the server may close the
// body as soon as the provider begins to answer, and that would look like an error.
func (j *joined) Read(p []byte) (n int, err error) {
	switch {
	case j.remaining == 0:
		return 0, io.EOF
	case len(j.first) > 0:
		n = copy(p, j.first)
		j.first = j.first[n:]
	case j.err != nil:
		return 0, j.err
	default:
		n, err = j.rest.Read(p)
	}
	if j.remaining > 0 {
		j.remaining = max(0, j.remaining-int64(n))
	}
	return n, err
}

// Close closes the body.
func (j *joined) Close() error { return j.rest.Close() }
