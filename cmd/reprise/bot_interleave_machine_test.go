//go:build slow || e2e

package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// fate is what happens to a machine, at which of its steps: each begin and
// each end of something that it does outside of itself is one.
type fate struct {
	Seed  uint64        // of how long everything takes
	Kill  int           // it is gone for good; 0: never
	Pause int           // it stands still, and goes on later; 0: never
	For   time.Duration // how long it stands still
	Lose  int           // from here an answer does not arrive; 0: never
}

// memMachine is where one process works. All that it does outside of itself goes
// through it, and takes some time.
type memMachine struct {
	w    *meeting
	name string
	me   string // as it stands in a lease, as soon as it is known
	fate fate

	comment int64 // for which it was started

	mu    sync.Mutex
	dice  *rand.Rand
	steps int
	gone  bool
	until time.Time // it stands still
	lost  time.Time // when another one took the run from it, as it could know
	held  *metadata.Lease
	out   bytes.Buffer
}

var (
	errGone = errors.New("the machine is gone")
	errLost = errors.New("connection reset by peer")
)

// Write takes what the process prints.
func (m *memMachine) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out.Write(p)
}

// log is what the process has printed.
func (m *memMachine) log() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.out.String()
}

// enter comes before anything is done outside.
func (m *memMachine) enter(what string) error { return m.step(what, false) }

// leave comes after it was done.
func (m *memMachine) leave(what string) error { return m.step(what, true) }

func (m *memMachine) step(what string, done bool) error {
	m.mu.Lock()
	m.steps++
	n, took := m.steps, time.Duration(m.dice.ExpFloat64()*float64(80*time.Millisecond))+time.Microsecond
	if n == m.fate.Kill {
		m.gone = true
	}
	gone := m.gone
	m.mu.Unlock()
	if gone {
		return errGone
	}
	time.Sleep(took)
	m.mu.Lock()
	if done && m.fate.Pause > 0 && n >= m.fate.Pause && m.until.IsZero() {
		m.until = time.Now().Add(m.fate.For)
		m.w.note(m, "stands still for %s after %s", m.fate.For, what)
	}
	until, gone := m.until, m.gone
	lose := done && m.fate.Lose > 0 && n >= m.fate.Lose
	if lose {
		m.fate.Lose = 0
	}
	m.mu.Unlock()
	time.Sleep(time.Until(until))
	switch {
	case gone:
		return errGone
	case lose:
		m.w.note(m, "loses the answer to %s", what)
		return errLost
	}
	return nil
}

// RoundTrip asks the forge.
func (m *memMachine) RoundTrip(req *http.Request) (*http.Response, error) {
	what := req.Method + " " + req.URL.Path
	if m.isGone() {
		return nil, errGone
	}
	m.w.asked(m, req)
	if err := m.enter(what); err != nil {
		return nil, err
	}
	rec := httptest.NewRecorder()
	if req.Body == nil {
		req.Body = http.NoBody
	}
	if _, name, ok := strings.Cut(req.URL.Path, "/contents/"); ok {
		m.w.origin.serve(rec, name)
	} else {
		m.w.forge.ServeHTTP(rec, req)
	}
	if err := cmp.Or(m.leave(what), req.Context().Err()); err != nil {
		return nil, err
	}
	resp := rec.Result()
	resp.Request = req
	return resp, nil
}

func (m *memMachine) isGone() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.gone
}

// Run does a step of a phase, as an agent that takes its time.
func (m *memMachine) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	r := engine.Result{Session: t.Session, ToolCalls: 1, Usage: metadata.Usage{InputTokens: 10, USD: 0.01}}
	if err := m.enter("agent"); err != nil {
		return r, err
	}
	m.w.works(m, t, true)
	defer m.w.works(m, t, false)
	m.mu.Lock()
	takes := time.Duration(m.dice.Int64N(int64(90 * time.Second)))
	m.mu.Unlock()
	if err := environ.Sleep(ctx, cmp.Or(m.w.thinks, takes)); err != nil {
		return r, err
	}
	if err := m.leave("agent"); err != nil && !errors.Is(err, errLost) {
		return r, err
	}
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if t.Step == metadata.Review {
		v := metadata.Verdict{Verdict: metadata.Pass, Findings: []metadata.Finding{}, Gates: []metadata.Gate{}}
		for _, g := range t.Gates {
			v.Gates = append(v.Gates, metadata.Gate{Gate: g, Pass: true, Why: "it does"})
		}
		var err error
		r.Structured, err = json.Marshal(v)
		return r, err
	}
	text := fmt.Sprintf("%s %s by %s, %d\n", t.Step, t.Phase, m.name, t.Attempt)
	if err := os.WriteFile(t.Artifact, []byte(text), 0o644); err != nil {
		return r, err
	}
	if t.Access == pipelines.AccessTree {
		return r, os.WriteFile(filepath.Join(t.Dir, "code.txt"), []byte(text), 0o644)
	}
	return r, nil
}

// context is what a process on this machine runs with: branches in memory, and
// the machine itself as the agent.
func (m *memMachine) context(ctx context.Context) context.Context {
	own := m.w.backend
	own.Open = m.w.opener(m)
	own.Agent = func(string) (engine.Agent, error) { return m, nil }
	return workspace.WithBackend(ctx, own)
}

// environment is what a process on this machine runs in.
func (m *memMachine) environment(root string, vars ...string) environ.Env {
	return environ.Env{
		Stdin: strings.NewReader(""), Stdout: m, Stderr: m, Http: &http.Client{Transport: m},
		Environ: append([]string{"REPRISE_HOME=" + root, "HOME=" + root, "PATH=" + os.Getenv("PATH"), "TMPDIR=" + os.TempDir()}, vars...),
		Now:     func() time.Time { return time.Now().UTC().Truncate(time.Millisecond) },
		Wait: func(ctx context.Context, d time.Duration) error {
			if m.isGone() {
				return errGone
			}
			return environ.Sleep(ctx, d)
		},
	}
}
