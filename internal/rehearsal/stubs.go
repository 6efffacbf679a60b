package rehearsal

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// Stubs are scripted results that a rehearsal plays back. What its file may
// say is in stubs.cue.
type Stubs struct {
	calls map[string]stub
	mu    sync.Mutex
	seen  map[string]int // by phase and step
}

//go:embed stubs.cue
var stubsSchema string

// stub is one entry.
type stub struct {
	Text     *string            `json:"text"`
	Artifact *string            `json:"artifact"`
	Files    map[string]string  `json:"files"`
	Report   json.RawMessage    `json:"report"`
	Verdict  json.RawMessage    `json:"verdict"`
	Limit    string             `json:"limit"`
	Sleep    pipelines.Duration `json:"sleep"`
	Usage    *stubUsage         `json:"usage"`
	Error    *stubError         `json:"error"`
}

type stubUsage struct {
	Input  int64   `json:"input_tokens"`
	Output int64   `json:"output_tokens"`
	Cached int64   `json:"cached_tokens"`
	USD    float64 `json:"cost_usd"`
}

type stubError struct {
	Class      metadata.Class     `json:"class"`
	Message    string             `json:"message"`
	RetryAfter pipelines.Duration `json:"retry_after"`
}

// ReadStubs reads a file of scripted results. All mistakes in it come back
// together, as mistake.Errors.
func ReadStubs(file string) (*Stubs, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading stubs: %w", err)
	}
	s := &Stubs{seen: map[string]int{}}
	if len(bytes.TrimSpace(data)) == 0 {
		return s, nil // nothing is scripted
	}
	doc, err := source.ReadDocument(file, data, stubsSchema, "#Stubs")
	if err != nil {
		return nil, err
	}
	if err := doc.Decode(&s.calls); err != nil {
		return nil, fmt.Errorf("reading stubs: %s: %w", file, err)
	}
	for key, c := range s.calls {
		if c.Report != nil && c.Verdict != nil {
			doc.Wrong([]any{key, "verdict"}, "a call has a report or a verdict, not both")
		}
		for name := range c.Files {
			if !filepath.IsLocal(filepath.FromSlash(name)) {
				doc.Wrong([]any{key, "files", name}, "not below the work tree")
			}
		}
	}
	return s, doc.Mistakes()
}

// next gives the entry for a call, if there is one. A nil *Stubs has none.
func (s *Stubs) next(t engine.Task) (stub, bool) {
	if s == nil {
		return stub{}, false
	}
	key := t.Phase + "/" + string(t.Step)
	s.mu.Lock()
	s.seen[key]++
	n := s.seen[key]
	s.mu.Unlock()
	if c, ok := s.calls[fmt.Sprintf("%s/%d", key, n)]; ok {
		return c, true
	}
	c, ok := s.calls[key]
	return c, ok
}

// Phases gives the phases that answers are for.
func (s *Stubs) Phases() (all []string) {
	for key := range s.calls {
		if phase, step, _ := strings.Cut(key, "/"); phase != "auto" || !strings.HasPrefix(step, "choose") {
			all = append(all, phase)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// Report reports whether a report of a phase is scripted. A nil *Stubs has none.
func (s *Stubs) Report(phase string) bool {
	if s == nil {
		return false
	}
	for key, c := range s.calls {
		if c.Report != nil && strings.HasPrefix(key, phase+"/") {
			return true
		}
	}
	return false
}

// apply lays an entry over what the rehearsal did.
func (c stub) apply(t engine.Task, r *engine.Result) error {
	if c.Text != nil {
		r.Text = *c.Text
	}
	if c.Artifact != nil && t.Artifact != "" && t.Access.Writes() {
		if err := put(t.Artifact, *c.Artifact); err != nil {
			return err
		}
	}
	for _, answer := range []json.RawMessage{c.Report, c.Verdict} {
		if answer != nil {
			r.Structured = answer
		}
	}
	if c.Usage != nil {
		r.Usage = metadata.Usage{InputTokens: c.Usage.Input, OutputTokens: c.Usage.Output, CachedTokens: c.Usage.Cached, USD: c.Usage.USD, Turns: 1}
	}
	r.Limit = c.Limit
	return write(t.Dir, c.Files)
}

// write puts files into a tree. It never leaves the tree, whatever links are in it.
func write(dir string, files map[string]string) error {
	if len(files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // nothing is written through it
	for _, name := range slices.Sorted(maps.Keys(files)) {
		at := filepath.FromSlash(name)
		if err := errors.Join(root.RemoveAll(at), root.MkdirAll(filepath.Dir(at), 0o755), root.WriteFile(at, []byte(files[name]), 0o644)); err != nil {
			return err
		}
	}
	return nil
}

// err is the error an entry scripts.
func (e *stubError) err() error {
	return &engine.AgentError{Class: e.Class, Agent: "rehearsal", RetryAfter: time.Duration(e.RetryAfter), Err: errors.New(cmp.Or(e.Message, "scripted"))}
}
