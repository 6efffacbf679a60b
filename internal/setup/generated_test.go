package setup

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// TestMain lets the test be the process that evaluates pipelines.
func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == "evaluate" {
		os.Exit(source.Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// self evaluates pipelines in another process of this test.
func self() source.Evaluator {
	return source.Evaluator{Argv: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", os.Args[0], "evaluate"}}
}

func TestMerge(t *testing.T) {
	for _, tt := range []struct {
		name, base, ours, theirs, want string
		conflict                       bool
	}{
		{name: "nobody changed anything", base: "a b c", ours: "a b c", theirs: "a b c", want: "a b c"},
		{name: "only we", base: "a b c", ours: "a x c", theirs: "a b c", want: "a x c"},
		{name: "only they", base: "a b c", ours: "a b c", theirs: "a b x", want: "a b x"},
		{name: "both, apart", base: "a b c d", ours: "x b c d", theirs: "a b c y", want: "x b c y"},
		{name: "both the same", base: "a b c", ours: "a x c", theirs: "a x c", want: "a x c"},
		{name: "both otherwise", base: "a b c", ours: "a x c", theirs: "a y c", conflict: true},
		{name: "beside each other", base: "a b c d", ours: "a x c d", theirs: "a b y d", conflict: true},
		{name: "we add, they remove elsewhere", base: "a b c d", ours: "a new b c d", theirs: "a b c", want: "a new b c"},
		{name: "both add at the end", base: "a", ours: "a b", theirs: "a c", conflict: true},
		{name: "we remove what they change", base: "a b c", ours: "a c", theirs: "a x c", conflict: true},
		{name: "the same line several times", base: "x a x b x", ours: "x a x b x new", theirs: "x x b x", want: "x x b x new"},
		{name: "we remove all", base: "a b", ours: "", theirs: "a b", want: ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := func(words string) string {
				if words == "" {
					return ""
				}
				return strings.ReplaceAll(words, " ", "\n") + "\n"
			}
			got, ok := merge(text(tt.base), text(tt.ours), text(tt.theirs))
			if ok == tt.conflict || ok && got != text(tt.want) {
				t.Errorf("%q, %v; want %q", got, ok, text(tt.want))
			}
		})
	}
}

// A text of today with the stamp of another is written anew: else a later upgrade
// would take it for one that somebody has changed.
func TestAStampOfAnotherText(t *testing.T) {
	now, before := Stamped("# "+Mark+"\nnew\n", "v2"), Stamped("# "+Mark+"\nold\n", "v1")
	for was, want := range map[string]FileState{now: Same, before: Outdated, strings.Replace(before, "old", "new", 1): Outdated, strings.Replace(before, "old", "mine", 1): Edited} {
		if got := (FileChange{GeneratedFile: GeneratedFile{Text: now}, Was: was}).state(); got != want {
			t.Errorf("%q: %v, want %v", was, got, want)
		}
	}
}

// TestUpgrade follows a file through two newer versions, with a change of somebody
// in it.
func TestUpgrade(t *testing.T) {
	text := func(version, lines string) string {
		return Stamped("# By init "+Mark+"\n"+strings.ReplaceAll(lines, " ", "\n")+"\n", version)
	}
	first, second, third := text("v1.0.0", "a b c d e"), text("v1.1.0", "a b c d e new"), text("v1.2.0", "A b c d e newer")
	var history [][]byte
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	upgrade := func(was, to string) (FileChange, string, error) {
		if err := root.WriteFile("f", []byte(was), 0o644); err != nil {
			t.Fatal(err)
		}
		changes, err := CompareFiles(root, []GeneratedFile{{Name: "f", Text: to}}, func(string) ([][]byte, error) { return history, nil })
		if err != nil {
			t.Fatal(err)
		}
		texts, err := changes[0].Upgrades()
		if err != nil {
			return changes[0], "", err
		}
		if err := WriteFiles(root, texts); err != nil {
			t.Fatal(err)
		}
		now, err := root.ReadFile("f")
		return changes[0], string(now), err
	}

	if c, now, err := upgrade(first, second); c.State != Outdated || now != second || err != nil {
		t.Errorf("untouched: state %d, %v, %q", c.State, err, now)
	}
	if c, now, _ := upgrade(first, text("v9.0.0", "a b c d e")); c.State != Same || now != first {
		t.Errorf("the same text of another version: state %d, %q", c.State, now)
	}
	edited := strings.Replace(first, "\nc\n", "\nmine\n", 1)
	if c, _, err := upgrade(edited, second); c.State != Edited || err == nil || !strings.Contains(err.Error(), "no commit has it") {
		t.Errorf("edited, and never committed as it was: state %d, %v", c.State, err)
	}
	history = [][]byte{[]byte(edited), []byte(first)}
	_, now, err := upgrade(edited, second)
	if want := strings.Replace(second, "\nc\n", "\nmine\n", 1); now != want || err != nil {
		t.Fatalf("edited: %v, %q, want %q", err, now, want)
	}
	history = append([][]byte{[]byte(now)}, history...) // the second version is in no commit as it was written
	c, now, err := upgrade(now, third)
	if want := strings.Replace(third, "\nc\n", "\nmine\n", 1); now != want || err != nil {
		t.Errorf("edited, twice: state %d, %v, %q, want %q", c.State, err, now, want)
	}
	if _, _, err := upgrade(edited, text("v2.0.0", "a b theirs d e")); err == nil || !strings.Contains(err.Error(), "the same lines") {
		t.Errorf("a conflict: %v", err)
	}
	if c, _, err := upgrade("mine alone\n", second); c.State != Foreign || err == nil {
		t.Errorf("a file of somebody else: state %d, %v", c.State, err)
	}
}

// TestPipelines holds what is written to the checker that everybody's pipelines
// go through, whatever the commands look like.
func TestPipelines(t *testing.T) {
	found := Found{
		Setup:  []FoundCommand{{Name: "node-modules", Run: "npm ci", Why: "package.json", Hosts: []string{"registry.npmjs.org", "npm.example:8443"}, Leaves: []string{"node_modules"}, Env: map[string]string{"B": `"`, "A": "1"}}},
		Checks: []FoundCommand{{Name: "test", Run: `make "te\(st)" <x>`, Why: "Makefile", Timeout: "20m"}},
	}
	files, err := PipelineFiles(t.Context(), found, Crew{Writer: "claude"}, "v1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	if err := WriteFiles(root, files); err != nil {
		t.Fatal(err)
	}
	sources := source.Sources{Repo: os.DirFS(filepath.Join(dir, ".github/reprise")), Evaluator: self()}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f.Name), ".cue")
		p, err := source.Load(t.Context(), sources, name)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, f.Text)
		}
		builtin, err := source.Load(t.Context(), source.Sources{}, name)
		if err != nil {
			t.Fatal(err)
		}
		checked := 0
		for i, ph := range p.Phases {
			if ph.Access != pipelines.AccessTree {
				continue
			}
			checked++
			if n := len(ph.Checks); n != 1 || ph.Checks[0].Run != found.Checks[0].Run {
				t.Errorf("%s: the checks of %s are %v", name, ph.Name, ph.Checks)
			}
			p.Phases[i].Checks = nil
		}
		if len(p.Setup) != 1 || p.Setup[0].Run != "npm ci" || p.Setup[0].Env["B"] != `"` {
			t.Errorf("%s: the setup is %v", name, p.Setup)
		}
		if n := p.Setup[0].Network; !n.Closed || n.Listen || !slices.Equal(n.Allow, found.Setup[0].Hosts) || !strings.Contains(f.Text, `{allow: ["registry.npmjs.org", "npm.example:8443"], listen: true}`) {
			t.Errorf("%s: the setup reaches %v:\n%s", name, n, f.Text)
		}
		if !p.Baseline {
			t.Errorf("%s: what failed before holds the work up", name)
		}
		p.Setup, p.Baseline = nil, false
		if p.Source, builtin.Source = "", ""; checked == 0 || !bytes.Equal(asJSON(t, p), asJSON(t, builtin)) {
			t.Errorf("%s: %d phases with checks; it differs from the built-in one in more than these", name, checked)
		}
	}
	if none, err := PipelineFiles(t.Context(), Found{Setup: found.Setup}, Crew{Writer: "claude"}, "v1.2.3"); err != nil || len(none) > 0 {
		t.Errorf("without a check: %d files, %v", len(none), err)
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Who works stands in the pipelines, where it is not who does anyway.
func TestCrew(t *testing.T) {
	for crew, want := range map[Crew]string{
		{Writer: "claude"}: "", {Writer: "claude", Reviewer: "codex"}: "", {Writer: "codex"}: "", {Writer: "gemini", Reviewer: "gemini"}: "",
		{Writer: "codex", Reviewer: "claude"}:  "agents: {\n\twriter:   {use: \"codex\"}\n\treviewer: {use: \"claude\", access: \"run\", models: {heavy: \"opus\", medium: \"sonnet\", light: \"haiku\"}}\n}\n",
		{Writer: "claude", Reviewer: "gemini"}: "reviewer: {use: \"gemini\", access: \"run\"}",
	} {
		files, err := PipelineFiles(t.Context(), Found{}, crew, "v1.2.3")
		if err != nil || (len(files) > 0) != (want != "") {
			t.Fatalf("%v: %d files, %v", crew, len(files), err)
		}
		for _, f := range files {
			file := filepath.Join(t.TempDir(), "own.cue")
			if err := os.WriteFile(file, []byte(f.Text), 0o644); err != nil {
				t.Fatal(err)
			}
			p, err := source.Load(t.Context(), source.Sources{Path: file, Evaluator: self()}, "")
			if err != nil || !strings.Contains(f.Text, want) {
				t.Fatalf("%v: %v\n%s", crew, err, f.Text)
			}
			if ph := p.Phases[0]; p.Agents[ph.Execute.Agent].Use != crew.Writer || p.Agents[ph.Review.Agent].Use != crew.Reviewer {
				t.Errorf("%v: %s writes and %s reviews in %s", crew, ph.Execute.Agent, ph.Review.Agent, f.Name)
			}
		}
	}
}
