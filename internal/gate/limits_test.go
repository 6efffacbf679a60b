package gate

import (
	"context"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTurnsAndBudgetEnd(t *testing.T) {
	price := func(_ string, u tokens) float64 { return float64(u.Output) / 1000 } // 4 cents an answer
	for name, tt := range map[string]struct {
		limits limits
		want   int
		limit  limit
	}{
		"turns":  {limits{Turns: 3}, 3, turnLimit},
		"budget": {limits{USD: 0.05, Price: price}, 2, budgetLimit}, // one request past it
		"none":   {limits{}, 5, NoLimit},
	} {
		for api, text := range map[API]string{Anthropic: anthropicStream, openAI: responsesStream, gemini: geminiStream} {
			var seen events
			g := before(t, api, Config{Limits: tt.limits, OnEvent: seen.add}, func(w http.ResponseWriter, _ *http.Request) { stream(w, text) })
			good, last := 0, ""
			for range 5 {
				res := ask(t, g, api, `{"model":"m"}`)
				if last = textOf(t, res); res.StatusCode == 200 {
					good++
				} else if res.StatusCode != 400 || res.Header.Get("X-Should-Retry") != "false" {
					t.Errorf("%s: refused with %d %v", name, res.StatusCode, res.Header)
				}
			}
			if r := g.Close(); good != tt.want || r.Turns != tt.want || r.Limit != tt.limit {
				t.Errorf("%s: %d answers, report %+v", name, good, r)
			}
			if tt.limit != NoLimit && (!seen.has(event{Kind: limitEnded}) || !strings.Contains(last, "the step has used all of its")) {
				t.Errorf("%s: events %+v, last answer %s", name, seen.all, last)
			}
		}
	}
}

// What is being answered counts as far as its answer has said.
func TestABudgetKnowsWhatIsUnderWay(t *testing.T) {
	price := func(_ string, u tokens) float64 { return float64(u.Input) }
	begun, end := make(chan struct{}), make(chan struct{})
	g := before(t, Anthropic, Config{Limits: limits{USD: 5, Price: price}}, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, anthropicStream[:strings.Index(anthropicStream, "event: content")])
		w.(http.Flusher).Flush()
		<-end
	})
	go func() {
		res := ask(t, g, Anthropic, `{"model":"m"}`)
		io.ReadFull(res.Body, make([]byte, 100))
		close(begun)
		io.Copy(io.Discard, res.Body)
	}()
	<-begun
	if res := ask(t, g, Anthropic, `{"model":"m"}`); res.StatusCode != 400 {
		t.Errorf("status %d", res.StatusCode)
	}
	close(end)
}

func TestAskingAtOnceKeepsToTheTurns(t *testing.T) {
	g := before(t, openAI, Config{Limits: limits{Turns: 4}}, func(w http.ResponseWriter, _ *http.Request) { stream(w, responsesStream) })
	var all sync.WaitGroup
	var mu sync.Mutex
	statuses := map[int]int{}
	for range 12 {
		all.Go(func() {
			res := ask(t, g, openAI, `{"model":"m"}`)
			io.Copy(io.Discard, res.Body)
			mu.Lock()
			statuses[res.StatusCode]++
			mu.Unlock()
		})
	}
	all.Wait()
	if d := cmp.Diff(map[int]int{200: 4, 400: 8}, statuses); d != "" {
		t.Error(d)
	}
}

// Requests that come together pass the budget by one at most: where those under way
// may use it up, the others wait until it is known whether they have.
func TestAskingAtOnceKeepsToTheBudget(t *testing.T) {
	price := func(_ string, u tokens) float64 { return float64(u.Output) / 1000 } // 4 cents an answer
	const body = `"max_tokens":40,"messages":"` + "0123456789" + `"}`
	for name, tt := range map[string]struct {
		usd    float64
		api    API
		body   string
		atOnce int // requests that the provider has to be asked together
		good   int
	}{
		"no answer is known to be short":   {0.05, Anthropic, `{"model":"m"}`, 1, 2},
		"the longest would use it up":      {0.05, Anthropic, `{"model":"m","max_tokens":50}`, 1, 2},
		"several answers":                  {0.17, openAI, `{"model":"m","max_output_tokens":40,"n":5}`, 1, 5},
		"from what the provider keeps":     {0.05, openAI, `{"model":"m","max_output_tokens":40,"previous_response_id":"resp_1"}`, 1, 2},
		"short answers, up to the last":    {0.17, Anthropic, `{"model":"m",` + body, 4, 5},
		"Google, with its own name for it": {0.17, gemini, `{"generation_config":{"maxOutputTokens":40}}`, 4, 5},
	} {
		t.Run(name, func(t *testing.T) {
			text := map[API]string{Anthropic: anthropicStream, openAI: responsesStream, gemini: geminiStream}[tt.api]
			var mu sync.Mutex
			under, most, together := 0, 0, make(chan struct{})
			begin := sync.OnceFunc(func() { close(together) })
			g := before(t, tt.api, Config{Limits: limits{USD: tt.usd, Price: price}}, func(w http.ResponseWriter, _ *http.Request) {
				mu.Lock()
				under++
				if most = max(most, under); most == tt.atOnce {
					begin()
				}
				mu.Unlock()
				<-together
				mu.Lock()
				under--
				mu.Unlock()
				stream(w, text)
			})
			var all sync.WaitGroup
			statuses := map[int]int{}
			for range 12 {
				all.Go(func() {
					res := ask(t, g, tt.api, tt.body)
					io.Copy(io.Discard, res.Body)
					mu.Lock()
					statuses[res.StatusCode]++
					mu.Unlock()
				})
			}
			all.Wait()
			if d := cmp.Diff(map[int]int{200: tt.good, 400: 12 - tt.good}, statuses); d != "" || most > tt.atOnce {
				t.Errorf("%d at once, answers (-want +got):\n%s", most, d)
			}
		})
	}
}

