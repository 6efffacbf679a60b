package main

import (
	"bufio"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/test/benchmark/bench"
)

// gateCost measures what stands between an agent and the network.
func gateCost(b *bench.Bench) error {
	f, err := throughGate()
	if err != nil {
		return err
	}
	b.Times("the first byte of a model's answer, through the proxy", f.first, f.firstDirect, "<= 1 ms more", "the same request without it, on loopback")
	b.Times("100 MB of events of a model, through the proxy", f.answer, f.answerDirect, "ratio <= 1.10", "the same without it, on loopback")
	b.Times("the same events as a network of 1 Gbit/s carries them, through the proxy", f.paced, f.pacedDirect, "ratio <= 1.10", "the same without it, on loopback")
	b.Times("100 MB of another host, through the proxy", f.tunnel, f.tunnelDirect, "ratio <= 1.10", "the same without it, on loopback")
	b.Sizes("memory of the proxy with an answer under way, its client included", f.memory, 2<<20, "<= 2 MB", "the limit")
	return nil
}

// gateFigures are what a gate costs, each beside the same without one.
type gateFigures struct {
	first, firstDirect   time.Duration // until an answer begins
	answer, answerDirect time.Duration // 100 MB of events of a model
	tunnel, tunnelDirect time.Duration // 100 MB of a host of the world
	paced, pacedDirect   time.Duration // 100 MB of events of a model that come as fast as a network carries them
	memory               int64         // bytes more on the heap with an answer of a model under way
}

const (
	gateRounds = 9
	gateEvent  = "event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"some words that a model says\"}}\n\n"
	gateBytes  = 100 << 20
	gatePace   = 125e6 // bytes in a second: a network of 1 Gbit/s
)

// throughGate measures a gate. The directions take turns, so that both have the
// same machine.
func throughGate() (f gateFigures, err error) {
	const begin = "data: {\"type\":\"message_start\",\"message\":{\"model\":\"m\",\"usage\":{\"input_tokens\":1}}}\n\n"
	piece := []byte(strings.Repeat(gateEvent, 32<<10/len(gateEvent)))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, begin)
		w.(http.Flusher).Flush()
		if r.URL.Query().Get("much") == "" {
			return
		}
		start, paced := time.Now(), r.URL.Query().Get("paced") != ""
		for n := range gateBytes / len(piece) {
			_, _ = w.Write(piece)
			if paced {
				time.Sleep(time.Until(start.Add(time.Duration(float64(n*len(piece)) / gatePace * float64(time.Second)))))
			}
		}
	}))
	defer server.Close()
	base, err := url.Parse(server.URL)
	if err != nil {
		return f, err
	}
	g, err := gate.Open(gate.Config{
		Providers: []gate.Provider{{Name: "anthropic", API: gate.Anthropic, Base: base, Header: http.Header{"X-Api-Key": {"key"}}}},
		World:     gate.World{Allow: []string{base.Host}},
	})
	if err != nil {
		return f, err
	}
	defer g.Close()
	proxy, err := url.Parse(g.ProxyURL())
	if err != nil {
		return f, err
	}
	direct, tunnel := &http.Client{}, &http.Client{Transport: &http.Transport{DialContext: tunnelTo(proxy)}}
	ways := []struct {
		client   *http.Client
		address  string
		much     string
		to       *time.Duration
		measured []time.Duration
	}{
		{direct, g.URL("anthropic"), "", &f.first, nil},
		{direct, server.URL, "", &f.firstDirect, nil},
		{direct, g.URL("anthropic"), "?much=1", &f.answer, nil},
		{direct, server.URL, "?much=1", &f.answerDirect, nil},
		{tunnel, server.URL, "?much=1", &f.tunnel, nil},
		{direct, server.URL, "?much=1", &f.tunnelDirect, nil},
		{direct, g.URL("anthropic"), "?much=1&paced=1", &f.paced, nil},
		{direct, server.URL, "?much=1&paced=1", &f.pacedDirect, nil},
	}
	for range gateRounds {
		for i := range ways {
			w := &ways[i]
			took, err := fetch(w.client, w.address+"/v1/messages"+w.much, g.Placeholder())
			if err != nil {
				return f, err
			}
			w.measured = append(w.measured, took)
		}
	}
	for _, w := range ways {
		slices.Sort(w.measured)
		*w.to = w.measured[len(w.measured)/2]
	}
	f.memory, err = memoryOfGate()
	return f, err
}

// fetch gives how long an answer takes: to its end if it is long, else to its first
// bytes.
func fetch(client *http.Client, address, key string) (time.Duration, error) {
	// About as long as what agents ask.
	body := `{"model":"m","messages":"` + strings.Repeat("x", 64<<10) + `"}`
	r, err := http.NewRequest(http.MethodPost, address, strings.NewReader(body))
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-Api-Key", key)
	start := time.Now()
	res, err := client.Do(r)
	if err != nil {
		return 0, err
	}
	_, err = res.Body.Read(make([]byte, 10))
	took := time.Since(start)
	n, err2 := io.Copy(io.Discard, res.Body)
	if n > gateBytes/2 {
		took = time.Since(start)
	}
	if res.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", address, res.Status)
	}
	if err = errors.Join(err, err2, res.Body.Close()); err != nil {
		err = fmt.Errorf("%s after %d bytes: %w", address, n, err)
	}
	return took, err
}

// tunnelTo connects through an HTTP proxy.
func tunnelTo(proxy *url.URL) func(ctx context.Context, network, address string) (net.Conn, error) {
	return func(ctx context.Context, _, address string) (net.Conn, error) {
		c, err := (&net.Dialer{}).DialContext(ctx, "tcp", proxy.Host)
		if err != nil {
			return nil, err
		}
		password, _ := proxy.User.Password()
		key := base64.StdEncoding.EncodeToString([]byte(":" + password))
		if _, err := fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %[1]s\r\nProxy-Authorization: Basic %s\r\n\r\n", address, key); err != nil {
			return nil, err
		}
		res, err := http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect})
		if err == nil && res.StatusCode != http.StatusOK {
			err = errors.New(res.Status)
		}
		return c, err
	}
}

// memoryOfGate gives what a gate takes from the heap, with an answer under way.
func memoryOfGate() (int64, error) {
	held := func() int64 {
		runtime.GC()
		runtime.GC() // what pools have kept is gone after the second
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapInuse + m.StackInuse)
	}
	hang := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, gateEvent)
		w.(http.Flusher).Flush()
		<-hang
	}))
	defer server.Close()
	defer close(hang)
	away, err := url.Parse(server.URL)
	if err != nil {
		return 0, err
	}
	before := held()
	g, err := gate.Open(gate.Config{Providers: []gate.Provider{{Name: "anthropic", API: gate.Anthropic, Base: away}}, Transcript: io.Discard})
	if err != nil {
		return 0, err
	}
	defer g.Close()
	r, err := http.NewRequest(http.MethodPost, g.URL("anthropic")+"/v1/messages", strings.NewReader(`{"model":"m"}`))
	if err != nil {
		return 0, err
	}
	r.Header.Set("X-Api-Key", g.Placeholder())
	res, err := (&http.Client{}).Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = res.Body.Close() }()
	_, err = res.Body.Read(make([]byte, 1))
	return held() - before, err
}
