package source

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// Who may reach what: a step says it, or its phase, or the pipeline.
func TestNetworks(t *testing.T) {
	all := pipelines.Network{}
	alone := pipelines.Network{Closed: true, Listen: true}
	models := pipelines.Network{Closed: true}
	proxy := pipelines.Network{Closed: true, Allow: []string{"proxy.golang.org"}, Listen: true}
	for name, tt := range map[string]struct {
		file, text              string
		execute, review, revise pipelines.Network
		check                   pipelines.Network
	}{
		"nothing":                  {"a.cue", `phases: [{name: "a", goal: "g", checks: [{name: "c", run: "true"}]}]`, models, models, models, alone},
		"the tree":                 {"a.cue", `phases: [{name: "a", goal: "g", access: "tree", checks: [{name: "c", run: "true"}]}]`, all, alone, all, all},
		"a review that only reads": {"a.cue", `phases: [{name: "a", goal: "g", access: "tree", checks: [{name: "c", run: "true"}], steps: review: access: "read"}]`, all, models, all, all},
		"a reader":                 {"a.cue", `agents: {writer: {use: "claude", access: "read"}}, phases: [{name: "a", goal: "g", access: "tree", steps: revise: network: "open"}]`, models, models, all, all},
		"pipeline": {
			"a.cue", `network: {allow: ["proxy.golang.org"], listen: true}, phases: [{name: "a", goal: "g", checks: [{name: "c", run: "true"}]}]`,
			proxy, models, proxy, proxy,
		},
		"phase": {
			"a.yaml", "network: open\nphases:\n- {name: a, goal: g, network: model, checks: [{name: c, run: 'true'}], steps: {revise: {network: open}}}\n",
			models, models, all, models,
		},
		"step": {
			"a.json", `{"network": "model", "phases": [{"name": "a", "goal": "g", "steps": {"execute": {"network": {"allow": ["proxy.golang.org"], "listen": true}}, "review": {"network": "open"}}}]}`,
			proxy, all, models, models,
		},
		"TOML": {
			"a.toml", "[[phases]]\nname = 'a'\ngoal = 'g'\n[phases.network]\nallow = ['proxy.golang.org']\nlisten = true\n[[phases.checks]]\nname = 'c'\nrun = 'true'\n",
			proxy, models, proxy, proxy,
		},
	} {
		p, err := evaluate(request{Files: []file{{Name: tt.file, Text: tt.text}}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		frozen, err := json.Marshal(p)
		var thawed pipelines.Pipeline
		if err == nil {
			err = json.Unmarshal(frozen, &thawed)
		}
		testenv.Must(t, err)
		ph := thawed.Phases[0]
		got := []pipelines.Network{ph.Execute.Network, ph.Review.Network, ph.Revise.Network}
		want := []pipelines.Network{tt.execute, tt.review, tt.revise}
		if len(ph.Checks) > 0 {
			got, want = append(got, ph.Checks[0].Network), append(want, tt.check)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A command of the setup says it itself, or else the pipeline.
func TestNetworksOfTheSetup(t *testing.T) {
	p, err := evaluate(request{Files: []file{{Name: "a.yaml", Text: "network: model\nsetup:\n- {name: a, run: a, network: {allow: [a.example]}}\n- {name: b, run: b, network: open}\n- {name: c, run: c}\nphases:\n- {name: a, goal: g}\n"}}})
	testenv.Must(t, err)
	if got := fmt.Sprint(p.Setup[0].Network, "; ", p.Setup[1].Network, "; ", p.Setup[2].Network); got != "model, a.example; open; model" {
		t.Errorf("they have %s", got)
	}
}

// Which models may be asked: a step says it, or its phase, or the pipeline; an empty
// list says that none may be besides those that are named.
func TestModels(t *testing.T) {
	for name, tt := range map[string]struct {
		file, text              string
		execute, review, revise []string
	}{
		"nothing":  {"a.cue", `phases: [{name: "a", goal: "g"}]`, nil, nil, nil},
		"pipeline": {"a.cue", `allow_models: ["m"], phases: [{name: "a", goal: "g"}]`, []string{"m"}, []string{"m"}, []string{"m"}},
		"phase":    {"a.yaml", "allow_models: [m]\nphases:\n- {name: a, goal: g, allow_models: []}\n", []string{}, []string{"m"}, []string{}},
		"step": {
			"a.json", `{"allow_models": ["m"], "phases": [{"name": "a", "goal": "g", "allow_models": ["n"], "steps": {"execute": {"allow_models": ["o", "p"]}, "review": {"allow_models": []}}}]}`,
			[]string{"o", "p"},
			[]string{},
			[]string{"n"},
		},
	} {
		p, err := evaluate(request{Files: []file{{Name: tt.file, Text: tt.text}}})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		frozen, err := pipelines.Format(p)
		testenv.Must(t, err)
		if p, err = pipelines.Parse(frozen); err != nil {
			t.Fatal(err)
		}
		ph := p.Phases[0]
		if diff := cmp.Diff([][]string{tt.execute, tt.review, tt.revise}, [][]string{ph.Execute.Models, ph.Review.Models, ph.Revise.Models}); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
