package gate

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
)

// demand is a request of a client that means harm, with what its provider may make of it.
type demand struct {
	body  string
	input int64 // tokens that the provider reads
	most  float64
	leave int // after so many bytes of the answer
}

// Prices of the tests, in US dollars for a token. What is written to a cache costs more, see Call.price.
const inputPrice, outputPrice = 1e-6, 5e-6

func testPrice(_ string, t tokens) float64 {
	return inputPrice*(float64(t.Input+t.CacheRead+t.CacheWrite)+float64(t.CacheWrite-t.CacheHour)/4+float64(t.CacheHour)) + outputPrice*float64(t.Output)
}

// partOf is something that a request may have, and how many tokens it may come to besides its bytes.
type partOf struct {
	text   string
	tokens int64
	tool   bool
}

const wholeWindow = 1_000_000

// partsOf are written as the documentation of each provider has them; what is open may fill the window.
var partsOf = map[API][]partOf{
	Anthropic: {
		{`{"type":"text","text":"%s"}`, 0, false},
		{`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"%s"}}`, 4784, false},
		{`{"type":"image","source":{"type":"url","url":"https://example.com/%s"}}`, 4784, false},
		{`{"type":"document","source":{"type":"url","url":"https://example.com/%s.pdf"}}`, wholeWindow, false},
		{`{"source":{"data":"%s","media_type":"application/pdf","type":"base64"},"type":"document"}`, wholeWindow, false},
		{`{"type":"tool_result","tool_use_id":"%s","content":[{"type":"document","source":{"type":"file","file_id":"f"}}]}`, wholeWindow, false},
		{`{"type":"container_upload","file_id":"%s"}`, wholeWindow, false},
		{`{"type":"something_new","of":"%s"}`, wholeWindow, false},
		{`{"type":"web_search_20250305","name":"%s"}`, wholeWindow, true},
		{`{"type":"web_fetch_20250910","name":"%s"}`, wholeWindow, true},
		{`{"name":"%s","input_schema":{"type":"object"}}`, 400, true},
	},
	openAI: {
		{`{"role":"user","content":[{"type":"input_text","text":"%s"}]}`, 0, false},
		{`{"role":"user","content":"%s"}`, 0, false},
		{`{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,%s"}]}`, 10_000, false},
		{`{"role":"user","content":[{"type":"input_image","image_url":"https://example.com/%s"}]}`, 10_000, false},
		{`{"role":"user","content":[{"type":"input_file","file_url":"https://example.com/%s.pdf"}]}`, wholeWindow, false},
		{`{"role":"user","content":[{"type":"input_file","file_data":"%s"}]}`, wholeWindow, false},
		{`{"id":"msg_%s"}`, wholeWindow, false},
		{`{"type":"item_reference","id":"msg_%s"}`, wholeWindow, false},
		{`{"type":"function_call_output","call_id":"%s","output":[{"type":"input_file","file_id":"f"}]}`, wholeWindow, false},
		{`{"type":"web_search","n":"%s"}`, wholeWindow, true},
		{`{"type":"file_search","vector_store_ids":["%s"]}`, wholeWindow, true},
		{`{"type":"function","name":"%s"}`, 400, true},
	},
	gemini: {
		{`{"text":"%s"}`, 0, false},
		{`{"inlineData":{"mimeType":"image/png","data":"%s"}}`, 4128, false},
		{`{"inline_data":{"mime_type":"application/pdf","data":"%s"}}`, wholeWindow, false},
		{`{"inlineData":{"mimeType":"video/mp4","data":"%s"}}`, wholeWindow, false},
		{`{"fileData":{"fileUri":"https://example.com/%s"}}`, wholeWindow, false},
		{`{"something_new":"%s"}`, wholeWindow, false},
		{`{"urlContext":{"n":"%s"}}`, wholeWindow, true},
		{`{"google_search":{"n":"%s"}}`, wholeWindow, true},
		{`{"functionDeclarations":[{"name":"%s"}]}`, 400, true},
	},
}

// demandOf makes a request by chance, and has the provider read as much for it as it may.
func demandOf(api API, by *rand.Rand, leave int) demand {
	var parts, tools []string
	open, beside, output := false, int64(0), 1+by.Int64N(200)
	for range 1 + by.IntN(4) {
		p := partsOf[api][by.IntN(len(partsOf[api]))]
		text := fmt.Sprintf(p.text, strings.Repeat("#", by.IntN(3000)))
		if p.tool {
			tools = append(tools, text)
		} else {
			parts = append(parts, text)
		}
		open, beside = open || p.tokens == wholeWindow, beside+p.tokens
	}
	list := "[" + strings.Join(parts, ",") + "]"
	body := map[API]string{
		Anthropic: fmt.Sprintf(`{"model":"m","stream":true,"max_tokens":%d,"messages":[{"role":"user","content":%s}],"tools":[%s]}`, output, list, strings.Join(tools, ",")),
		openAI:    fmt.Sprintf(`{"model":"m","stream":true,"max_output_tokens":%d,"input":%s,"tools":[%s]}`, output, list, strings.Join(tools, ",")),
		gemini:    fmt.Sprintf(`{"contents":[{"parts":%s}],"tools":[%s],"generationConfig":{"maxOutputTokens":%d}}`, list, strings.Join(tools, ","), output),
	}[api]
	bytes := int64(len(body)) // a token for each, but for those of images
	for _, p := range parts {
		if strings.Contains(p, "image/png") {
			bytes -= int64(strings.Count(p, "#"))
		}
	}
	most := min(wholeWindow, bytes+beside)
	if open {
		most = wholeWindow
	}
	return demand{body, most, float64(most)*inputPrice + float64(output)*outputPrice, leave}
}

