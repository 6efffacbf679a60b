package gate

import (
	"io"
	"math"
	"net/http"
	"strings"
	"testing"
)

// What answers cost besides tokens counts, and what tokens cost where they have
// another price than usual.
func TestCostsBesidesTokens(t *testing.T) {
	price := func(_ string, u tokens) float64 { return float64(u.Output) } // a dollar each
	const oneSearch = `data: {"type":"response.output_item.added","item":{"type":"web_search_call"}}

data: {"type":"response.output_item.done","item":{"type":"web_search_call"}}

data: {"type":"response.output_text.delta","delta":"hello"}

`
	for name, tt := range map[string]struct {
		api           API
		body, text    string
		tokens, extra float64
	}{
		"nothing":                 {Anthropic, `{"model":"m","tools":[{"type":"bash"}]}`, `{"usage":{"input_tokens":1,"output_tokens":2}}`, 2, 0},
		"two searches":            {Anthropic, `{"model":"m"}`, `{"usage":{"input_tokens":1,"output_tokens":2,"server_tool_use":{"web_search_requests":2}}}`, 2, 0.02},
		"a program":               {Anthropic, `{"model":"m"}`, `{"content":[{"type":"server_tool_use","name":"bash_code_execution"},{"type":"tool_use","name":"bash"}],"usage":{"input_tokens":1,"output_tokens":2}}`, 2, 0.05},
		"a program, in a stream":  {Anthropic, `{"model":"m","tools":[{"type":"code_execution_20250825"}]}`, "data: {\"content_block\":{\"type\":\"server_tool_use\",\"name\":\"code_execution\"}}\n\n" + anthropicStream, 40, 0.05},
		"OpenAI's tools":          {openAI, `{"model":"m"}`, `{"output":[{"type":"web_search_call"},{"type":"file_search_call"},{"type":"code_interpreter_call"},{"type":"image_generation_call"},{"type":"function_call"}],"usage":{"input_tokens":1,"output_tokens":2}}`, 2, 0.3075},
		"a search, in a stream":   {openAI, `{"model":"m","tools":[{"type":"web_search"}]}`, oneSearch + `data: {"response":{"output":[{"type":"web_search_call"}],"usage":{"input_tokens":1,"output_tokens":2}}}` + "\n\n", 2, 0.025},
		"a search that broke off": {openAI, `{"model":"m","tools":[{"type":"web_search"}]}`, oneSearch + oneSearch + `data: {"usage":{"input_tokens":1,"output_tokens":2}}` + "\n\n", 2, 0.05},
		"options of a search":     {openAI, `{"model":"m","web_search_options":{}}`, chatWhole, 40, 0.05},
		"Google's search":         {gemini, `{"tools":[{"googleSearch":{}}]}`, `{"candidates":[{"groundingMetadata":{"webSearchQueries":["a","b"]}}],"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}`, 2, 0.07},
		"sooner, at OpenAI":       {openAI, `{"model":"m","service_tier":"priority"}`, responsesWhole, 40, 60},
		"at some time, at OpenAI": {openAI, `{"model":"m","service_tier":"flex"}`, responsesWhole, 40, 0},
		"sooner, at Anthropic":    {Anthropic, `{"model":"m","speed":"fast"}`, `{"usage":{"input_tokens":1,"output_tokens":2}}`, 2, 10},
		"sooner, at Google":       {gemini, `{"service_tier":"PRIORITY"}`, `{"usageMetadata":{"promptTokenCount":1,"candidatesTokenCount":2}}`, 2, 2},
		"sooner, of a newer one":  {Anthropic, `{"model":"claude-opus-5","speed":"fast"}`, `{"model":"claude-opus-5","usage":{"input_tokens":1,"output_tokens":2}}`, 2, 2},
	} {
		t.Run(name, func(t *testing.T) {
			g := before(t, tt.api, Config{World: World{Open: true}, Limits: limits{Price: price}}, func(w http.ResponseWriter, r *http.Request) {
				io.Copy(io.Discard, r.Body)
				if strings.HasPrefix(tt.text, "data:") {
					stream(w, tt.text)
				} else {
					io.WriteString(w, tt.text)
				}
			})
			if res := ask(t, g, tt.api, tt.body); res.StatusCode != 200 || textOf(t, res) != tt.text {
				t.Errorf("status %d", res.StatusCode)
			}
			if r := g.Close(); math.Abs(r.USD-tt.tokens-tt.extra) > 1e-9 || math.Abs(r.Extra-tt.extra) > 1e-9 {
				t.Errorf("it cost %v, of which %v besides tokens; want %v and %v", r.USD, r.Extra, tt.tokens+tt.extra, tt.extra)
			}
		})
	}
}

// What a cache keeps for an hour is told from what it keeps for less.
func TestCacheOfAnHour(t *testing.T) {
	m := newMeter(Anthropic, false, newRoom())
	m.write([]byte(`{"usage":{"input_tokens":1,"cache_creation_input_tokens":30,"cache_creation":{"ephemeral_5m_input_tokens":10,"ephemeral_1h_input_tokens":20},"output_tokens":2}}`))
	m.end()
	if got, _ := m.total(tokens{}, true, 0); got != (tokens{Input: 1, CacheWrite: 30, Output: 2, CacheHour: 20}) {
		t.Errorf("%+v", got)
	}
}

