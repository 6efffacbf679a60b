package gate

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// limited is a service that has no room until somebody says so, with gates of several calls that know of each other.
type limited struct {
	testing.TB
	asked, refused atomic.Int64
	full           atomic.Bool
	wait           atomic.Int64  // seconds that it asks for; 0: it says nothing
	takes          time.Duration // until it refuses
	known          *Known
	url            *url.URL
}

func newLimited(t testing.TB) *limited {
	l := &limited{TB: t, known: &Known{Dir: t.TempDir()}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		l.asked.Add(1)
		if !l.full.Load() {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"model":"m","usage":{"input_tokens":1,"output_tokens":1}}`)
			return
		}
		l.refused.Add(1)
		time.Sleep(l.takes)
		if n := l.wait.Load(); n > 0 {
			w.Header().Set("Retry-After", strconv.FormatInt(n, 10))
		}
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(server.Close)
	l.url, _ = url.Parse(server.URL)
	return l
}

// ask sends a request through a gate of its own.
func (l *limited) ask(key, model string) (status int, after string) {
	var told atomic.Int64
	g, err := Open(Config{Known: l.known, Providers: []Provider{{Name: "anthropic", API: Anthropic, Base: l.url, Header: http.Header{"X-Api-Key": {key}}}}, OnEvent: func(e event) {
		told.Store(int64(e.RetryAfter.Seconds()))
	}})
	if err != nil {
		l.Fatal(err)
	}
	defer g.Close()
	r, err := http.NewRequestWithContext(context.Background(), http.MethodPost, g.URL("anthropic")+"/v1/messages", strings.NewReader(`{"model":"`+model+`","max_tokens":9,"messages":[]}`))
	if err != nil {
		l.Fatal(err)
	}
	r.Header.Set("X-Api-Key", g.Placeholder())
	r.Header.Set("Content-Type", "application/json")
	got := fetched(l, r)
	defer got.Body.Close()
	if n, _ := strconv.Atoi(got.Header.Get("Retry-After")); got.StatusCode == http.StatusTooManyRequests && told.Load() < int64(n)-1 {
		l.Errorf("the run was told to wait %d s, and its program %d", told.Load(), n)
	}
	return got.StatusCode, got.Header.Get("Retry-After")
}

func TestOneFindsOutWhetherThereIsRoom(t *testing.T) {
	l := newLimited(t)
	l.full.Store(true)
	l.wait.Store(1)
	if status, after := l.ask("k", "m"); status != http.StatusTooManyRequests || after != "1" {
		t.Fatalf("the first got %d, %q", status, after)
	}
	l.full.Store(false)
	began := time.Now()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if status, _ := l.ask("k", "m"); status != http.StatusOK {
				t.Errorf("one of eight got %d", status)
			}
		})
	}
	if status, _ := l.ask("k", "other"); status != http.StatusOK || time.Since(began) > 800*time.Millisecond {
		t.Errorf("another model got %d after %v", status, time.Since(began))
	}
	if status, _ := l.ask("another", "m"); status != http.StatusOK || time.Since(began) > 800*time.Millisecond {
		t.Errorf("another key got %d after %v", status, time.Since(began))
	}
	all.Wait()
	if waited := time.Since(began); waited < 900*time.Millisecond {
		t.Errorf("they waited %v", waited)
	}
	if n := l.refused.Load(); n != 1 {
		t.Errorf("%d requests were refused", n)
	}
}

func TestFewOfEightAreRefused(t *testing.T) {
	l := newLimited(t)
	l.full.Store(true)
	l.wait.Store(3600)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() { l.ask("k", "m") })
	}
	all.Wait()
	if n := l.asked.Load(); n > 3 { // how many are under way until the first is refused depends on the machine
		t.Errorf("the service was asked %d times", n)
	}
}

// What was asked before says nothing of the room that there is now.
func TestAnAnswerFromBeforeIsNoRoom(t *testing.T) {
	k := &Known{Dir: t.TempDir()}
	u := &upstream{Provider: Provider{Base: &url.URL{Host: "h"}}}
	early, refused, finds, waits := &exchange{provider: u, purpose: asksModel}, &exchange{provider: u, purpose: asksModel}, &exchange{provider: u, purpose: asksModel}, &exchange{provider: u, purpose: asksModel}
	k.await(t.Context(), early)
	k.await(t.Context(), refused)
	k.refused(refused, 0)
	k.await(t.Context(), finds)
	k.answered(early)
	brief, cancel := context.WithTimeout(t.Context(), 400*time.Millisecond)
	defer cancel()
	if k.await(brief, waits); waits.sent != 0 {
		t.Error("it was let through beside the one that finds out")
	}
	k.answered(finds)
	if k.await(t.Context(), waits); waits.sent == 0 {
		t.Error("it was not let through")
	}
}

func TestEightKnockOnce(t *testing.T) {
	l := newLimited(t)
	l.full.Store(true)
	l.ask("k", "m")
	before := l.asked.Load()
	over := time.AfterFunc(1500*time.Millisecond, func() { l.full.Store(false) })
	defer over.Stop()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for status := 0; status != http.StatusOK; {
				status, _ = l.ask("k", "m")
			}
		})
	}
	all.Wait()
	if n := l.refused.Load(); n != 2 { // the first, and the one that was let through after a second
		t.Errorf("%d requests were refused", n)
	}
	if n := l.asked.Load() - before; n != 9 {
		t.Errorf("there were %d requests", n)
	}
}

func TestALongWaitIsForTheRun(t *testing.T) {
	l := newLimited(t)
	l.full.Store(true)
	l.wait.Store(3600)
	l.ask("k", "m")
	if status, after := l.ask("k", "m"); status != http.StatusTooManyRequests || len(after) != 4 {
		t.Errorf("the next got %d, %q", status, after)
	}
	if n := l.asked.Load(); n != 1 {
		t.Errorf("the service was asked %d times", n)
	}
	// A clock that was set back, and a file that is broken, are known to nobody.
	files, err := filepath.Glob(filepath.Join(l.known.Dir, "*"))
	if err != nil || len(files) != 1 {
		t.Fatalf("%q, %v", files, err)
	}
	l.full.Store(false)
	for _, text := range []string{`{"at":9999999999999,"until":9999999999999,"row":1}`, `{"at":`, ``} {
		if err := os.WriteFile(files[0], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if status, _ := l.ask("k", "m"); status != http.StatusOK {
			t.Errorf("with %q it got %d", text, status)
		}
	}
}

// How many requests a service refuses in a minute without room, each after a tenth of a second: of eight loops that ask
// again every half second, apart and with what is known.
func BenchmarkEightLoopsInAStorm(b *testing.B) {
	for b.Loop() {
		var refused [2]float64
		for i, known := range []bool{false, true} {
			l := newLimited(b)
			l.takes = 100 * time.Millisecond
			if l.full.Store(true); !known {
				l.known = nil
			}
			over := time.AfterFunc(time.Minute, func() { l.full.Store(false) })
			var all sync.WaitGroup
			for range 8 {
				all.Go(func() {
					for status := 0; status != http.StatusOK; {
						if status, _ = l.ask("k", "m"); status != http.StatusOK {
							time.Sleep(500 * time.Millisecond)
						}
					}
				})
			}
			all.Wait()
			over.Stop()
			refused[i] = float64(l.refused.Load())
		}
		b.ReportMetric(refused[0], "refused-apart")
		b.ReportMetric(refused[1], "refused-known")
		b.ReportMetric(100*refused[1]/refused[0], "%")
	}
}
