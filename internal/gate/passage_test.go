package gate

import (
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// opened opens the passage of a call until the test ends.
func openedPassage(t *testing.T, c Call) *Passage {
	t.Helper()
	if c.Price == nil {
		c.Price = prices
	}
	p, err := OpenPassage(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

// prices knows four models, of which one is ten times as dear for long prompts.
func prices(model string, u metadata.Usage, prompt int64) (float64, bool) {
	rate, known := map[string]float64{"large-1": 5, "small-1": 1, "claude-haiku-4-5": 1, "long-1": 1}[model]
	if !known {
		rate = 10
	}
	if model == "long-1" && prompt > 1e6 {
		rate *= 10
	}
	return rate * (float64(u.InputTokens) + float64(u.CachedTokens)/10 + 5*float64(u.OutputTokens)) / 1e6, known
}

// TestKeysStayOutside has, for each agent, what of its environment is a placeholder
// and what is an address of the gate.
func TestKeysStayOutside(t *testing.T) {
	anthropic := []string{"ANTHROPIC_API_KEY=sesame", "ANTHROPIC_BASE_URL=https://gw.test/a", "ANTHROPIC_CUSTOM_HEADERS=X-Team: sesame"}
	for name, tt := range map[string]struct {
		agent    string
		env      []string
		settings string
		login    bool
		want     []string
	}{
		"claude":          {"claude", anthropic, "", false, []string{"ANTHROPIC_API_KEY=KEY", "ANTHROPIC_BASE_URL=GATE/anthropic"}},
		"claude's token":  {"claude", []string{"CLAUDE_CODE_OAUTH_TOKEN=sesame"}, "", false, []string{"ANTHROPIC_BASE_URL=GATE/anthropic", "CLAUDE_CODE_OAUTH_TOKEN=KEY"}},
		"codex":           {"codex", []string{"OPENAI_API_KEY=sesame"}, "", false, []string{"OPENAI_API_KEY=KEY", "OPENAI_BASE_URL=GATE/openai"}},
		"gemini":          {"gemini", []string{"GEMINI_API_KEY=sesame"}, "", false, []string{"GEMINI_API_KEY=KEY", "GOOGLE_GEMINI_BASE_URL=GATE/gemini"}},
		"gemini's key":    {"gemini", []string{"GEMINI_API_KEY=sesame"}, `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`, false, []string{"GEMINI_API_KEY=KEY", "GOOGLE_GEMINI_BASE_URL=GATE/gemini"}},
		"gemini's login":  {"gemini", []string{"GEMINI_API_KEY=own"}, "{ // mine\n\"security\": {\"auth\": {\"selectedType\": \"oauth-personal\"}}}", false, []string{"GEMINI_API_KEY=own"}},
		"an older choice": {"gemini", []string{"GEMINI_API_KEY=own"}, `{"selectedAuthType":"oauth-personal"}`, false, []string{"GEMINI_API_KEY=own"}},
		"a program":       {"command", []string{"OPENAI_API_KEY=sesame", "OTHER_KEY=other"}, "", false, []string{"OPENAI_API_KEY=KEY", "OPENAI_BASE_URL=GATE/openai"}},
		"two keys":        {"command", []string{"OPENAI_API_KEY=sesame", "GOOGLE_API_KEY=sesame"}, "", false, []string{"GOOGLE_API_KEY=KEY", "GOOGLE_GEMINI_BASE_URL=GATE/gemini", "OPENAI_API_KEY=KEY", "OPENAI_BASE_URL=GATE/openai"}},
		"a check":         {"", []string{"OPENAI_API_KEY=own"}, "", false, []string{"OPENAI_API_KEY=own"}},
		"no key":          {"claude", nil, "", false, nil},
		"an empty key":    {"claude", []string{"ANTHROPIC_API_KEY="}, "", false, []string{"ANTHROPIC_API_KEY="}},
		"another cloud":   {"claude", []string{"ANTHROPIC_API_KEY=own", "CLAUDE_CODE_USE_BEDROCK=1"}, "", false, []string{"ANTHROPIC_API_KEY=own"}},
		"Vertex":          {"gemini", []string{"GOOGLE_API_KEY=own", "GOOGLE_GENAI_USE_VERTEXAI=true"}, "", false, []string{"GOOGLE_API_KEY=own"}},
		"a key of a file": {"claude", []string{"ANTHROPIC_API_KEY=own"}, `{"apiKeyHelper":"x"}`, false, []string{"ANTHROPIC_API_KEY=own"}},
		"settings":        {"claude", []string{"ANTHROPIC_API_KEY=sesame"}, `{"env":{"ANTHROPIC_MODEL":"opus","X":1}}`, false, []string{"ANTHROPIC_API_KEY=KEY", "ANTHROPIC_BASE_URL=GATE/anthropic"}},
		"other settings":  {"claude", []string{"ANTHROPIC_API_KEY=own"}, `{"env":{"ANTHROPIC_BASE_URL":"https://x.test"}}`, false, []string{"ANTHROPIC_API_KEY=own"}},
		"a login":         {"codex", []string{"OPENAI_API_KEY=own"}, "", true, []string{"OPENAI_API_KEY=own"}},
		"own provider":    {"codex", []string{"OPENAI_API_KEY=own"}, "model_provider = \"mine\"\n", false, []string{"OPENAI_API_KEY=own"}},
	} {
		t.Run(name, func(t *testing.T) {
			p := openedPassage(t, Call{Agent: tt.agent, Env: append(tt.env, "NO_PROXY=corp.test"), Settings: []byte(tt.settings), Login: tt.login})
			var got []string
			for _, kv := range p.Env {
				if strings.Contains(kv, "sesame") {
					t.Errorf("the program sees %s", kv)
				}
				if regexp.MustCompile(`^[A-Z]+_(API_KEY|BASE_URL|GEMINI_BASE_URL|CODE_OAUTH_TOKEN|CUSTOM_HEADERS)=`).MatchString(kv) {
					got = append(got, kv)
				}
			}
			slices.Sort(got)
			noProxy := "corp.test"
			if p.gate != nil {
				for i := range got {
					got[i] = strings.NewReplacer(p.gate.Placeholder(), "KEY", strings.TrimSuffix(p.gate.URL(""), "/"), "GATE").Replace(got[i])
				}
				noProxy += ",127.0.0.1,localhost"
				if tt.agent == "command" && !strings.HasPrefix(process.Lookup(p.Env, "REPRISE_MODEL_URL"), strings.TrimSuffix(p.gate.URL(""), "/")+"/openai") {
					t.Errorf("%q", p.Env)
				}
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("environment (-want +got):\n%s", d)
			}
			if got := process.Lookup(p.Env, "NO_PROXY"); got != noProxy {
				t.Errorf("NO_PROXY is %q", got)
			}
		})
	}
}

func TestABaseAddressThatIsNone(t *testing.T) {
	if _, err := OpenPassage(Call{Agent: "claude", Env: []string{"ANTHROPIC_API_KEY=x", "ANTHROPIC_BASE_URL=gw.test"}}); err == nil || !strings.Contains(err.Error(), "ANTHROPIC_BASE_URL is no address") {
		t.Errorf("error %v", err)
	}
}

// A program that may reach nothing still has a gate, which says what it asked for.
func TestAGateThatLetsNothingThrough(t *testing.T) {
	for _, closed := range []bool{true, false} {
		if p := openedPassage(t, Call{Network: pipelines.Network{Closed: closed}}); (p.Port() != 0) != closed || (process.Lookup(p.Env, "HTTPS_PROXY") != "") != closed {
			t.Errorf("closed %v: port %d, %q", closed, p.Port(), p.Env)
		}
	}
}

// Programs in Java are led through the gate by properties, beside those that they are given.
func TestJavaGoesThroughTheGate(t *testing.T) {
	const name, given = "JAVA_TOOL_OPTIONS", "-Duser.home=\"/a b\""
	p := openedPassage(t, Call{Env: []string{name + "=" + given}, Network: pipelines.Network{Closed: true, Allow: []string{"repo.maven.apache.org"}}})
	got := process.Lookup(p.Env, name)
	if !strings.HasPrefix(got, given+" -D") || strings.Contains(got, p.gate.Placeholder()) {
		t.Errorf("%s is %q", name, got)
	}
	for _, scheme := range []string{"http", "https"} {
		if !strings.Contains(got, fmt.Sprintf("-D%s.proxyHost=127.0.0.1 -D%[1]s.proxyPort=%d ", scheme, p.Port())) {
			t.Errorf("%s is %q", name, got)
		}
	}
	if p := openedPassage(t, Call{Env: []string{name + "=" + given}}); process.Lookup(p.Env, name) != given {
		t.Errorf("in an open network, %s is %q", name, process.Lookup(p.Env, name))
	}
}

// served gives the passage of a call to a service that answers with h.
func served(t *testing.T, c Call, h http.HandlerFunc) (p *Passage, ask func() int) {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	c.Agent, c.Env = "claude", []string{"ANTHROPIC_API_KEY=sesame", "ANTHROPIC_BASE_URL=" + s.URL}
	p = openedPassage(t, c)
	return p, func() int {
		r, _ := http.NewRequest(http.MethodPost, process.Lookup(p.Env, "ANTHROPIC_BASE_URL")+"/v1/messages", strings.NewReader(`{"model":"large-1"}`))
		r.Header.Set("X-Api-Key", process.Lookup(p.Env, "ANTHROPIC_API_KEY"))
		res := fetched(t, r)
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return res.StatusCode
	}
}

const oneAnswer = `{"model":"large-1","usage":{"input_tokens":1000,"cache_creation_input_tokens":200,"cache_read_input_tokens":500,"output_tokens":50}}`

func TestALimitIsReached(t *testing.T) {
	for limit, c := range map[string]Call{"turns": {Turns: 2}, "budget": {USD: 0.01}} {
		p, ask := served(t, c, func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, oneAnswer) })
		for range 3 {
			ask()
		}
		if r := <-p.Tell(); r != process.Done {
			t.Errorf("the program is told %v", r)
		}
		r := Told{}
		p.Complete(p.Close(), &r)
		used, _ := prices("large-1", metadata.Usage{InputTokens: 2500, CachedTokens: 1000, OutputTokens: 100}, 0) // to write 400 to a cache costs as 500
		want := Told{
			Model: "large-1", Limit: limit,
			Usage: metadata.Usage{InputTokens: 2400, CachedTokens: 1000, OutputTokens: 100, Turns: 2, USD: used, Estimated: true, ByGate: true},
		}
		if d := cmp.Diff(want, r, cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-9 })); d != "" {
			t.Errorf("%s (-want +got):\n%s", limit, d)
		}
	}
}

