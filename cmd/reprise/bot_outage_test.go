//go:build slow || e2e

package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
)

// The forge goes down in the middle of a job, and is back when somebody starts
// that again.
func TestForgeGoesDown(t *testing.T) { goDown(t, 12) }

// goDown makes the forge fail at every nth call of a run and of a rollback.
func goDown(t *testing.T, nth int) {
	t.Parallel()
	run, back := undisturbed(t)
	for _, n := range every(nth, len(run)) {
		t.Run(fmt.Sprintf("run, from call %d", n+1), func(t *testing.T) {
			t.Parallel()
			h := newFaulty(t)
			var commands []int64
			h.endure(n, "/run", n%2 == 0, &commands)
		})
	}
	for some := range slices.Chunk(every(nth, len(back)), perHub) {
		t.Run(fmt.Sprintf("rollback, from call %d", some[0]+1), func(t *testing.T) {
			t.Parallel()
			h := newFaulty(t)
			var commands []int64
			h.lead("/run", false, &commands)
			for _, n := range some {
				h.endure(n, again, n%2 == 0, &commands)
			}
		})
	}
}

// endure leads a command to its end although the forge only answers so many
// calls of its first job.
func (h *hub) endure(calls int, text string, anew bool, commands *[]int64) {
	h.t.Helper()
	forge, err := url.Parse(h.forge.URL)
	if err != nil {
		h.t.Fatal(err)
	}
	pass, left := httputil.NewSingleHostReverseProxy(forge), new(atomic.Int64)
	left.Store(int64(calls))
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if left.Add(-1) < 0 {
			w.WriteHeader(http.StatusBadGateway)
			return
		}
		pass.ServeHTTP(w, r)
	}))
	defer front.Close()
	l := h.lead(text, anew, commands, "GITHUB_API_URL="+front.URL)
	if err := h.sound(*commands); err != nil {
		h.t.Fatalf("down from call %d: %v\n%s", calls+1, err, l.log.String())
	}
}
