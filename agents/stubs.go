package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Stubs are scripted results that a rehearsal plays back. The file is YAML or
// JSON, an object by call:
//
//	planning/execute/1:            # the first execute of planning in this process
//	  report: {complexity: low}    # the structured answer
//	  files: {docs/plan.md: "..."} # written below the work tree
//	planning/review/1:
//	  verdict: {verdict: fail, gates: [], findings: [...]}
//	planning/revise:               # every revise that has no entry of its own
//	  text: "Done."                # last words
//	  artifact: ""                 # the whole artifact
//	planning/diagnose/1:
//	  report: {needs_rollback: false, ...} # what is said about the whole run
//	design/execute/1:
//	  error: {class: rate_limited, message: slow down, retry_after: 30s}
//	design/execute/2:
//	  sleep: 2s
//	  limit: turns
//	  usage: {input_tokens: 10, output_tokens: 5, cached_tokens: 0, cost_usd: 0.5}
//
// What an entry does not say is done as in any rehearsal.
type Stubs struct {
	calls map[string]stub
	mu    sync.Mutex
	seen  map[string]int // by phase and step
}

// stub is one entry.
type stub struct {
	Text     *string           `yaml:"text"`
	Artifact *string           `yaml:"artifact"`
	Files    map[string]string `yaml:"files"`
	Report   any               `yaml:"report"`
	Verdict  any               `yaml:"verdict"`
	Limit    string            `yaml:"limit"`
	Sleep    duration          `yaml:"sleep"`
	Usage    *stubUsage        `yaml:"usage"`
	Error    *stubError        `yaml:"error"`
}

type stubUsage struct {
	Input  int     `yaml:"input_tokens"`
	Output int     `yaml:"output_tokens"`
	Cached int     `yaml:"cached_tokens"`
	USD    float64 `yaml:"cost_usd"`
}

type stubError struct {
	Class      metadata.Class `yaml:"class"`
	Message    string         `yaml:"message"`
	RetryAfter duration       `yaml:"retry_after"`
}

// duration reads as text, such as "2s".
type duration time.Duration

// UnmarshalYAML reads what time.ParseDuration reads.
func (d *duration) UnmarshalYAML(n *yaml.Node) error {
	v, err := time.ParseDuration(n.Value)
	if err != nil || v < 0 {
		return fmt.Errorf("line %d: %q is no duration, such as 2s", n.Line, n.Value)
	}
	*d = duration(v)
	return nil
}

// ReadStubs reads a file of scripted results. Unknown fields, steps and error
// classes are mistakes.
func ReadStubs(file string) (*Stubs, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("reading stubs: %w", err)
	}
	s := &Stubs{seen: map[string]int{}}
	d := yaml.NewDecoder(bytes.NewReader(data))
	d.KnownFields(true)
	if err := d.Decode(&s.calls); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("stubs %s: %w", file, err)
	}
	for key, c := range s.calls {
		if why := c.mistake(key); why != "" {
			return nil, fmt.Errorf("stubs %s: %s: %s", file, key, why)
		}
	}
	return s, nil
}

func (c stub) mistake(key string) string {
	parts := strings.Split(key, "/")
	steps := []string{string(metadata.Execute), string(metadata.Review), string(metadata.Revise), string(phases.Diagnose)}
	if len(parts) < 2 || len(parts) > 3 || parts[0] == "" || !slices.Contains(steps, parts[1]) {
		return "a key is PHASE/STEP or PHASE/STEP/N, where STEP is execute, review, revise or diagnose"
	}
	var n int
	if len(parts) == 3 {
		if _, err := fmt.Sscanf(parts[2]+"\n", "%d\n", &n); err != nil || n < 1 {
			return "N counts from 1"
		}
	}
	classes := []metadata.Class{metadata.Missing, metadata.Auth, metadata.RateLimited, metadata.Network, metadata.Crash, metadata.StepTimeout, metadata.IdleTimeout, metadata.Disk, metadata.Signal}
	switch {
	case c.Error != nil && !slices.Contains(classes, c.Error.Class):
		return fmt.Sprintf("there is no error class %q; there are %v", c.Error.Class, classes)
	case c.Limit != "" && c.Limit != "turns" && c.Limit != "budget":
		return `limit may be "turns" or "budget"`
	case c.Report != nil && c.Verdict != nil:
		return "a call has a report or a verdict, not both"
	}
	for name := range c.Files {
		if !filepath.IsLocal(filepath.FromSlash(name)) {
			return fmt.Sprintf("files: %s is not below the work tree", name)
		}
	}
	return ""
}

// next gives the entry for a call, if there is one. A nil *Stubs has none.
func (s *Stubs) next(t phases.Task) (stub, bool) {
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

// apply lays an entry over what the rehearsal did.
func (c stub) apply(t phases.Task, r *phases.Result) error {
	if c.Text != nil {
		r.Text = *c.Text
	}
	if c.Artifact != nil && t.Artifact != "" && t.Access != pipelines.AccessNone && t.Access != pipelines.AccessRead {
		if err := put(t.Artifact, *c.Artifact); err != nil {
			return err
		}
	}
	for _, answer := range []any{c.Report, c.Verdict} {
		if answer == nil {
			continue
		}
		var err error
		if r.Structured, err = json.Marshal(answer); err != nil {
			return fmt.Errorf("stubs: %w", err)
		}
	}
	if c.Usage != nil {
		r.Usage = metadata.Usage{InputTokens: c.Usage.Input, OutputTokens: c.Usage.Output, CachedTokens: c.Usage.Cached, USD: c.Usage.USD, Turns: 1}
	}
	r.Limit = c.Limit
	return c.writeFiles(t.Dir)
}

// writeFiles never leaves the tree, whatever links are in it.
func (c stub) writeFiles(dir string) error {
	if len(c.Files) == 0 {
		return nil
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	for name, text := range c.Files {
		name = filepath.FromSlash(name)
		if err := root.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			return err
		}
		if err := root.WriteFile(name, []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// err is the error an entry scripts.
func (e *stubError) err() error {
	message := e.Message
	if message == "" {
		message = "scripted"
	}
	return &phases.AgentError{Class: e.Class, Agent: "rehearsal", RetryAfter: time.Duration(e.RetryAfter), Err: errors.New(message)}
}
