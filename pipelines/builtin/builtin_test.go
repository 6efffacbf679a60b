package builtin_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// load evaluates a built-in pipeline.
func load(t testing.TB, name string) *pipelines.Pipeline {
	t.Helper()
	p, err := source.Load(t.Context(), source.Sources{}, name)
	if err != nil {
		t.Fatalf("load %s:\n%v", name, err)
	}
	return p
}

func TestBuiltinPhases(t *testing.T) {
	want := map[string][]string{
		"full": {
			"planning", "requirements", "design", "test_scenario", "implementation",
			"test_implementation", "testing", "documentation", "report", "evaluation",
		},
		"feature":  {"design", "implement", "evaluate"},
		"fix":      {"analyze", "implement"},
		"refactor": {"implement"},
		"test":     {"analyze", "implement"},
		"audit":    {"audit", "report"},
		"skill":    {"observe", "abstract", "record"},
	}
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(slices.Values(builtin.Names()))); diff != "" {
		t.Errorf("names (-want +got):\n%s", diff)
	}
	for name, phases := range want {
		p := load(t, name)
		if diff := cmp.Diff(phases, pipelines.NamesOf(p.Phases)); diff != "" {
			t.Errorf("%s: phases (-want +got):\n%s", name, diff)
		}
		if p.Name != name || p.Source != "builtin:"+name || p.Description == "" {
			t.Errorf("%s: name %q, source %q, description %q", name, p.Name, p.Source, p.Description)
		}
	}
}

// TestBuiltinQuality holds the built-in pipelines to what makes a phase worth
// its cost: gates to judge it by, a typed report, and code that really changes.
func TestBuiltinQuality(t *testing.T) {
	for _, name := range builtin.Names() {
		for _, ph := range load(t, name).Phases {
			if n := len(ph.Gates); n < 3 || n > 6 {
				t.Errorf("%s %s: %d gates, want 3 to 6", name, ph.Name, n)
			}
			if n := len(ph.Goal); n < 200 || n > 1200 {
				t.Errorf("%s %s: a goal of %d bytes, want 200 to 1,200", name, ph.Name, n)
			}
			if ph.Report == "" || !json.Valid(ph.ReportSchema) {
				t.Errorf("%s %s: no report", name, ph.Name)
			}
			if ph.Execute.Agent == ph.Review.Agent {
				t.Errorf("%s %s: %q reviews its own work", name, ph.Name, ph.Review.Agent)
			}
		}
	}
}

func TestFullFoldersAndNeeds(t *testing.T) {
	type line struct {
		Folder, Writes string
		Needs          []string
	}
	want := []line{
		{"00_planning", "planning.md", nil},
		{"01_requirements", "requirements.md", []string{"planning"}},
		{"02_design", "design.md", []string{"requirements"}},
		{"03_test_scenario", "test-scenario.md", []string{"requirements", "design"}},
		{"04_implementation", "implementation.md", []string{"requirements", "design", "test_scenario"}},
		{"05_test_implementation", "test-implementation.md", []string{"implementation"}},
		{"06_testing", "testing.md", []string{"test_implementation"}},
		{"07_documentation", "documentation.md", []string{"implementation"}},
		{"08_report", "report.md", []string{"requirements", "design", "implementation", "testing", "documentation"}},
		{"09_evaluation", "evaluation.md", []string{"report"}},
	}
	var got []line
	for _, ph := range load(t, "full").Phases {
		got = append(got, line{ph.Folder, ph.Writes, ph.Needs})
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestPresets(t *testing.T) {
	full := load(t, "full")
	want := []string{
		"analysis-design", "finalize", "full-test", "implementation", "prototype", "quick-fix",
		"review-design", "review-requirements", "review-test-scenario", "testing",
	}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(full.Presets))); diff != "" {
		t.Fatalf("presets (-want +got):\n%s", diff)
	}
	for _, preset := range want {
		p, err := pipelines.Preset(full, preset)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(full.Presets[preset], pipelines.NamesOf(p.Phases)); diff != "" {
			t.Errorf("%s: phases (-want +got):\n%s", preset, diff)
		}
		for i, ph := range p.Phases {
			for _, need := range ph.Needs {
				if !slices.Contains(pipelines.NamesOf(p.Phases[:i]), need) {
					t.Errorf("%s: %s needs %s, which does not come before it", preset, ph.Name, need)
				}
			}
			if ph.Folder != full.Phase(ph.Name).Folder {
				t.Errorf("%s: %s has the folder %s", preset, ph.Name, ph.Folder)
			}
		}
	}
	if diff := cmp.Diff(load(t, "full"), full); diff != "" {
		t.Errorf("the pipeline itself was changed:\n%s", diff)
	}
}

func TestPresetOfRules(t *testing.T) {
	p := &pipelines.Pipeline{
		Phases: []pipelines.Phase{{Name: "a"}, {Name: "b", Needs: []string{"a"}}, {Name: "c", Needs: []string{"a", "b"}}},
		Spare:  []pipelines.Phase{{Name: "s", Needs: []string{"a", "c"}}},
		Rules: []pipelines.Rule{
			{After: "a", Then: pipelines.Then{Insert: "s"}},
			{After: "b", Then: pipelines.Then{Insert: "s"}},
			{After: "s", Then: pipelines.Then{Drop: []string{"b", "c"}}},
			{After: "a", Then: pipelines.Then{Drop: []string{"b"}}},
			{After: "c", Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "b"}}},
			{After: "c", Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "a"}}},
		},
		Presets: map[string][]string{"ac": {"c", "a"}},
	}
	got, err := pipelines.Preset(p, "ac")
	if err != nil {
		t.Fatal(err)
	}
	want := &pipelines.Pipeline{
		Phases: []pipelines.Phase{{Name: "a"}, {Name: "c", Needs: []string{"a"}}},
		Spare:  []pipelines.Phase{{Name: "s", Needs: []string{"a", "c"}}},
		Rules: []pipelines.Rule{
			{After: "a", Then: pipelines.Then{Insert: "s"}},
			{After: "s", Then: pipelines.Then{Drop: []string{"c"}}},
			{After: "c", Then: pipelines.Then{Rollback: &pipelines.RuleRollback{To: "a"}}},
		},
		Presets: p.Presets,
		Preset:  "ac",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if _, err := pipelines.Preset(p, "ab"); err == nil || err.Error() != `pipeline "" has no preset "ab", did you mean "ac"?` {
		t.Errorf("unknown preset: %v", err)
	}
}
