package setup

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
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

// A text of today with the stamp of another is written anew: else a later upgrade
// would take it for one that somebody has changed.
func TestAStampOfAnotherText(t *testing.T) {
	now, before := stamped("# "+mark+"\nnew\n", "v2"), stamped("# "+mark+"\nold\n", "v1")
	for was, want := range map[string]fileState{now: Same, before: outdated, strings.Replace(before, "old", "new", 1): outdated, strings.Replace(before, "old", "mine", 1): changed} {
		if got := (FileChange{GeneratedFile: GeneratedFile{Text: now}, Was: was}).state(); got != want {
			t.Errorf("%q: %v, want %v", was, got, want)
		}
	}
}

// TestUpgrade shows what becomes of a file when a newer version of its text is written.
func TestUpgrade(t *testing.T) {
	text := func(version, lines string) string { return stamped("# By init "+mark+"\n"+lines+"\n", version) }
	first, second := text("v1.0.0", "a"), text("v1.1.0", "b")
	edited := strings.Replace(first, "\na\n", "\nmine\n", 1)
	root, err := os.OpenRoot(t.TempDir())
	testenv.Must(t, err)
	defer root.Close()
	for _, tt := range []struct {
		name, was, to string
		stands        func(string) fileState
		state         fileState
		want          *GeneratedFile
	}{
		{"missing", "", second, nil, Missing, &GeneratedFile{Name: "f", Text: second}},
		{"untouched", first, second, nil, outdated, &GeneratedFile{Name: "f", Text: second}},
		{"the same text, checked out for Windows", strings.ReplaceAll(second, "\n", "\r\n"), second, nil, Same, nil},
		{"untouched, checked out for Windows", strings.ReplaceAll(first, "\n", "\r\n"), second, nil, outdated, &GeneratedFile{Name: "f", Text: second}},
		{"the same text of another version", first, text("v9.0.0", "a"), nil, Same, nil},
		{"edited", edited, second, nil, changed, &GeneratedFile{Name: "f.new", Text: second}},
		{"of somebody else", "mine alone\n", second, nil, changed, &GeneratedFile{Name: "f.new", Text: second}},
		{"pinned newer by a bot", "9\n", "1\n", func(string) fileState { return Same }, changed, nil},
		{"pinned before", "0\n", "1\n", func(string) fileState { return outdated }, changed, &GeneratedFile{Name: "f", Text: "1\n"}},
	} {
		testenv.Must(t, root.RemoveAll("f"))
		if tt.was != "" {
			testenv.Must(t, WriteFiles(root, []GeneratedFile{{Name: "f", Text: tt.was}}))
		}
		changes, err := CompareFiles(root, []GeneratedFile{{Name: "f", Text: tt.to, Stands: tt.stands}})
		testenv.Must(t, err)
		got := changes[0].Upgraded()
		if changes[0].State != tt.state || (got == nil) != (tt.want == nil) || got != nil && (got.Name != tt.want.Name || got.Text != tt.want.Text) {
			t.Errorf("%s: state %d, %v, want %v", tt.name, changes[0].State, got, tt.want)
		}
	}
}

