package source

import (
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/reprise-ci/reprise/pipelines"
)

// A pipeline imports packages and builds on pipelines of others. What is resolved stands by itself.
func TestVendor(t *testing.T) {
	s := Sources{Evaluator: child(t), Repo: fstest.MapFS{}}
	for name, text := range map[string]string{
		"pipelines/own.cue": `import "example.com/acme/scan:secure"
extends: "vendor/team"
drop: ["other"]
insert: [{after: "a", phase: secure.#Scan & {name: "mine"}}]`,
		"pipelines/base.yaml":                   "phases: [{name: never, goal: x}]",
		"vendor/team.yaml":                      "extends: base\ninsert: [{after: a, phase: {name: other, goal: x}}]",
		"vendor/base.toml":                      "extends = \"fix\"\n[[insert]]\nbefore = \"analyze\"\nphase = {name = \"a\", goal = \"x\"}\n",
		"vendor/fix.yaml":                       "extends: fix\ndrop: [implement]",
		"vendor/" + VendorSources:               "{}",
		"vendor/example.com/acme/scan/scan.cue": "package secure\nimport \"example.com/acme/words\"\n#Scan: {name: *\"scan\" | string, goal: words.goal, report: words.#Report, ...}",
		"vendor/example.com/acme/words/a.cue":   "package words\ngoal: \"Scan \\(what).\"",
		"vendor/example.com/acme/words/b.cue":   "package words\nwhat: \"it\"\n#Report: risk: #Risk\n#Risk: \"low\" | \"high\"",
		"config.cue":                            "import \"example.com/acme/words\"\nagents: one: {use: \"claude\", if words.what == \"it\" {access: \"run\"}}",
	} {
		s.Repo.(fstest.MapFS)[name] = &fstest.MapFile{Data: []byte(text)}
	}
	p, err := Load(t.Context(), s, "own")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(pipelines.NamesOf(p.Phases), " "); got != "a mine analyze" {
		t.Errorf("phases %s", got)
	}
	mine := p.Phases[1]
	if mine.Goal != "Scan it." || p.Agents["one"].Access != "run" {
		t.Errorf("goal %q, agents %v", mine.Goal, p.Agents)
	}
	if err := checkReport(mine.Report, []byte(`{"risk": "none"}`)); err == nil || !strings.Contains(err.Error(), "risk") {
		t.Errorf("a report that is wrong: %v", err)
	}
	if err := checkReport(mine.Report, []byte(`{"risk": "low"}`)); err != nil {
		t.Error(err)
	}
	for name, want := range map[string]string{"vendor/team": `no pipeline "vendor"`, "scan": `no pipeline "scan"`} {
		if _, err := Load(t.Context(), s, name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// What is imported counts against the limit of all files.
	s.Repo.(fstest.MapFS)["vendor/example.com/acme/words/c.cue"] = &fstest.MapFile{Data: []byte("package words\n//" + strings.Repeat("x", maxInput))}
	if _, err := Load(t.Context(), s, "own"); err == nil || !strings.Contains(err.Error(), "more to read than 262144 bytes") {
		t.Errorf("a large package: %v", err)
	}
	// It is evaluated within the limits of the pipeline, and told apart from no text.
	s.Evaluator.time = time.Second
	for text, want := range map[string]string{
		"package words\nimport \"list\"\n_r: list.Range(0, 1000, 1)\nc: [for a in _r for b in _r for d in _r {a}]": "evaluating it took",
		"package words\nc: \x00": "cannot import example.com/acme/words: .github/reprise/vendor/example.com/acme/words/c.cue:2:",
	} {
		s.Repo.(fstest.MapFS)["vendor/example.com/acme/words/c.cue"].Data = []byte(text)
		if _, err := Load(t.Context(), s, "own"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.30q: %v", text, err)
		}
	}
}
