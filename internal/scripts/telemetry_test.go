package scripts

import (
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/test/world"
)

// The scripts about traces have a collector, at $COLLECTOR. It writes a line for each
// span that it gets to $SPANS, with what it lies in.
func TestTelemetryScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir: "testdata/telemetry", Cmds: commands(), RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			vars, err := world.Make(e.WorkDir)
			spans := filepath.Join(e.WorkDir, "spans.txt")
			server := httptest.NewServer(world.NewCollector(spans))
			e.Defer(server.Close)
			e.Vars, e.Cd = append(append(e.Vars, vars...), "COLLECTOR="+server.URL, "SPANS="+spans), filepath.Join(e.WorkDir, "project")
			return err
		},
	})
}
