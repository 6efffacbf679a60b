package gate

import (
	"compress/gzip"
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func stream(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
	io.WriteString(w, text)
}

// A gateway that repeats the key which it was shown, or that is told by a header to send
// it elsewhere, gives nothing away.
func TestTheRealKeyDoesNotComeBack(t *testing.T) {
	for _, encoding := range []string{"", "gzip"} {
		g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, r *http.Request) {
			text := "no key " + r.Header.Get("X-Api-Key") + strings.Join(slices.Sorted(maps.Keys(r.Header)), " ")
			w.Header().Set("Content-Encoding", encoding)
			w.WriteHeader(http.StatusForbidden)
			if encoding == "" {
				io.WriteString(w, text)
				return
			}
			z := gzip.NewWriter(w)
			io.WriteString(z, text)
			z.Close()
		})
		r, _ := http.NewRequestWithContext(t.Context(), "POST", g.URL("anthropic")+"/v1/messages", strings.NewReader(`{"model":"m"}`))
		for _, name := range []string{"Helicone-Target-Url", "X-Portkey-Custom-Host", "Cf-Aig-Metadata", "X-Original-Url", "Anthropic-Beta"} {
			r.Header.Set(name, "https://evil.test")
		}
		r.Header.Set("X-Api-Key", g.Placeholder())
		r.Header.Set("Accept-Encoding", "gzip")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { res.Body.Close() })
		if text := textOf(t, res); res.StatusCode != 403 || !strings.HasPrefix(text, "no key [the key]") || !strings.Contains(text, "Anthropic-Beta") || strings.Contains(text, "Helicone") || strings.Contains(text, "Portkey") || strings.Contains(text, "Cf-") || strings.Contains(text, "Original") {
			t.Errorf("%q: status %d, %q", encoding, res.StatusCode, text)
		}
	}
}

func TestUsageIsCounted(t *testing.T) {
	for api, text := range map[API]string{Anthropic: anthropicStream, openAI: responsesStream, gemini: geminiStream} {
		g := before(t, api, Config{}, func(w http.ResponseWriter, _ *http.Request) { stream(w, text) })
		for range 2 {
			if got := textOf(t, ask(t, g, api, `{"model":"x"}`)); got != text {
				t.Errorf("%s: the client got %q", api, got)
			}
		}
		one := tokens{40, 20, 0, 40, 0}
		model := map[API]string{Anthropic: "claude-x", openAI: "gpt-x", gemini: "gemini-x"}[api]
		if api == Anthropic {
			one = tokens{10, 20, 30, 40, 0}
		}
		want := Report{Usage: map[string]usage{model: {Requests: 2, Tokens: one.Add(one)}}, Turns: 2}
		if d := cmp.Diff(want, g.Close()); d != "" {
			t.Errorf("%s (-want +got):\n%s", api, d)
		}
	}
}

// Each event is there before the provider writes the next one, also a compressed one.
func TestEventsAreNotHeldBack(t *testing.T) {
	for _, zipped := range []bool{false, true} {
		next := make(chan struct{})
		g := before(t, openAI, Config{}, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			var to io.Writer = w
			flush := w.(http.Flusher).Flush
			if zipped {
				if r.Header.Get("Accept-Encoding") != "gzip" {
					t.Errorf("asked with %q, of which one cannot be read here", r.Header)
				}
				w.Header().Set("Content-Encoding", "gzip")
				z := gzip.NewWriter(w)
				defer z.Close()
				to, flush = z, func() { z.Flush(); w.(http.Flusher).Flush() }
			}
			for i := range 5 {
				fmt.Fprintf(to, "data: {\"delta\":\"%d\"}\n\n", i)
				flush()
				<-next
			}
			io.WriteString(to, responsesStream)
		})
		r, _ := http.NewRequestWithContext(t.Context(), "POST", g.URL("openai")+"/responses", strings.NewReader(`{"model":"m"}`))
		r.Header.Set("X-Api-Key", g.Placeholder())
		r.Header.Set("Accept-Encoding", "br, gzip, zstd")
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		from := res.Body
		for i := range 5 {
			want := fmt.Sprintf("data: {\"delta\":\"%d\"}\n\n", i)
			got := make([]byte, len(want))
			if _, err := io.ReadFull(from, got); err != nil || string(got) != want {
				t.Fatalf("event %d: %q, %v", i, got, err)
			}
			next <- struct{}{}
		}
		if rest, err := io.ReadAll(from); string(rest) != responsesStream || err != nil {
			t.Errorf("then %q, %v", rest, err)
		}
		res.Body.Close()
		if got := g.Close().Usage["gpt-x"].Tokens; got != (tokens{40, 20, 0, 40, 0}) {
			t.Errorf("compressed %v: %+v", zipped, got)
		}
	}
}

