package gate

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// Each piece of a model's answer is heard of when it comes, and nothing else is: what clients
// send, lists of models, refusals and errors.
func TestHeard(t *testing.T) {
	next := make(chan struct{})
	g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		switch {
		case r.URL.Path != "/base/v1/messages":
			io.WriteString(w, `{"data":[]}`)
		case strings.Contains(string(body), "full"):
			w.WriteHeader(http.StatusTooManyRequests)
			io.WriteString(w, `{"type":"error"}`)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			for range 3 {
				<-next
				io.WriteString(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
				w.(http.Flusher).Flush()
			}
			<-next
		}
	})
	textOf(t, send(t, g, http.MethodGet, g.URL("anthropic")+"/v1/models", g.Placeholder(), nil))
	textOf(t, send(t, g, http.MethodPost, g.URL("anthropic")+"/v1/messages/count_tokens", g.Placeholder(), strings.NewReader(`{"model":"x"}`)))
	textOf(t, send(t, g, http.MethodPost, g.URL("anthropic")+"/v1/messages", "sk-wrong", strings.NewReader(`{"model":"x"}`)))
	textOf(t, send(t, g, http.MethodPost, g.URL("anthropic")+"/v1/files", g.Placeholder(), strings.NewReader(`{"model":"x"}`)))
	textOf(t, ask(t, g, Anthropic, `{"model":"full"}`))
	if !g.Heard().IsZero() {
		t.Errorf("heard at %v, before any model said anything", g.Heard())
	}
	began := time.Now()
	answer := make(chan *http.Response)
	go func() { answer <- ask(t, g, Anthropic, `{"model":"x"}`) }()
	last, from := time.Time{}, io.Reader(nil)
	for i := range 3 {
		next <- struct{}{}
		if from == nil {
			from = (<-answer).Body
		}
		if _, err := io.ReadFull(from, make([]byte, len("event: ping\ndata: {\"type\":\"ping\"}\n\n"))); err != nil {
			t.Fatal(err)
		}
		now := g.Heard()
		if !now.After(last) || now.Before(began) || now.After(time.Now()) {
			t.Errorf("piece %d was heard at %v, after %v", i, now, last)
		}
		if last = now; !g.Heard().Equal(last) {
			t.Error("heard again, and nothing came")
		}
		began = time.Now()
	}
	next <- struct{}{}
}

// BenchmarkHeard is what each piece of an answer costs more.
func BenchmarkHeard(b *testing.B) {
	g := &gate{opened: time.Now()}
	for b.Loop() {
		g.hear()
	}
}
