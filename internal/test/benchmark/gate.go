package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
)

const (
	gateEvent = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words that a model says\"}}\n\n"
	gateBytes = 100 << 20
	gatePace  = 125e6 // bytes in a second: a network of 1 Gbit/s
)

// service plays a model's service: the answer to ?much=1 is 100 MB of events, as
// fast as a network carries them, and any other is one event.
func service(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	_, _ = io.WriteString(w, gateEvent)
	w.(http.Flusher).Flush()
	if r.URL.Query().Get("much") == "" {
		return
	}
	piece, start := []byte(strings.Repeat(gateEvent, 32<<10/len(gateEvent))), time.Now()
	for n := range gateBytes / len(piece) {
		_, _ = w.Write(piece)
		time.Sleep(time.Until(start.Add(time.Duration(float64(n*len(piece)) / gatePace * float64(time.Second)))))
	}
}

// gateCost measures what stands between an agent and the network. The ways
// through it and past it take turns.
func gateCost(b *bench) error {
	server := httptest.NewServer(http.HandlerFunc(service))
	defer server.Close()
	base, err := url.Parse(server.URL)
	if err != nil {
		return err
	}
	before := held()
	g, err := gate.Open(gate.Config{Providers: []gate.Provider{{Name: "anthropic", API: gate.Anthropic, Base: base}}})
	if err != nil {
		return err
	}
	defer g.Close()
	for _, c := range []struct {
		row
		path string
	}{
		{row{measure: "the first byte of a model's answer, through the proxy", target: "<= 1 ms more", how: "the same request without it, on loopback"}, "/v1/messages"},
		{row{measure: "100 MB of events at 1 Gbit/s, through the proxy", target: "ratio <= 1.10", how: "the same without it, on loopback"}, "/v1/messages?much=1"},
	} {
		var through, direct []time.Duration
		for range 9 {
			ours, err := fetch(g.URL("anthropic")+c.path, g.Placeholder())
			if err != nil {
				return err
			}
			least, err := fetch(server.URL+c.path, g.Placeholder())
			if err != nil {
				return err
			}
			through, direct = append(through, ours), append(direct, least)
		}
		b.times(c.row, median(through), median(direct))
	}
	b.sizes(row{measure: "memory of the proxy after some answers, its client and server included", target: "<= 2 MB", how: "the limit"}, held()-before, 2<<20)
	return nil
}

// fetch gives how long an answer takes to its end.
func fetch(address, key string) (time.Duration, error) {
	// About as long as what agents ask.
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(`{"model":"m","messages":"`+strings.Repeat("x", 64<<10)+`"}`))
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-Api-Key", key)
	start := time.Now()
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = io.Copy(io.Discard, res.Body)
	took := time.Since(start)
	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, res.Status)
	}
	return took, errors.Join(err, res.Body.Close())
}

// held is what this process has on the heap and its stacks.
func held() int64 {
	runtime.GC()
	runtime.GC() // what pools have kept is gone after the second
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapInuse + m.StackInuse)
}