// TestPipelines holds what is written to the checker that everybody's pipelines
// go through, whatever the commands look like.
func TestPipelines(t *testing.T) {
	found := Found{
		Setup:  []FoundCommand{{Name: "node-modules", Run: "npm ci", Why: "package.json", Hosts: []string{"registry.npmjs.org", "npm.example:8443", "storage.googleapis.com"}, Leaves: []string{"node_modules"}, Env: map[string]string{"B": `"`, "A": "1"}}},
		Checks: []FoundCommand{{Name: "test", Run: `make "te\(st)" <x>`, Why: "Makefile", Timeout: "20m"}},
	}
	files, err := PipelineFiles(t.Context(), found, Crew{Writer: "claude"}, "v1.2.3")
	testenv.Must(t, err)
	dir := t.TempDir()
	root, err := os.OpenRoot(dir)
	testenv.Must(t, err)
	defer root.Close()
	testenv.Must(t, WriteFiles(root, files))
	sources := source.Sources{Repo: os.DirFS(filepath.Join(dir, ".github/reprise")), Evaluator: self()}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f.Name), ".cue")
		p, err := source.Load(t.Context(), sources, name)
		if err != nil {
			t.Fatalf("%s: %v\n%s", name, err, f.Text)
		}
		builtin, err := source.Load(t.Context(), source.Sources{}, name)
		testenv.Must(t, err)
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
		if n := p.Setup[0].Network; !n.Closed || n.Listen || !slices.Equal(n.Allow, found.Setup[0].Hosts) || !strings.Contains(f.Text, `{allow: ["registry.npmjs.org", "npm.example:8443", "storage.googleapis.com"], listen: true}`+"\n// Anybody can keep files at storage.googleapis.com, so it is also a way out.\n") {
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
	vet := Found{Checks: []FoundCommand{{Name: "vet", Run: "go vet ./..."}}}
	if files, err = PipelineFiles(t.Context(), vet, Crew{Writer: "claude"}, "v1.2.3"); err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		name := strings.TrimSuffix(filepath.Base(f.Name), ".cue")
		proves := slices.Contains([]string{"fix", "feature", "refactor", "full"}, name)
		if strings.Contains(f.Text, ", proves: false},") != proves || strings.Contains(f.Text, "No check runs tests.") != proves {
			t.Errorf("%s, where no check runs tests:\n%s", name, f.Text)
		}
	}
	if none, err := PipelineFiles(t.Context(), Found{Setup: found.Setup}, Crew{Writer: "claude"}, "v1.2.3"); err != nil || len(none) > 0 {
		t.Errorf("without a check: %d files, %v", len(none), err)
	}
}

func asJSON(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	testenv.Must(t, err)
	return data
}

// Who reviews stands in the pipelines, where it is not codex.
func TestCrewOfOne(t *testing.T) {
	found := Found{Checks: []FoundCommand{{Name: "test", Run: "make test"}}}
	for crew, want := range map[Crew]int{{"claude", ""}: 0, {"claude", "codex"}: 0, {"claude", "claude"}: 1, {"codex", "codex"}: 1} {
		files, err := PipelineFiles(t.Context(), found, crew, "v1.2.3")
		if err != nil || len(files) == 0 {
			t.Fatalf("%v: %d files, %v", crew, len(files), err)
		}
		for _, f := range files {
			if n := strings.Count(f.Text, fmt.Sprintf("{use: %q", crew.Writer)); n != want {
				t.Errorf("%v stands in %s %d times, want %d:\n%s", crew, f.Name, n, want, f.Text)
			}
			file := filepath.Join(t.TempDir(), "own.cue")
			testenv.Put(t, file, f.Text)
			p, err := source.Load(t.Context(), source.Sources{Path: file, Evaluator: self()}, "")
			if err != nil || crew.Writer == "claude" && len(p.OfOneMind()) > 0 {
				t.Errorf("%v: %v, and one model writes and reviews in %s:\n%s", crew, err, f.Name, f.Text)
			}
		}
	}
}

// Who works stands in the pipelines, where it is not who does anyway.
func TestCrew(t *testing.T) {
	for crew, want := range map[Crew]string{
		{Writer: "claude"}: "", {Writer: "claude", Reviewer: "codex"}: "", {Writer: "codex"}: "",
		{Writer: "gemini", Reviewer: "gemini"}: "writer: {use: \"gemini\"}\ndefaults: reviewer: \"writer\"\n",
		{Writer: "codex", Reviewer: "claude"}:  "agents: {\n\twriter:   {use: \"codex\"}\n\treviewer: {use: \"claude\", access: \"run\", models: {heavy: \"opus\", medium: \"sonnet\", light: \"haiku\"}}\n}\n",
		{Writer: "claude", Reviewer: "gemini"}: "reviewer: {use: \"gemini\", access: \"run\"}",
	} {
		files, err := PipelineFiles(t.Context(), Found{}, crew, "v1.2.3")
		if err != nil || (len(files) > 0) != (want != "") {
			t.Fatalf("%v: %d files, %v", crew, len(files), err)
		}
		for _, f := range files {
			file := filepath.Join(t.TempDir(), "own.cue")
			testenv.Put(t, file, f.Text)
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
