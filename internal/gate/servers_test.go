package gate

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// toolsAt opens a gate before a server of tools.
func toolsAt(t *testing.T, h http.HandlerFunc) *gate {
	t.Helper()
	far := httptest.NewServer(h)
	t.Cleanup(far.Close)
	at, err := url.Parse(far.URL + "/mcp?team=a")
	testenv.Must(t, err)
	return opened(t, Config{Tools: []Server{{Name: "words", URL: at, Header: http.Header{"Authorization": {"Bearer the-real-one"}, "X-Team": {"blue"}}}}})
}

// A server of tools is asked at its one address, with the headers that clients never see.
func TestServersOfTools(t *testing.T) {
	g := toolsAt(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("Mcp-Session-Id", "s1")
		if r.Method == http.MethodGet {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		if how := r.Header.Get("Accept-Encoding"); how != "identity" {
			t.Errorf("an answer may come in %q, in which no key would be found", how)
		}
		if strings.Contains(string(body), "wrong") {
			http.Error(w, "who is "+r.Header.Get("Authorization")+"?", http.StatusForbidden)
			return
		}
		fmt.Fprintf(w, "%s %s %s %s %s %s", r.Method, r.URL, r.Header.Get("Authorization"), r.Header.Get("X-Team"), r.Header.Get("Mcp-Protocol-Version"), body)
	})
	ask := func(method, address, key, body string) (int, string, http.Header) {
		r, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
		testenv.Must(t, err)
		r.Header.Set("Authorization", "Bearer "+key)
		r.Header.Set("Mcp-Protocol-Version", "2025-06-18")
		r.Header.Set("Cookie", "a=b")
		r.Header.Set("Accept-Encoding", "br, deflate")
		res := fetched(t, r)
		return res.StatusCode, textOf(t, res), res.Header
	}
	at := g.serverURL("words")
	if code, text, h := ask("POST", at+"?team=b", g.Placeholder(), "hello"); code != 200 || text != "POST /mcp?team=a Bearer [the key] blue 2025-06-18 hello" || h.Get("Mcp-Session-Id") != "s1" {
		t.Errorf("status %d, headers %v: %s", code, h, text)
	}
	if code, text, _ := ask("POST", at, g.Placeholder(), "wrong"); code != 403 || strings.Contains(text, "the-real-one") || !strings.Contains(text, "[the key]") {
		t.Errorf("status %d: %s", code, text)
	}
	for name, tt := range map[string]struct {
		method, address, key string
		want                 int
	}{
		"no stream of events":  {"GET", at, g.Placeholder(), 405},
		"another key":          {"POST", at, "sesame", 401},
		"another path":         {"POST", at + "/admin", g.Placeholder(), 404},
		"another server":       {"POST", g.serverURL("other"), g.Placeholder(), 404},
		"another method":       {"PUT", at, g.Placeholder(), 405},
		"a path that goes up":  {"POST", at + "/../words", g.Placeholder(), 404},
		"a model at that path": {"POST", g.URL("anthropic") + "/v1/messages", g.Placeholder(), 404},
	} {
		if code, text, _ := ask(tt.method, tt.address, tt.key, ""); code != tt.want || strings.Contains(text, "the-real-one") {
			t.Errorf("%s: status %d, want %d: %s", name, code, tt.want, text)
		}
	}
	if diff := cmp.Diff([]serverUse{{Server: "words", Count: 3, Failed: 1, Why: "HTTP 403"}}, g.Report().Tools); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A key is found however an answer is cut into pieces, and what is no key comes at once.
func TestKeysInPieces(t *testing.T) {
	const text = "a secret-one, secret-secret-one and secret-o; another-key"
	for size := 1; size <= len(text); size++ {
		for end := range 3 {
			r, w := io.Pipe()
			m := &masked{ReadCloser: r, keys: [][]byte{[]byte("secret-one"), []byte("another-key")}}
			go func() {
				for p := range bytesOf(text+strings.Repeat("s", end), size) {
					w.Write(p)
				}
				w.Close()
			}()
			got, err := io.ReadAll(m)
			if want := "a [the key], secret-[the key] and secret-o; [the key]" + strings.Repeat("s", end); err != nil || string(got) != want {
				t.Fatalf("in pieces of %d: %q, %v", size, got, err)
			}
		}
	}
	r, w := io.Pipe()
	m := &masked{ReadCloser: r, keys: [][]byte{[]byte("secret-one")}}
	go io.WriteString(w, "data: {}\n\n")
	p := make([]byte, 100)
	if n, err := m.Read(p); err != nil || string(p[:n]) != "data: {}\n\n" {
		t.Errorf("%q, %v", p[:n], err)
	}
}

func TestServersOfToolsThatAreNotThere(t *testing.T) {
	far := httptest.NewServer(http.NotFoundHandler())
	at, err := url.Parse(far.URL)
	testenv.Must(t, err)
	far.Close()
	g := opened(t, Config{Tools: []Server{{Name: "words", URL: at}}})
	res := send(t, g, "POST", g.serverURL("words"), g.Placeholder(), strings.NewReader("{}"))
	if text := textOf(t, res); res.StatusCode != http.StatusBadGateway || !strings.Contains(text, at.Host+" gave no answer") {
		t.Errorf("status %d: %s", res.StatusCode, text)
	}
	if asked := g.Report().Tools; len(asked) != 1 || asked[0].Failed != 1 || !strings.Contains(asked[0].Why, "refused") {
		t.Errorf("%+v", asked)
	}
	if _, err := Open(Config{Tools: []Server{{Name: "a/b", URL: at}}}); err == nil {
		t.Error("a name with a slash is taken")
	}
}