// Which requests come in at once is decided by what they may cost, and not by which
// of them is the quicker.
func TestRequestsThatMayUseItUpWait(t *testing.T) {
	l := newLedger(limits{USD: 5}, nil)
	enter := func(most float64) (*entry, <-chan struct{}) {
		x, limit, later := l.enter(most)
		if limit != NoLimit {
			t.Fatalf("limit %q", limit)
		}
		return x, later
	}
	waits := func(when string, later <-chan struct{}) {
		if later == nil {
			t.Fatalf("%s, a request does not wait", when)
		}
	}
	unknown, _ := enter(math.Inf(1))
	_, later := enter(1)
	waits("when nobody knows what the first may cost", later)
	l.drop(unknown)
	<-later // it looks again
	first, _ := enter(3)
	second, later := enter(2)
	if second == nil || later != nil {
		t.Fatal("it waits although there is room")
	}
	_, later = enter(1)
	waits("when both may use it up", later)
	l.charge(first, usage{Requests: 1}, "m", bill{usd: 1})
	<-later
	if x, later := enter(1); x == nil || later != nil {
		t.Error("it waits although the first was cheap")
	}
}

// A request that waits is let go when the call ends.
func TestWaitingEndsWithTheCall(t *testing.T) {
	l := newLedger(limits{USD: 1, Price: func(string, tokens) float64 { return 1 }}, func(e event) { t.Errorf("%+v", e) })
	over, end := context.WithCancel(t.Context())
	end()
	if x, limit := l.admit(over, 1); x == nil || limit != NoLimit {
		t.Errorf("the first one: %v, %q", x, limit)
	}
	if x, limit := l.admit(over, 1); x != nil || limit != NoLimit {
		t.Errorf("the one that waits: %v, %q", x, limit)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	one := limits{Model: func(provider, model string) bool { return model == "good" && provider != "" }}
	long := strings.Repeat("x", 200<<10)
	for name, tt := range map[string]struct {
		api    API
		body   string
		world  World
		want   int
		why    string
		models []string
	}{
		"the model of the pipeline":      {Anthropic, `{"model":"good","tools":[{"type":"custom"},{"type":"bash_20250124"}]}`, World{}, 200, "", nil},
		"another model":                  {Anthropic, `{"model":"dear"}`, World{}, 400, "dear", []string{"dear"}},
		"another model, late":            {openAI, `{"input":"` + long + `","model":"dear"}`, World{}, 400, "dear", []string{"dear"}},
		"another model, in disguise":     {openAI, `{"model":"good","m\u006fdel":"dear"}`, World{}, 400, "dear", []string{"dear"}},
		"a model that is none":           {openAI, `{"model":["good"]}`, World{}, 400, "names no model", nil},
		"no model":                       {openAI, `{"input":"` + long + `"}`, World{}, 400, "names no model", nil},
		"a model in the path":            {gemini, `{}`, World{}, 400, `\"m\"`, []string{"m"}},
		"fetched later":                  {openAI, `{"model":"good","background":true}`, World{Open: true}, 400, "background", nil},
		"not in the background":          {openAI, `{"model":"good","background":false}`, World{}, 200, "", nil},
		"the web, by the provider":       {Anthropic, `{"model":"good","tools":[{"type":"web_fetch_20250910"}]}`, World{}, 400, "web_fetch", nil},
		"the web, in an open world":      {Anthropic, `{"model":"good","tools":[{"type":"web_fetch_20250910"}]}`, World{Open: true}, 200, "", nil},
		"a server, by the provider":      {Anthropic, `{"model":"good","mcp_servers":[{"type":"url","url":"https://evil.test"}]}`, World{}, 400, "other hosts", nil},
		"no server":                      {Anthropic, `{"model":"good","mcp_servers":[]}`, World{}, 200, "", nil},
		"an image that has an address":   {Anthropic, `{"model":"good","messages":[{"content":[{"source":{"type":"url","url":"https://evil.test/?q"}}]}]}`, World{}, 400, "fetch", nil},
		"an image within a document":     {Anthropic, `{"model":"good","messages":[{"content":[{"source":{"type":"content","content":[{"source":{"url":"https://evil.test/?q"}}]}}]}]}`, World{}, 400, "fetch", nil},
		"in another encoding":            {openAI, "{\x00\"\x00m\x00\"\x00:\x00\"\x00", World{}, 400, "UTF-8", nil},
		"an image that has none":         {openAI, `{"model":"good","input":[{"content":[{"image_url":"data:image/png;base64,AA"}]}]}`, World{}, 200, "", nil},
		"an image of a result":           {openAI, `{"model":"good","input":[{"output":[{"image_url":"https://evil.test"}]}]}`, World{}, 400, "fetch", nil},
		"a prompt of the provider's":     {openAI, `{"model":"good","prompt":{"id":"pmpt_1"}}`, World{Open: true}, 400, "a prompt that the provider keeps", nil},
		"no such prompt":                 {openAI, `{"model":"good","prompt":null}`, World{}, 200, "", nil},
		"a tool that asks another model": {Anthropic, `{"model":"good","tools":[{"type":"advisor_20260301","model":"dear"}]}`, World{Open: true}, 400, "dear", []string{"dear"}},
		"a shell of the provider's":      {openAI, `{"model":"good","tools":[{"type":"shell","environment":{"type":"container_auto"}}]}`, World{Open: true}, 400, "containers", nil},
		"a shell of the agent's":         {openAI, `{"model":"good","tools":[{"type":"shell","environment":{"type":"local"}}]}`, World{}, 200, "", nil},
		"the web, in an option":          {openAI, `{"model":"good","web_search_options":{}}`, World{}, 400, "other hosts", nil},
		"how to answer, twice":           {openAI, `{"model":"good","stream":true,"stream":false}`, World{}, 400, "twice", nil},
		"another model, if one fails":    {openAI, `{"model":"good","models":["good","dear"]}`, World{Open: true}, 400, "dear", []string{"dear"}},
		"the same, named otherwise":      {openAI, `{"model":"good","fallbacks":[{"model":"dear"}]}`, World{Open: true}, 400, "dear", []string{"dear"}},
		"good ones, if one fails":        {openAI, `{"model":"good","models":["good"],"fallbacks":null}`, World{}, 200, "", nil},
		"another address":                {openAI, `{"model":"good","api_base":"https://evil.test"}`, World{Open: true}, 400, "another address", nil},
		"the web, by a gateway":          {openAI, `{"model":"good","plugins":[{"id":"web"}]}`, World{}, 400, "other hosts", nil},
		"names without quotes":           {Anthropic, `{"model":"good",mcp_servers:[{"url":"https://evil.test"}]}`, World{}, 400, "no JSON", nil},
		"names in other quotes":          {Anthropic, `{"model":"good",'mcp_servers':[{"url":"https://evil.test"}]}`, World{}, 400, "no JSON", nil},
		"in a comment":                   {Anthropic, `/**/{"model":"good","mcp_servers":[]}`, World{}, 400, "no JSON", nil},
		"two texts":                      {Anthropic, `{"model":"good"} {"x":1}`, World{}, 400, "no JSON", nil},
		"numbers":                        {Anthropic, `{"model":"good","temperature":-1.5E+10,"a":[0,true,false,null]}` + " \n", World{}, 200, "", nil},
		"a search that is nothing's own": {openAI, `{"model":"good","tools":[{"type":"function","name":"web_search"}]}`, World{}, 200, "", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var came []string
			g := before(t, tt.api, Config{Limits: one, World: tt.world}, func(w http.ResponseWriter, r *http.Request) {
				if data, err := io.ReadAll(r.Body); err == nil {
					came = append(came, string(data))
				}
			})
			res := ask(t, g, tt.api, tt.body)
			text := textOf(t, res)
			report := g.Close()
			if res.StatusCode != tt.want || !strings.Contains(text, tt.why) || (len(came) == 1) != (tt.want == 200) {
				t.Errorf("status %d, %s; the provider got %d whole requests", res.StatusCode, text, len(came))
			}
			if d := cmp.Diff(tt.models, report.Models); d != "" {
				t.Error(d)
			}
			if tt.want == 400 && (report.Turns != 0 || len(report.Usage) != 0) {
				t.Errorf("%+v", report)
			}
		})
	}
}

