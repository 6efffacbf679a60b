package gate

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

const realKey = "sk-the-real-one"

// providerAt is a provider that stands at an address.
func providerAt(t *testing.T, api API, base string) Provider {
	t.Helper()
	u, err := url.Parse(base)
	testenv.Must(t, err)
	return Provider{Name: string(api), API: api, Base: u, Header: http.Header{"X-Api-Key": {realKey}}}
}

// opened opens a gate until the test ends.
func opened(t *testing.T, c Config) *gate {
	t.Helper()
	g, err := Open(c)
	testenv.Must(t, err)
	t.Cleanup(func() { g.Close() })
	return g
}

// before gives a gate before a provider that answers with h.
func before(t *testing.T, api API, c Config, h http.HandlerFunc) *gate {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	c.Providers = append(c.Providers, providerAt(t, api, s.URL+"/base"))
	return opened(t, c)
}

var routes = map[API]string{Anthropic: "/v1/messages", openAI: "/responses", gemini: "/v1beta/models/m:streamGenerateContent"}

// ask makes a request to a model, with the placeholder as its key.
func ask(t *testing.T, g *gate, api API, body string) *http.Response {
	t.Helper()
	return send(t, g, http.MethodPost, g.URL(string(api))+routes[api], g.Placeholder(), strings.NewReader(body))
}

func send(t *testing.T, g *gate, method, address, key string, body io.Reader) *http.Response {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, address, body)
	testenv.Must(t, err)
	r.Header.Set("Authorization", "Bearer "+key)
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	res, err := client.Do(r)
	testenv.Must(t, err)
	t.Cleanup(func() { res.Body.Close() })
	return res
}

func textOf(t *testing.T, res *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatalf("reading the answer: %v after %d bytes", err, len(data))
	}
	return string(data)
}

func TestTheRealKeyIsPutIn(t *testing.T) {
	for _, show := range []func(r *http.Request, key string){
		func(r *http.Request, key string) { r.Header.Set("X-Api-Key", key) },
		func(r *http.Request, key string) { r.Header.Set("Authorization", "Bearer "+key) },
		func(r *http.Request, key string) { r.Header.Set("X-Goog-Api-Key", key) },
		func(r *http.Request, key string) { r.URL.RawQuery = "beta=true&key=" + key },
	} {
		var got *http.Request
		var body []byte
		g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, r *http.Request) {
			got = r.Clone(r.Context())
			body, _ = io.ReadAll(r.Body)
			io.WriteString(w, anthropicWhole)
		})
		r, _ := http.NewRequest(http.MethodPost, g.URL("anthropic")+"/v1/messages?beta=true", strings.NewReader(`{"model":"m"}`))
		r.Header.Set("Cookie", "a="+g.Placeholder())
		r.Header.Set("Anthropic-Beta", "x")
		show(r, g.Placeholder())
		res := fetched(t, r)
		if textOf(t, res) != anthropicWhole || string(body) != `{"model":"m"}` {
			t.Errorf("status %d, the provider got %q", res.StatusCode, body)
		}
		if got.URL.Path != "/base/v1/messages" || got.URL.RawQuery != "beta=true" || got.Header.Get("Anthropic-Beta") != "x" || got.Host == g.address {
			t.Errorf("asked for %s at %s with %v", got.URL, got.Host, got.Header)
		}
		var wire bytes.Buffer
		got.Header.Write(&wire)
		if got.Header.Get("X-Api-Key") != realKey || strings.Contains(wire.String()+got.URL.String(), g.Placeholder()) {
			t.Errorf("the provider saw %s %s", got.URL, wire.String())
		}
	}
}

func TestOnlyWhatAnAgentNeedsPasses(t *testing.T) {
	asked := 0
	g := before(t, openAI, Config{Providers: []Provider{providerAt(t, gemini, "http://127.0.0.1:1")}}, func(http.ResponseWriter, *http.Request) { asked++ })
	other := opened(t, Config{})
	for name, tt := range map[string]struct {
		method, path, key string
		want              int
	}{
		"no key":                   {"POST", "/openai/responses", "", 401},
		"a guess":                  {"POST", "/openai/responses", "reprise-00000000000000000000000000000000", 401},
		"the key of another call":  {"POST", "/openai/responses", other.Placeholder(), 401},
		"an unknown provider":      {"POST", "/anthropic/v1/messages", g.Placeholder(), 404},
		"another service":          {"GET", "/openai/files", g.Placeholder(), 404},
		"an answer of another one": {"GET", "/openai/responses/resp_1", g.Placeholder(), 404},
		"a way around":             {"POST", "/openai/models/../files", g.Placeholder(), 404},
		"a way around, escaped":    {"GET", "/openai/models/%2e%2e%2ffiles", g.Placeholder(), 404},
		"a tuned model's rights":   {"POST", "/gemini/v1beta/tunedModels/x/permissions", g.Placeholder(), 404},
		"a sign of life":           {"HEAD", "/openai/", "", 200},
	} {
		r, _ := http.NewRequest(tt.method, "http://"+g.address+tt.path, nil)
		r.URL.Opaque = "//" + g.address + tt.path // as it is
		r.Header.Set("X-Api-Key", tt.key)
		res := fetched(t, r)
		if res.Body.Close(); res.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", name, res.StatusCode, tt.want)
		}
	}
	if asked != 0 {
		t.Errorf("the provider was asked %d times", asked)
	}
	if res := send(t, g, "GET", g.URL("openai")+"/models", g.Placeholder(), nil); res.StatusCode != 200 || asked != 1 {
		t.Errorf("the list of models: status %d, asked %d times", res.StatusCode, asked)
	}
}

// A socket of the web would not show what is used; clients go on without it.
func TestNoWebSockets(t *testing.T) {
	g := before(t, openAI, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it reached the provider") })
	r, _ := http.NewRequest("GET", g.URL("openai")+"/responses", nil)
	r.Header.Set("Authorization", "Bearer "+g.Placeholder())
	r.Header.Set("Connection", "Upgrade")
	r.Header.Set("Upgrade", "websocket")
	res := fetched(t, r)
	if res.Body.Close(); res.StatusCode != http.StatusUpgradeRequired {
		t.Errorf("status %d", res.StatusCode)
	}
}

// log collects events.
type events struct {
	mu  sync.Mutex
	all []event
}

func (e *events) add(x event) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.all = append(e.all, x)
}

func (e *events) has(x event) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Contains(e.all, x)
}
