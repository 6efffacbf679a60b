//go:build slow || e2e

package main

import (
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
)

// TestJobIsATrace has a job on GitHub tell a collector.
func TestJobIsATrace(t *testing.T) {
	h := newStage(t, twoSteps)
	spans := filepath.Join(t.TempDir(), "spans.txt")
	server := httptest.NewServer(world.NewCollector(spans))
	defer server.Close()
	h.comment("ada", "/run", "OTEL_EXPORTER_OTLP_ENDPOINT="+server.URL).end(exit.Done).wants("status", "completed")
	data := []byte(testenv.Read(t, spans))
	for _, want := range []string{"run .* <\n", "phase plan <run ", "plan execute <phase plan\n", "invoke_agent .* <plan execute\n"} {
		if !regexp.MustCompile("(?m)^" + want).Match(data) {
			t.Errorf("there is no span %q among:\n%s", want, data)
		}
	}
}

// Parts that are done at the same time each have a span, and what they do lies in it.
func TestPartsAreInTheTrace(t *testing.T) {
	h := newStage(t, strings.Replace(beside, `goal: "Build.", `, `goal: "Build.", checks: [{name: "fine", run: "true"}], `, 1))
	h.write("home/plan-execute", "echo planned >>\"$REPRISE_ARTIFACT\"\necho '{\"structured\": {\"tasks\": "+apart+"}}'\nexit 0\n")
	for part, other := range map[string]string{"t1": "t2", "t2": "t1", "t3": "t3"} { // the first two wait for each other
		h.write("home/build."+part+"-execute", strings.NewReplacer("PART", part, "OTHER", other).Replace(
			"touch \"$HOME/working-PART\"; until [ -e \"$HOME/working-OTHER\" ]; do sleep 0.02; done; echo PART >\"$REPRISE_DIR/PART\"\n"))
	}
	spans, collector := spansOf(t)
	h.comment("ada", "/run", collector).end(exit.Done).wants("status", "completed")
	for _, part := range []string{"build.t1", "build.t2", "build.t3"} {
		spans("phase PART <run own", "PART execute <phase PART", "invoke_agent own <PART execute", "PART check <phase PART")(part)
	}
}

// A part that a job of its own does is in the trace of the run.
func TestPartsOfJobsAreInTheTrace(t *testing.T) {
	h, _ := fansOut(t, apart)
	spans, collector := spansOf(t)
	h.task("build.t1", collector).end(exit.Done)
	spans("run own <", "phase PART <run own", "PART execute <phase PART", "invoke_agent own <PART execute")("build.t1")
}

// spansOf gives a collector, as a variable of the environment, and what holds that it has
// got the spans that a part should have, each once.
func spansOf(t *testing.T) (holds func(want ...string) func(part string), collector string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "spans.txt")
	server := httptest.NewServer(world.NewCollector(file))
	t.Cleanup(server.Close)
	return func(all ...string) func(string) {
		return func(part string) {
			t.Helper()
			data := []byte(testenv.Read(t, file))
			for _, want := range all {
				want = strings.ReplaceAll(want, "PART", part)
				if n := len(regexp.MustCompile("(?m)^"+want+"$").FindAll(data, -1)); n != 1 {
					t.Errorf("there are %d spans %q among:\n%s", n, want, data)
				}
			}
		}
	}, "OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL
}