func TestTroubleOfTheService(t *testing.T) {
	limit := `{"error":{"type":"usage_limit_reached","resets_in_seconds":13872}}`
	for name, tt := range map[string]struct {
		after string
		want  Trouble
	}{
		"a wrong key":          {"", Trouble{Status: 401, Ends: true}},
		"a long wait":          {"60", Trouble{Status: 429, RetryAfter: time.Minute, Ends: true}},
		"a short wait":         {"1", Trouble{Status: 429, RetryAfter: time.Second}},
		"overloaded":           {"60", Trouble{Status: 529, RetryAfter: time.Minute, Ends: true}},
		"a wait in the answer": {"", Trouble{Status: 429, Said: limit, RetryAfter: 13872 * time.Second, Ends: true}},
	} {
		p, ask := served(t, Call{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tt.after)
			w.WriteHeader(tt.want.Status)
			io.WriteString(w, tt.want.Said)
		})
		if got := ask(); got != tt.want.Status {
			t.Errorf("%s: the program got %d", name, got)
		}
		p.Close()
		if told := len(p.tell) == 1 && <-p.tell == process.GiveUp; told != tt.want.Ends {
			t.Errorf("%s: told %v", name, told)
		}
		if d := cmp.Diff(&tt.want, p.Trouble()); d != "" {
			t.Errorf("%s (-want +got):\n%s", name, d)
		}
	}
}

