package workspace

import (
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// A file of settings is checked by itself when it is named.
func TestVetSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	for text, want := range map[string]string{"budget: {usd: 3}": "", "pipeline: nope": ":1:11: pipeline: no pipeline \"nope\"", "budgets: 1": ":1:1: budgets: unknown field"} {
		testenv.Put(t, file, text)
		found, _, err := vetEach(t.Context(), nil, []string{file}, vetTime)
		if err != nil || !strings.Contains(found[0].Error(), want) || (want == "") != (len(found[0]) == 0) {
			t.Errorf("%s: %v, %v, want %s", text, found, err, want)
		}
	}
	if found, _, err := vetEach(t.Context(), nil, []string{filepath.Join(t.TempDir(), "config.cue")}, vetTime); err != nil || len(found[0]) != 1 {
		t.Errorf("a file that is not there: %v, %v", found, errors.Unwrap(err))
	}
}

// crewOf gives who works in the phase of a plan: program and model of each step.
func crewOf(plan *pipelines.Pipeline) (out []string) {
	p := plan.Phases[0]
	for _, s := range []pipelines.Step{p.Execute, p.Review, p.Revise} {
		out = append(out, plan.Agents[s.Agent].Use+" "+s.Model)
	}
	return out
}

// Who works is up to the pipeline: what is installed only says who stands in.
func TestCrew(t *testing.T) {
	const usual, single = `phases: [{name: "a", goal: "g", tier: "heavy"}]`, `agents: own: {use: "claude", models: {heavy: "opus", medium: "sonnet"}}, phases: [{name: "a", goal: "g"}]`
	for name, tt := range map[string]struct {
		text   string
		choice Choice
		want   []string
		alike  bool
	}{
		"as it says":           {usual, Choice{}, []string{"claude opus", "codex ", "claude opus"}, false},
		"both are installed":   {usual, Choice{Installed: []string{"claude", "codex"}}, []string{"claude opus", "codex ", "claude opus"}, false},
		"only Claude":          {usual, Choice{Installed: []string{"claude"}}, []string{"claude opus", "claude sonnet", "claude opus"}, false},
		"only Codex":           {usual, Choice{Installed: []string{"codex"}}, []string{"codex ", "codex ", "codex "}, true},
		"only another one":     {usual, Choice{Installed: []string{"gemini"}}, []string{"gemini ", "gemini ", "gemini "}, true},
		"one does all":         {usual, Choice{Agent: "claude", Installed: []string{"codex"}}, []string{"claude opus", "claude sonnet", "claude opus"}, false},
		"one that it names":    {usual, Choice{Agent: "second"}, []string{"codex ", "codex ", "codex "}, true},
		"one model":            {usual, Choice{Agent: "claude", Model: "opus"}, []string{"claude opus", "claude opus", "claude opus"}, true},
		"a rehearsal":          {usual, Choice{Agent: "rehearsal"}, []string{"rehearsal ", "rehearsal ", "rehearsal "}, false},
		"one agent in it":      {single, Choice{}, []string{"claude sonnet", "claude opus", "claude sonnet"}, false},
		"its own program":      {`agents: own: {use: "command", command: ["x"]}, phases: [{name: "a", goal: "g"}]`, Choice{Installed: []string{"claude"}}, []string{"command ", "command ", "command "}, false},
		"a model for a review": {`agents: own: {use: "claude", models: medium: "opus"}, phases: [{name: "a", goal: "g", steps: review: model: "opus"}]`, Choice{}, []string{"claude opus", "claude opus", "claude opus"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(t.TempDir(), "own.cue")
			testenv.Put(t, file, tt.text)
			eval, err := evaluator()
			testenv.Must(t, err)
			plan, err := source.Load(t.Context(), source.Sources{Path: file, Evaluator: eval}, "")
			testenv.Must(t, err)
			d := Definition{Plan: plan}
			for range 2 { // each start of a run says it anew
				testenv.Must(t, d.assign(tt.choice))
				if diff := cmp.Diff(tt.want, crewOf(d.Plan)); diff != "" {
					t.Errorf("who works (-want +got):\n%s", diff)
				}
			}
			if alike := len(d.Plan.OfOneMind()) > 0; alike != tt.alike {
				t.Errorf("of one mind is %v, want %v", alike, tt.alike)
			}
		})
	}
}

// A judgment of the issue changes who writes and who reviews by tiers, and how often a
// phase is revised. A model that the pipeline names stays, and writer and reviewer differ.
func TestWeigh(t *testing.T) {
	models := map[string]string{"heavy": "h", "medium": "m", "light": "l"}
	for weight, want := range map[source.Weight]string{
		"":             "h m h 3, m h m 3, own h own 0",
		source.Light:   "m h m 2, m h m 2, own h own 0",
		source.Careful: "h m h 5, m h m 5, own h own 0",
	} {
		step := func(tier, model string) pipelines.Step {
			return pipelines.Step{Agent: "a", Tier: tier, Model: model}
		}
		plan := &pipelines.Pipeline{Agents: map[string]pipelines.Agent{"a": {Use: "claude", Models: models}}, Phases: []pipelines.Phase{
			{Revisions: 3, Execute: step("heavy", "h"), Review: step("heavy", "m"), Revise: step("heavy", "h")},
			{Revisions: 3, Execute: step("medium", "m"), Review: step("medium", "h"), Revise: step("medium", "m")},
			{Revisions: 0, Execute: step("heavy", "own"), Review: step("heavy", "h"), Revise: step("heavy", "own")},
		}}
		adjust(plan, weight)
		got := ""
		for i, p := range plan.Phases {
			if i > 0 {
				got += ", "
			}
			got += fmt.Sprintf("%s %s %s %d", p.Execute.Model, p.Review.Model, p.Revise.Model, p.Revisions)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%q (-want +got):\n%s", weight, diff)
		}
	}
}

// TestVetTime has more pipelines that never end than there is time for: they
// are checked side by side, and what was not checked is named.
func TestVetTime(t *testing.T) {
	const bomb = "import \"list\"\n_l: list.Range(0, 3000, 1)\n_n: [for a in _l for b in _l for c in _l {a+b+c}]\nphases: [{name: \"a\", goal: \"x\"}]\n"
	dir := t.TempDir()
	var names []string
	for i := range 12 + 2*runtime.NumCPU() { // so many are checked side by side
		file := filepath.Join(dir, fmt.Sprintf("%d.cue", i))
		testenv.Put(t, file, bomb)
		names = append(names, file)
	}
	begin := time.Now()
	found, _, err := vetEach(t.Context(), nil, names, time.Second)
	if err != nil || len(found) != len(names) {
		t.Fatalf("%d, %v", len(found), err)
	}
	if took := time.Since(begin); took > 5*time.Minute {
		t.Errorf("it took %v", took)
	}
	for i, mistakes := range found {
		if len(mistakes) != 1 || !strings.Contains(mistakes.Error(), names[i]) {
			t.Errorf("of %s it says %v", names[i], mistakes)
		}
	}
	if last := found[len(found)-1].Error(); !strings.Contains(last, "was not checked: all together took longer than 1s; check it by itself: reprise vet ") {
		t.Errorf("the last reads %q", last)
	}
}