func TestOverHTTP2(t *testing.T) {
	proto := ""
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proto = r.Proto
		stream(w, anthropicStream)
	}))
	s.EnableHTTP2 = true
	s.StartTLS()
	defer s.Close()
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	g := opened(t, Config{Providers: []Provider{providerAt(t, Anthropic, s.URL)}, Roots: roots})
	if got := textOf(t, ask(t, g, Anthropic, `{"model":"m"}`)); got != anthropicStream || proto != "HTTP/2.0" {
		t.Errorf("%s: %q", proto, got)
	}
	if got := g.Close(); got.Usage["claude-x"].Tokens != (tokens{10, 20, 30, 40, 0}) {
		t.Errorf("%+v", got)
	}
}

// One event of any size passes, is not held beyond what is read, and what follows it is counted.
func TestAHugeEvent(t *testing.T) {
	const size = 100 << 20
	g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		io.WriteString(w, `data: {"type":"content_block_delta","delta":{"type":"text_delta","text":"`)
		piece := strings.Repeat("x", 64<<10)
		for range size / len(piece) {
			io.WriteString(w, piece)
		}
		io.WriteString(w, "\"}}\n\n"+anthropicStream)
	})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	res := ask(t, g, Anthropic, `{"model":"m"}`)
	if n, err := io.Copy(io.Discard, res.Body); err != nil || n < size {
		t.Errorf("%d bytes, %v", n, err)
	}
	runtime.ReadMemStats(&after)
	// What is asked of the system on the way, client and provider included.
	if took := after.Sys - before.Sys; took > 6*maxBody {
		t.Errorf("%d bytes of memory were taken", took)
	}
	if got := g.Close().Usage["claude-x"].Tokens; got != (tokens{10, 20, 30, 40, 0}) {
		t.Errorf("%+v", got)
	}
}

// What a provider did before it broke off is counted, and the client sees it break off.
func TestAnswersThatBreakOff(t *testing.T) {
	for name, h := range map[string]http.HandlerFunc{
		"half an answer": func(w http.ResponseWriter, _ *http.Request) {
			stream(w, anthropicStream[:len(anthropicStream)*2/3])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		},
		"no answer": func(_ http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := before(t, Anthropic, Config{}, h)
			res := ask(t, g, Anthropic, `{"model":"asked","messages":"`+strings.Repeat("x", 300)+`"}`)
			_, err := io.ReadAll(res.Body)
			if err == nil && res.StatusCode == 200 {
				t.Errorf("the client got a whole answer")
			}
			report := g.Close()
			if len(report.Usage) != 1 {
				t.Fatalf("%+v", report)
			}
			for model, u := range report.Usage {
				if !u.Estimated || u.Tokens.Input < 10 || model == "" {
					t.Errorf("%s: %+v", model, u)
				}
			}
		})
	}
}

// A provider that hangs is left as soon as the client leaves, and Close waits for neither.
func TestAProviderThatHangs(t *testing.T) {
	left := make(chan struct{})
	g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, r *http.Request) {
		stream(w, anthropicStream[:200])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		close(left)
	})
	res := ask(t, g, Anthropic, `{"model":"m"}`)
	if _, err := io.ReadFull(res.Body, make([]byte, 200)); err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	<-left
	g.Close()
}

func TestCloseEndsWhatIsUnderWay(t *testing.T) {
	g := before(t, Anthropic, Config{}, func(w http.ResponseWriter, r *http.Request) {
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	})
	res := ask(t, g, Anthropic, `{"model":"m"}`)
	g.Close()
	if _, err := io.ReadAll(res.Body); err == nil {
		t.Error("the answer came to its end")
	}
}

func TestTroubleIsToldAtOnce(t *testing.T) {
	for status, want := range map[int]event{
		429: {throttled, Trouble{Status: 429, Said: "body of the provider", RetryAfter: 30 * time.Second}},
		529: {throttled, Trouble{Status: 529, Said: "body of the provider", RetryAfter: 30 * time.Second}},
		401: {unknown, Trouble{Status: 401, Said: "body of the provider"}},
	} {
		var seen events
		g := before(t, Anthropic, Config{OnEvent: seen.add}, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Retry-After", "30")
			w.WriteHeader(status)
			io.WriteString(w, "body of the provider")
		})
		res := ask(t, g, Anthropic, `{"model":"m"}`)
		if !seen.has(want) { // before the client has the body
			t.Errorf("%d: events %+v, want %+v", status, seen.all, want)
		}
		if textOf(t, res) != "body of the provider" || res.StatusCode != status || res.Header.Get("Retry-After") != "30" {
			t.Errorf("%d: the client got %d %v", status, res.StatusCode, res.Header)
		}
		if r := g.Close(); r.Turns != 0 || len(r.Usage) != 0 {
			t.Errorf("%d: %+v", status, r)
		}
	}
}