// A service that has no room again and again ends the call, although it asks for no long
// wait: soon where nothing was done yet, and later where something would be lost.
func TestNoRoomAgainAndAgain(t *testing.T) {
	for name, tt := range map[string]struct {
		answers []int // before: statuses of the service
		after   string
		want    int // answers without room until the call ends
	}{
		"at first":                 {nil, "", fullAtFirst},
		"with a short wait":        {nil, "1", fullAtFirst},
		"after something was done": {[]int{200}, "", fullLater},
		"after some room":          {[]int{529, 529, 200, 529, 200}, "", fullLater},
		"another error between":    {[]int{529, 500, 529}, "", fullAtFirst - 2},
	} {
		status := 0
		p, ask := served(t, Call{}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", tt.after)
			w.WriteHeader(status)
			io.WriteString(w, oneAnswer)
		})
		for _, status = range tt.answers {
			ask()
		}
		if len(p.tell) > 0 {
			t.Errorf("%s: it ended too early", name)
		}
		status = 529
		for n := range tt.want {
			if len(p.tell) > 0 {
				t.Errorf("%s: it ended after %d", name, n)
			}
			ask()
		}
		if got := p.Trouble(); len(p.tell) != 1 || <-p.tell != process.GiveUp || !got.Ends || got.RetryAfter != respite || got.Status != 529 {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// A service that had no room, and then had some, is no trouble any more. Nor is a
// long wait worth starting over for when something was done.
func TestTroubleThatPassed(t *testing.T) {
	status := 429
	p, ask := served(t, Call{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", map[int]string{429: "1", 529: "60"}[status])
		w.WriteHeader(status)
		io.WriteString(w, oneAnswer)
	})
	ask()
	status = 200
	if ask(); p.Trouble() != nil {
		t.Errorf("%+v", p.Trouble())
	}
	status = 529
	if ask(); p.Trouble() == nil || p.Trouble().Ends || len(p.tell) > 0 {
		t.Errorf("%+v", p.Trouble())
	}
}

// What a program says counts where it is about what came through, and never where it is
// less: whoever breaks one answer off, or calls output cached input, hides nothing by it.
func TestWhoseFiguresCount(t *testing.T) {
	seen := Report{Turns: 2, USD: 0.5, Usage: map[string]usage{"small": {Tokens: tokens{Input: 10}}, "large": {Tokens: tokens{Input: 590, CacheWrite: 100, CacheRead: 200, Output: 100}}}}
	gates := metadata.Usage{InputTokens: 700, CachedTokens: 200, OutputTokens: 100, Turns: 2, USD: 0.5, Estimated: true, ByGate: true}
	near, far := metadata.Usage{InputTokens: 680, CachedTokens: 195, OutputTokens: 98, USD: 0.6, Turns: 1}, metadata.Usage{InputTokens: 900, USD: 0.4, Turns: 1}
	hidden, uncached := metadata.Usage{InputTokens: 700, CachedTokens: 245, OutputTokens: 55, USD: 0.6}, metadata.Usage{InputTokens: 640, CachedTokens: 260, OutputTokens: 100, USD: 0.6}
	with := func(u metadata.Usage, usd float64, estimated bool) metadata.Usage {
		u.USD, u.Estimated = usd, estimated
		return u
	}
	raised := func(u metadata.Usage) metadata.Usage {
		u.USD, u.Estimated, u.ByGate = 0.5, true, true
		return u
	}
	searched, broken, brokenMore := seen, seen, metadata.Usage{InputTokens: 2000, OutputTokens: 200, USD: 0.7}
	searched.Extra = 0.25
	broken.Usage = map[string]usage{"small": {Tokens: tokens{Input: 10}, Estimated: true}, "large": seen.Usage["large"]}
	for name, tt := range map[string]struct {
		seen      Report
		own, want metadata.Usage
		warnings  int
	}{
		"it gives none":                  {seen, metadata.Usage{}, gates, 0},
		"about the same":                 {seen, near, near, 0},
		"others":                         {seen, far, gates, 1},
		"output that it calls cached":    {seen, hidden, gates, 1},
		"input that it calls cached":     {seen, uncached, gates, 1},
		"the same for less":              {seen, with(near, 0.1, false), raised(near), 1},
		"the same for a little less":     {seen, with(near, 0.49, false), raised(near), 0},
		"nothing was seen":               {Report{}, far, far, 0},
		"one broke off, and it is less":  {broken, far, gates, 1},
		"one broke off, and it is more":  {broken, brokenMore, brokenMore, 0},
		"more, and for less":             {broken, with(brokenMore, 0.3, false), raised(brokenMore), 1},
		"one broke off, and no own":      {broken, metadata.Usage{}, gates, 1},
		"with a search":                  {searched, with(near, 0.4, true), with(near, 0.65, true), 0},
		"knows of the search":            {searched, near, near, 0},
		"a session that goes on":         {seen, with(near, 0.6, false), raised(near), 0},
		"a session that goes on, in all": {seen, metadata.Usage{InputTokens: 2 * far.InputTokens, OutputTokens: 4000, CachedTokens: 90_000, USD: 0.9}, gates, 0},
		"long prompts":                   {seen, with(near, 0.2, true), raised(near), 0},
	} {
		r := Told{Usage: tt.own}
		correctUsage(Call{Agent: "x", Resumed: strings.HasPrefix(name, "a session that goes on")}, tt.seen, &r)
		if r.Usage != tt.want || len(r.Warnings) != tt.warnings {
			t.Errorf("%s: %+v, %q; want %+v", name, r.Usage, r.Warnings, tt.want)
		}
		if name == "it gives none" && r.Model != "large" {
			t.Errorf("the model is %q", r.Model)
		}
		if r.Usage.USD < tt.seen.USD {
			t.Errorf("%s: $%v, and $%v came through", name, r.Usage.USD, tt.seen.USD)
		}
	}
}

// What is written to a cache has another price than what is not.
func TestPriceOfCaches(t *testing.T) {
	c := Call{Price: prices}
	for want, used := range map[float64]tokens{
		1: {Input: 1e6}, 1.25: {CacheWrite: 1e6}, 2: {CacheWrite: 1e6, CacheHour: 1e6}, 1.625: {CacheWrite: 1e6, CacheHour: 5e5}, 0.1: {CacheRead: 1e6},
	} {
		if got := c.price("small-1", used); got != want {
			t.Errorf("%+v: %v, want %v", used, got, want)
		}
	}
	// How long a prompt is does not depend on what a cache makes dearer.
	for want, used := range map[float64]tokens{1.135: {CacheWrite: 9e5, CacheRead: 1e5}, 10.00001: {Input: 1e6 + 1}} {
		if got := c.price("long-1", used); math.Abs(got-want) > 1e-9 {
			t.Errorf("%+v: %v, want %v", used, got, want)
		}
	}
}

func TestWhichModelsMayBeAsked(t *testing.T) {
	for _, tt := range []struct {
		named string // after "only", nothing else
		asks  string
		want  bool
	}{
		{"", "anything", true},
		{"only", "anything", false},
		{"only large-1", "large-1-20260101", true},
		{"only large-1", "small-1", false}, // although it is cheaper
		{"only large-1 haiku", "claude-haiku-4-5", true},
		{"opus haiku", "claude-opus-4-8-20260101", true},
		{"opus haiku", "claude-haiku-4-5", true},
		{"sonnet", "mine-7", true}, // so the environment says
		{"claude-haiku-4-5[1m]", "claude-haiku-4-5-20251001", true},
		{"opus", "something-else-9", false},
		{"large-1", "large-1-latest", true},
		{"large-1", "small-1", true}, // cheaper
		{"small-1", "large-1", false},
		{"large-1", "long-1", false}, // where it is asked much at once
		{"large-1", "new-99", false}, // whose price nobody knows
		{"my-own", "small-1", false},
	} {
		named, exact := strings.CutPrefix(tt.named, "only")
		allowed := Call{Models: strings.Fields(named), Exact: exact, Price: prices, Env: []string{"ANTHROPIC_DEFAULT_SONNET_MODEL=mine-7"}}.mayAsk()
		if got := allowed == nil || allowed("p", tt.asks); got != tt.want {
			t.Errorf("%q asks for %q: allowed is %v", tt.named, tt.asks, got)
		}
	}
}