// A stream of Chat Completions is made to say what was used, and nothing else is changed.
func TestStreamsAreAskedForTheirUsage(t *testing.T) {
	const asks = `"stream_options":{"include_usage":true}`
	for name, tt := range map[string]struct{ body, want string }{
		"a stream":              {`{"model":"m","stream":true}`, `{"model":"m","stream":true,` + asks + `}`},
		"with space behind":     {"{\"stream\": true\n} \n", "{\"stream\": true\n," + asks + "} \n"},
		"one that says no":      {`{"stream_options":{"include_usage":false},"stream":true}`, `{"stream_options":{"include_usage":false},"stream":true,` + asks + `}`},
		"one that asks":         {`{"stream":true,` + asks + `}`, `{"stream":true,` + asks + `}`},
		"no stream":             {`{"model":"m","messages":[{"stream":true}]}`, `{"model":"m","messages":[{"stream":true}]}`},
		"an answer at once":     {`{"stream":false}`, `{"stream":false}`},
		"of more than one read": {`{"stream":true,"x":"` + strings.Repeat("x", 100<<10) + `"}`, `{"stream":true,"x":"` + strings.Repeat("x", 100<<10) + `",` + asks + `}`},
	} {
		for _, length := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				var got string
				g := before(t, openAI, Config{}, func(w http.ResponseWriter, r *http.Request) {
					data, err := io.ReadAll(r.Body)
					if got = string(data); err != nil || r.ContentLength != int64(len(data)) {
						t.Errorf("%d bytes came of %d, %v", len(data), r.ContentLength, err)
					}
					stream(w, chatStream)
				})
				var body io.Reader = strings.NewReader(tt.body)
				if !length {
					body = io.MultiReader(body) // of which nobody knows how long it is
				}
				res := send(t, g, http.MethodPost, g.URL("openai")+"/chat/completions", g.Placeholder(), body)
				if text := textOf(t, res); res.StatusCode != 200 || text != chatStream {
					t.Errorf("status %d, %s", res.StatusCode, text)
				}
				squeeze := strings.NewReplacer(" ", "", "\n", "")
				if squeeze.Replace(got) != squeeze.Replace(tt.want) {
					t.Errorf("the provider got %.300s\nwant %.300s", got, tt.want)
				}
			})
		}
	}
}

// Where a tool of the provider may cost something, each event is read, also one that
// comes among words. The pieces come one after the other, as the client takes them.
func TestToolsAmongWords(t *testing.T) {
	pieces := []string{
		`data: {"response":{"model":"m"}}` + "\n\n",
		`data: {"item":{"type":"web_search_call"}}` + "\n\n" + `data: {"delta":"hello"}` + "\n\n",
		`data: {"usage":{"input_tokens":1,"output_tokens":2}}` + "\n\n",
	}
	next := make(chan struct{}, len(pieces))
	g := before(t, openAI, Config{World: World{Open: true}, Limits: limits{Price: func(string, tokens) float64 { return 0 }}}, func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		for _, p := range pieces {
			io.WriteString(w, p)
			w.(http.Flusher).Flush()
			<-next
		}
	})
	res := ask(t, g, openAI, `{"model":"m","tools":[{"type":"web_search"}]}`)
	for _, p := range pieces {
		if _, err := io.ReadFull(res.Body, make([]byte, len(p))); err != nil {
			t.Fatal(err)
		}
		next <- struct{}{}
	}
	textOf(t, res)
	if r := g.Close(); math.Abs(r.USD-0.0125) > 1e-6 {
		t.Errorf("it cost %v", r.USD)
	}
}

// No request offers a model a shell where the gate allows none, however it says so.
func TestNoShell(t *testing.T) {
	for body, api := range map[string]API{
		`{"model":"m","tools":[{"name":"Read"},{"name":"Bash"}]}`:                                              Anthropic,
		`{"model":"m","tools":[{"name":"\u0042ash"}]}`:                                                         Anthropic,
		`{"model":"m","tools":[],"tools":[{"type":"bash_20250124","name":"b"}]}`:                               Anthropic,
		`{"model":"m","tools":[{"type":"local_shell"}]}`:                                                       openAI,
		`{"model":"m","tools":[{"type":"function","name":"exec_command"}]}`:                                    openAI,
		`{"model":"m","tools":[{"type":"function","function":{"name":"shell"}}]}`:                              openAI,
		`{"model":"m","tools":[{"type":"namespace","tools":[{"name":"shell_command"}]}]}`:                      openAI,
		`{"model":"m","tools":[{"type":"custom","name":"exec","description":"### ` + "`exec_command`" + `"}]}`: openAI,
		`{"tools":[{"functionDeclarations":[{"name":"read_file"},{"name":"run_shell_command"}]}]}`:             gemini,
		`{"tools":[{"function_declarations":[{"name":"run_shell_command"}]}]}`:                                 gemini,
	} {
		g := before(t, api, Config{World: World{Open: true}, NoShell: true}, func(http.ResponseWriter, *http.Request) { t.Errorf("%s is passed on", body) })
		if res := ask(t, g, api, body); res.StatusCode != http.StatusBadRequest || !strings.Contains(textOf(t, res), "by reprise alone") {
			t.Errorf("%s: status %d", body, res.StatusCode)
		}
	}
	for body, api := range map[string]API{
		`{"model":"m","tools":[{"name":"Read"},{"name":"mcp__reprise__run"}],"messages":[{"role":"user","content":"Bash"}]}`: Anthropic,
		`{"model":"m","tools":[{"type":"function","function":{"name":"mcp__reprise__run"}}]}`:                                openAI,
	} {
		g := before(t, api, Config{World: World{Open: true}, NoShell: true}, func(w http.ResponseWriter, r *http.Request) { io.Copy(io.Discard, r.Body) })
		if res := ask(t, g, api, body); res.StatusCode != http.StatusOK {
			t.Errorf("%s: status %d", body, res.StatusCode)
		}
	}
}