// What Google takes for the same is refused in each spelling.
func TestRequestsThatGoogleReads(t *testing.T) {
	for name, tt := range map[string]struct{ method, at, kind, body, why string }{
		"a file":                  {"POST", "m:generateContent", "", `{"contents":[{"parts":[{"fileData":{"fileUri":"https://evil.test"}}]}]}`, "fetch"},
		"a file, mixed":           {"POST", "m:generateContent", "", `{"contents":[{"parts":[{"fileData":{"file_uri":"https://evil.test"}}]}]}`, "fetch"},
		"a file, mixed otherwise": {"POST", "m:generateContent", "", `{"contents":[{"parts":[{"file_data":{"fileUri":"https://evil.test"}}]}]}`, "fetch"},
		"a file that is counted":  {"POST", "m:countTokens", "", `{"generate_content_request":{"contents":[{"parts":[{"fileData":{"file_uri":"https://evil.test"}}]}]}}`, "fetch"},
		"a server":                {"POST", "m:generateContent", "", `{"tools":[{"mcpServers":[{"name":"x"}]}]}`, "other hosts"},
		"another format":          {"POST", "m:generateContent", "application/x-protobuf", "\n\x01x", "application/json"},
		"a question in a GET":     {"GET", "m:generateContent", "", "", "agents may ask models"},
	} {
		t.Run(name, func(t *testing.T) {
			g := before(t, gemini, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("the provider was asked") })
			r, _ := http.NewRequestWithContext(t.Context(), tt.method, g.URL("gemini")+"/v1beta/models/"+tt.at, strings.NewReader(tt.body))
			r.Header.Set("X-Goog-Api-Key", g.Placeholder())
			if tt.kind != "" {
				r.Header.Set("Content-Type", tt.kind)
			}
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			defer res.Body.Close()
			if text := textOf(t, res); res.StatusCode < 400 || !strings.Contains(text, tt.why) {
				t.Errorf("status %d, %s", res.StatusCode, text)
			}
		})
	}
}

