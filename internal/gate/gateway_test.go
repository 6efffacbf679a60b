package gate

import (
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
)

// A gateway such as LiteLLM has names of models with slashes, and an address with a path:
// both arrive as they are.
func TestTheAddressAndModelsOfAGateway(t *testing.T) {
	var path, body string
	g := before(t, openAI, Config{Limits: limits{Model: func(_, model string) bool { return model == "team/gpt:large" }}}, func(w http.ResponseWriter, r *http.Request) {
		data, _ := io.ReadAll(r.Body)
		path, body = r.URL.Path, string(data)
		io.WriteString(w, `{}`)
	})
	for _, at := range []string{"/responses", "/v1/responses"} {
		path, body = "", ""
		const asked = `{"model":"team/gpt:large"}`
		res := send(t, g, http.MethodPost, g.URL("openai")+at, g.Placeholder(), strings.NewReader(asked))
		if textOf(t, res); res.StatusCode != http.StatusOK || path != "/base/responses" || body != asked {
			t.Errorf("%s: status %d, the gateway got %q at %s", at, res.StatusCode, body, path)
		}
	}
	path = ""
	if res := ask(t, g, openAI, `{"model":"gpt:large"}`); res.StatusCode != http.StatusBadRequest || path != "" {
		t.Errorf("a model without its prefix: status %d, the gateway was asked at %q", res.StatusCode, path)
	}
}

// Who finds the port, as another user of the machine may, gets nothing without the key of the call.
func TestAGuessedPortIsNotEnough(t *testing.T) {
	var asked atomic.Int32
	g := before(t, Anthropic, Config{}, func(http.ResponseWriter, *http.Request) { asked.Add(1) })
	for _, key := range []string{"", "guess", realKey, g.Placeholder() + "x", g.Placeholder()[1:]} {
		res := send(t, g, http.MethodPost, g.URL("anthropic")+"/v1/messages", key, strings.NewReader(`{"model":"m"}`))
		if text := textOf(t, res); res.StatusCode != http.StatusUnauthorized || strings.Contains(text, g.Placeholder()) {
			t.Errorf("%q: status %d, %s", key, res.StatusCode, text)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("the provider was asked %d times", n)
	}
}