// answerOf is what a provider says: what it has read at once, where its protocol does so, or at the end.
func answerOf(api API, input int64) string {
	return fmt.Sprintf(map[API]string{
		Anthropic: "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":%d,\"output_tokens\":1}}}\n\n" +
			"data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"x\"}}\n\ndata: {\"type\":\"message_stop\"}\n\n",
		openAI: "data: {\"type\":\"response.output_text.delta\",\"delta\":\"x\"}\n\n" +
			"data: {\"type\":\"response.completed\",\"response\":{\"model\":\"m\",\"usage\":{\"input_tokens\":%d,\"output_tokens\":1}}}\n\n",
		gemini: "data: {\"modelVersion\":\"m\",\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"x\"}]}}]}\n\n" +
			"data: {\"modelVersion\":\"m\",\"usageMetadata\":{\"promptTokenCount\":%d,\"candidatesTokenCount\":1}}\n\n",
	}[api], input)
}

// bank is a provider that bills what it reads when it has a request, and what it says as it says it.
type bank struct {
	mu     sync.Mutex
	billed float64
	asked  int
	most   float64 // of one request
}

func (b *bank) bill(usd, most float64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.billed += usd
	b.asked++
	b.most = max(b.most, most)
}

// serve answers a request with its first bytes, or with all, and waits then until the client is gone.
func (b *bank) serve(api API, known *sync.Map, came func()) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		data, err := io.ReadAll(r.Body)
		v, ok := known.Load(string(data))
		if err != nil || !ok {
			return // it has not all of the request
		}
		d := v.(demand)
		b.bill(float64(d.input)*inputPrice+outputPrice, d.most) // no model says less
		answer := answerOf(api, d.input)
		came()
		w.Header().Set("Content-Type", "text/event-stream")
		w.WriteHeader(http.StatusOK)
		_, _ = io.WriteString(w, answer[:min(d.leave, len(answer))]) // the client may be gone
		w.(http.Flusher).Flush()
		if d.leave < len(answer) {
			<-r.Context().Done()
		}
	}
}

// demandAt sends a request to a gate, and leaves when so many bytes of the answer are there, or the request has arrived.
func demandAt(t *testing.T, g *gate, api API, d demand, came <-chan struct{}) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	at := map[API]string{Anthropic: "/v1/messages", openAI: "/responses", gemini: "/v1beta/models/m:streamGenerateContent?alt=sse"}[api]
	r, err := http.NewRequestWithContext(ctx, "POST", g.URL(string(api))+at, strings.NewReader(d.body))
	if err != nil {
		t.Error(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+g.Placeholder())
	if d.leave == 0 {
		go func() { <-came; cancel() }()
	}
	if res, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r); err == nil {
		_, _ = io.CopyN(io.Discard, res.Body, int64(d.leave))
		res.Body.Close()
	}
}

// Whatever an agent sends, and whenever it leaves, what the provider bills passes the budget by one request at most, and
// the gate has counted no less.
func TestWhateverIsSentKeepsToTheBudget(t *testing.T) {
	for _, api := range []API{Anthropic, openAI, gemini} {
		for seed := range uint64(12) {
			by := rand.New(rand.NewPCG(seed, 7))
			tryBudget(t, api, []float64{0.002, 0.05, 1.5, 3}[by.IntN(4)], 16, func() demand { return demandOf(api, by, by.IntN(1000)) })
		}
	}
}

// A client that leaves after any byte of an answer has used what its provider has read.
func TestLeavingAtAnyByteHidesNothing(t *testing.T) {
	for _, api := range []API{Anthropic, openAI, gemini} {
		by := rand.New(rand.NewPCG(3, 3))
		for leave := range len(answerOf(api, 1000)) + 1 {
			tryBudget(t, api, 100, 1, func() demand { return demandOf(api, by, leave) })
		}
	}
}

// tryBudget sends requests to a gate at once.
func tryBudget(t *testing.T, api API, usd float64, requests int, next func() demand) {
	known, b, came := &sync.Map{}, &bank{}, make(chan struct{}, requests)
	g := before(t, api, Config{World: World{Open: true}, Limits: limits{USD: usd, Price: testPrice}}, b.serve(api, known, func() { came <- struct{}{} }))
	var all sync.WaitGroup
	for range requests {
		d := next()
		known.Store(d.body, d)
		all.Go(func() { demandAt(t, g, api, d, came) })
	}
	all.Wait()
	g.server.Shutdown(t.Context())
	counted := g.Close().USD
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.billed > usd+b.most || counted < b.billed*0.9999 || b.asked == 0 {
		t.Errorf("%s: a budget of $%.4f, and the provider billed $%.6f for %d requests, of at most $%.4f each; counted is $%.6f", api, usd, b.billed, b.asked, b.most, counted)
	}
}