// Nothing has Google take a request for another one.
func TestParametersThatArePassedOn(t *testing.T) {
	g := before(t, gemini, Config{}, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.URL.RawQuery+r.Header.Get("X-Http-Method-Override"))
	})
	r, _ := http.NewRequestWithContext(t.Context(), "GET", g.URL("gemini")+"/v1beta/models?pageSize=5&$alt=proto&alt=proto&$httpMethod=POST&access_token=x&key="+g.Placeholder(), nil)
	r.Header.Set("X-Http-Method-Override", "POST")
	res, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if text := textOf(t, res); text != "pageSize=5" {
		t.Errorf("it was asked with %q", text)
	}
}

// An answer that is under way when the call ends counts.
func TestWhatIsUnderWayAtTheEndCounts(t *testing.T) {
	begun, end, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		stream(w, anthropicStream[:strings.Index(anthropicStream, "event: content")])
		w.(http.Flusher).Flush()
		<-end
	})
	go func() {
		defer close(done)
		res := ask(t, g, Anthropic, `{"model":"claude-x"}`)
		io.ReadFull(res.Body, make([]byte, 100))
		close(begun)
		io.Copy(io.Discard, res.Body)
	}()
	<-begun
	report := g.Close()
	close(end)
	<-done
	if u := report.Usage["claude-x"]; u.Requests != 1 || u.Tokens.Input != 10 || report.Turns != 1 {
		t.Errorf("%+v", report)
	}
}

// Whoever leaves before there is an answer has had a turn; where the provider has
// failed, nobody has.
func TestLeavingIsATurn(t *testing.T) {
	for _, tt := range []struct {
		err     error
		arrived bool
		turns   int
	}{{context.Canceled, true, 1}, {context.Canceled, false, 0}, {io.ErrUnexpectedEOF, true, 0}, {io.ErrUnexpectedEOF, false, 0}} {
		g := before(t, openAI, Config{}, nil)
		x := &exchange{gate: g, provider: g.providers["openai"]}
		x.arrived.Store(tt.arrived)
		x.entry, _ = g.ledger.admit(t.Context(), 0)
		g.unanswered(httptest.NewRecorder(), x, tt.err)
		x.end(context.Canceled)
		if got := g.Report().Turns; got != tt.turns {
			t.Errorf("%+v: %d turns", tt, got)
		}
	}
}