func TestCompressedRequestsAreRefused(t *testing.T) {
	g := before(t, openAI, Config{}, func(http.ResponseWriter, *http.Request) { t.Error("it reached the provider") })
	r, _ := http.NewRequest("POST", g.URL("openai")+"/responses", strings.NewReader("..."))
	r.Header.Set("Authorization", "Bearer "+g.Placeholder())
	r.Header.Set("Content-Encoding", "zstd")
	res := fetched(t, r)
	if res.StatusCode != http.StatusUnsupportedMediaType || !strings.Contains(textOf(t, res), "zstd") {
		t.Errorf("status %d", res.StatusCode)
	}
}

func TestAProviderThatIsNotThere(t *testing.T) {
	g := opened(t, Config{Providers: []Provider{providerAt(t, Anthropic, "http://127.0.0.1:1")}})
	res := ask(t, g, Anthropic, `{"model":"m"}`)
	if text := textOf(t, res); res.StatusCode != 502 || !strings.Contains(text, "127.0.0.1:1 gave no answer") {
		t.Errorf("%d %s", res.StatusCode, text)
	}
	if r := g.Close(); r.Turns != 0 || len(r.Usage) != 0 {
		t.Errorf("%+v", r)
	}
}

// A client that leaves a stream while the model thinks, or a whole answer before it is
// there, has used what was claimed for it, whatever the protocol.
func TestLeavingHidesNoThinking(t *testing.T) {
	for name, tt := range map[string]struct {
		api  API
		body string
		want int64 // at least
	}{
		"a stream of OpenAI": {openAI, `{"model":"m","stream":true,"max_output_tokens":20}`, 20},
		"of Anthropic":       {Anthropic, `{"model":"m","stream":true,"max_tokens":20}`, 20},
		"whole":              {openAI, `{"model":"m","max_output_tokens":70000}`, 70_000},
	} {
		came := make(chan struct{})
		g := before(t, tt.api, Config{}, func(w http.ResponseWriter, r *http.Request) {
			io.Copy(io.Discard, r.Body)
			if strings.Contains(tt.body, "stream") {
				stream(w, "data: {\"type\":\"response.created\",\"response\":{\"model\":\"m\"}}\n\n")
				w.(http.Flusher).Flush()
			}
			time.Sleep(50 * time.Millisecond) // enough for more tokens than are allowed
			close(came)
			<-r.Context().Done()
		})
		ctx, cancel := context.WithCancel(t.Context())
		r, _ := http.NewRequestWithContext(ctx, "POST", g.URL(string(tt.api))+map[API]string{openAI: "/responses", Anthropic: "/v1/messages"}[tt.api], strings.NewReader(tt.body))
		r.Header.Set("X-Api-Key", g.Placeholder())
		go func() { <-came; cancel() }()
		if res, err := http.DefaultClient.Do(r); err == nil {
			io.Copy(io.Discard, res.Body)
			res.Body.Close()
		}
		g.server.Shutdown(t.Context())
		if u := g.Close().Usage["m"]; u.Tokens.Output != tt.want || !u.Estimated {
			t.Errorf("%s: %+v, want %d tokens of output", name, u, tt.want)
		}
	}
}

// The provider may begin to answer while the last of the request is still being sent.
func TestLongRequestsAndAnswersAreWhole(t *testing.T) {
	text := strings.Repeat(": a comment\n", 20<<10) + responsesStream
	body := `{"model":"m","input":"` + strings.Repeat("x", 64<<10) + `"}`
	g := before(t, openAI, Config{}, func(w http.ResponseWriter, r *http.Request) {
		if n, err := io.Copy(io.Discard, r.Body); n != int64(len(body)) || err != nil {
			t.Errorf("the provider got %d bytes, %v", n, err)
		}
		stream(w, text)
	})
	for range 20 {
		if got := textOf(t, ask(t, g, openAI, body)); got != text {
			t.Fatalf("%d bytes of %d", len(got), len(text))
		}
	}
}

// Nor does it need to read all of a request that it does not want.
func TestAnEarlyNo(t *testing.T) {
	g := before(t, openAI, Config{}, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) })
	for range 5 {
		if res := ask(t, g, openAI, `{"model":"m","input":"`+strings.Repeat("x", 1<<20)+`"}`); res.StatusCode != http.StatusForbidden && res.StatusCode != http.StatusBadGateway {
			t.Errorf("status %d", res.StatusCode)
		}
	}
}
