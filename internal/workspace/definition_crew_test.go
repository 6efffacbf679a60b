package workspace

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

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
			if err := os.WriteFile(file, []byte(tt.text), 0o644); err != nil {
				t.Fatal(err)
			}
			eval, err := Evaluator()
			if err != nil {
				t.Fatal(err)
			}
			plan, err := source.Load(t.Context(), source.Sources{Path: file, Evaluator: eval}, "")
			if err != nil {
				t.Fatal(err)
			}
			d := Definition{Plan: plan}
			for range 2 { // each start of a run says it anew
				if err := d.Assign(tt.choice); err != nil {
					t.Fatal(err)
				}
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
