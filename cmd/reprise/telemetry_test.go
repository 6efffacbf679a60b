package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/exit"
)

// The scripts about traces have a collector, at $COLLECTOR. It writes a line for each
// span that it gets to $SPANS, with what it lies in.
func TestTelemetryScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/telemetry", Cmds: scriptCommands(), RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			vars, err := world(e.WorkDir)
			spans := filepath.Join(e.WorkDir, "spans.txt")
			server := httptest.NewServer(&spanFile{name: spans, of: map[string]string{}})
			e.Defer(server.Close)
			e.Vars, e.Cd = append(append(e.Vars, vars...), "COLLECTOR="+server.URL, "SPANS="+spans), filepath.Join(e.WorkDir, "project")
			return err
		},
	})
}

// TestJobIsATrace has a job on GitHub tell a collector: also what it asked GitHub for
// before it knew which run it is about.
func TestJobIsATrace(t *testing.T) {
	h := newStage(t, twoSteps)
	spans := filepath.Join(t.TempDir(), "spans.txt")
	server := httptest.NewServer(&spanFile{name: spans, of: map[string]string{}})
	defer server.Close()
	h.comment("ada", "/run", "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL).end(exit.Done).wants("status", "completed")
	data, err := os.ReadFile(spans)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"GET <run ", "run .* <\n", "phase plan <run ", "plan execute <phase plan\n", "invoke_agent .* <plan execute\n", "git push <", "POST <run "} {
		if !regexp.MustCompile("(?m)^" + want).Match(data) {
			t.Errorf("there is no span %q among:\n%s", want, data)
		}
	}
}

// spanFile writes the spans that it gets to a file.
type spanFile struct {
	name string
	mu   sync.Mutex
	all  []collected
	of   map[string]string // names, by id
}

type collected struct{ SpanID, ParentSpanID, Name string }

// ServeHTTP takes spans.
func (f *spanFile) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var form struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []collected } }
	}
	_ = json.NewDecoder(r.Body).Decode(&form) // what is missing is missed
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range form.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			f.all = append(f.all, scope.Spans...)
		}
	}
	text := ""
	for _, s := range f.all {
		f.of[s.SpanID] = s.Name
	}
	for _, s := range f.all {
		text += fmt.Sprintf("%s <%s\n", s.Name, f.of[s.ParentSpanID])
	}
	_ = os.WriteFile(f.name, []byte(text), 0o644)
}
