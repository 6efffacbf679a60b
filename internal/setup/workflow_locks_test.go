package setup

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestAgentLocks shows that every package that a workflow installs is known by
// the hash of its content, for every agent.
func TestAgentLocks(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(AgentInstalls())) {
		agent := AgentInstalls()[name]
		data, err := agentLocks.ReadFile("init_agents/" + name + "/package-lock.json")
		testenv.Must(t, err)
		var lock struct {
			Packages map[string]struct {
				Version, Integrity string
				Dependencies       map[string]string
				Optional           bool
				OS, CPU, Libc      []string
			}
		}
		testenv.Must(t, json.Unmarshal(data, &lock))
		if diff := cmp.Diff(map[string]string{agent.Package: agent.Version}, lock.Packages[""].Dependencies); diff != "" {
			t.Errorf("%s: what the lock file is for (-want +got):\n%s", name, diff)
		}
		if got := lock.Packages["node_modules/"+agent.Package].Version; got != agent.Version {
			t.Errorf("%s: the lock file has version %q, want %s", name, got, agent.Version)
		}
		for at, p := range lock.Packages {
			here := slices.Contains(p.OS, "linux") && slices.Contains(p.CPU, "x64") && !slices.Contains(p.Libc, "musl")
			elsewhere := p.Optional && len(p.OS) > 0 && !here // some are for machines whose packages have no known hash
			if at != "" && !strings.HasPrefix(p.Integrity, "sha512-") && !elsewhere {
				t.Errorf("%s: %s has no integrity: %q", name, at, p.Integrity)
			}
		}
	}
}

// A workflow may install two agents: what is locked for each stays as it is.
func TestTwoAgents(t *testing.T) {
	names := slices.Sorted(maps.Keys(AgentInstalls()))
	for _, a := range names {
		for _, b := range names {
			if a == b {
				continue
			}
			files, err := Workflow{Long, DefaultUses(), false, nil, []string{a, b}}.Files()
			if a+b == "geminiqwen" || a+b == "qwengemini" {
				if err == nil || !strings.Contains(err.Error(), a+" and "+b+" need different versions of node-pty") {
					t.Errorf("%s and %s: %v", a, b, err)
				}
				continue
			}
			testenv.Must(t, err)
			var both, one map[string]any
			testenv.Must(t, json.Unmarshal([]byte(files[2].Text), &both))
			seen := map[string]bool{}
			for _, name := range []string{a, b} {
				data, err := agentLocks.ReadFile("init_agents/" + name + "/package-lock.json")
				testenv.Must(t, err)
				testenv.Must(t, json.Unmarshal(data, &one))
				for program, locked := range one["packages"].(map[string]any) {
					if program == "" {
						continue
					}
					seen[program] = true
					all := both["packages"].(map[string]any)[program].(map[string]any)
					if all["optional"] == nil { // as the other cannot do without it
						delete(locked.(map[string]any), "optional")
					}
					if diff := cmp.Diff(locked, any(all)); diff != "" {
						t.Errorf("%s and %s: %s of %s (-want +got):\n%s", a, b, program, name, diff)
					}
				}
			}
			if n := len(both["packages"].(map[string]any)); n != len(seen)+1 {
				t.Errorf("%s and %s: %d packages, want %d", a, b, n, len(seen)+1)
			}
			for _, name := range []string{a, b} {
				if install := AgentInstalls()[name]; versions(files[1].Text)[install.Package] != install.Version || versions(files[2].Text)[install.Package] != install.Version {
					t.Errorf("%s and %s: %s is not installed", a, b, name)
				}
			}
			if !strings.Contains(files[0].Text, "agent: "+a+", "+b+"\n") {
				t.Errorf("the workflow does not name %s and %s", a, b)
			}
		}
	}
}
