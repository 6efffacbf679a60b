package workflow

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestAgentLocks shows that every package that a workflow installs is known by
// the hash of its content, for every agent.
func TestAgentLocks(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(AgentInstalls())) {
		agent := AgentInstalls()[name]
		data, err := agentLocks.ReadFile("init_agents/" + name + "/package-lock.json")
		if err != nil {
			t.Fatal(err)
		}
		var lock struct {
			Packages map[string]struct {
				Version, Integrity string
				Dependencies       map[string]string
			}
		}
		if err := json.Unmarshal(data, &lock); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(map[string]string{agent.Package: agent.Version}, lock.Packages[""].Dependencies); diff != "" {
			t.Errorf("%s: what the lock file is for (-want +got):\n%s", name, diff)
		}
		if got := lock.Packages["node_modules/"+agent.Package].Version; got != agent.Version {
			t.Errorf("%s: the lock file has version %q, want %s", name, got, agent.Version)
		}
		for at, p := range lock.Packages {
			if at != "" && !strings.HasPrefix(p.Integrity, "sha512-") {
				t.Errorf("%s: %s has no integrity: %q", name, at, p.Integrity)
			}
		}
	}
}
