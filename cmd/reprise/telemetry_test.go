package main

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/world"
)

// TestJobIsATrace has a job on GitHub tell a collector: also what it asked GitHub for
// before it knew which run it is about.
func TestJobIsATrace(t *testing.T) {
	h := newStage(t, twoSteps)
	spans := filepath.Join(t.TempDir(), "spans.txt")
	server := httptest.NewServer(world.NewCollector(spans))
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
