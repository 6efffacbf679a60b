package source

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// repo is a folder .github/reprise with pipelines by file name.
func repo(t *testing.T, files map[string]string) Sources {
	t.Helper()
	s := Sources{Repo: fstest.MapFS{}, Evaluator: child(t)}
	for name, text := range files {
		s.Repo.(fstest.MapFS)["pipelines/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	return s
}

func TestLoadFinds(t *testing.T) {
	s := repo(t, map[string]string{
		"fix.yaml":  "phases: [{name: a, goal: x}]",
		"both.cue":  `phases: [{name: "cue", goal: "x"}]`,
		"both.yaml": "phases: [{name: yaml, goal: x}]",
		"toml.toml": "[[phases]]\nname = \"a\"\ngoal = \"x\"\nreport = \"n: int\"\n",
		"json.json": `{"phases": [{"name": "a", "goal": "x", "report": "n: int"}]}`,
		"README.md": "no pipeline",
	})
	for name, want := range map[string]string{
		"fix":     ".github/reprise/pipelines/fix.yaml: a",
		"both":    ".github/reprise/pipelines/both.cue: cue",
		"toml":    ".github/reprise/pipelines/toml.toml: a",
		"json":    ".github/reprise/pipelines/json.json: a",
		"feature": "builtin:feature: design implement evaluate",
		"fxi":     `no pipeline "fxi", did you mean "fix"?`,
		"README":  `no pipeline "README", expected one of audit, both, feature, fix, full, json, refactor, skill, test, toml`,
		"../fix":  `no pipeline "..", expected one of audit, both, feature, fix, full, json, refactor, skill, test, toml`,
		"":        `no pipeline "", expected one of audit, both, feature, fix, full, json, refactor, skill, test, toml`,

		"full/quick-fix": "builtin:full: planning implementation documentation report",
		"full/quickfix":  `pipeline "full" has no preset "quickfix", did you mean "quick-fix"?`,
	} {
		p, err := Load(t.Context(), s, name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = p.Source + ": " + strings.Join(pipelines.NamesOf(p.Phases), " ")
		}
		if got != want {
			t.Errorf("%q: got %s, want %s", name, got, want)
		}
	}
	got, err := s.names()
	want := []string{"both", "fix", "json", "toml", "feature", "refactor", "test", "audit", "skill", "full"}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("names: %v (-want +got):\n%s", err, diff)
	}
}

func TestLoadPath(t *testing.T) {
	dir := t.TempDir()
	good := filepath.Join(dir, "mine.cue")
	testenv.Put(t, good, `extends: "fix", drop: ["analyze"]`)
	pipe := filepath.Join(dir, "pipe.cue")
	testenv.Must(t, syscall.Mkfifo(pipe, 0o600))
	p, err := Load(t.Context(), Sources{Path: good, Evaluator: child(t)}, "")
	testenv.Must(t, err)
	if p.Name != "mine" || p.Source != good || len(p.Phases) != 1 || p.Phases[0].Needs != nil {
		t.Errorf("got %+v", p)
	}
	for name, want := range map[string]string{
		pipe:                         "not a regular file",
		filepath.Join(dir, "no.cue"): "no such file",
		filepath.Join(dir, "x.txt"):  "expected a name that ends in .cue, .yaml, .yml, .json, .toml",
	} {
		if _, err := Load(t.Context(), Sources{Path: name, Evaluator: child(t)}, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if _, err := Load(t.Context(), Sources{Path: good}, ""); err == nil || !strings.Contains(err.Error(), "no process to do it in") {
		t.Errorf("without a child: %v", err)
	}
}

func TestExtends(t *testing.T) {
	s := repo(t, map[string]string{
		"full.cue": `extends: "full"
replace: [
	{name: "design", access: "tree", gates: ["It is short"]},
	{name: "testing", checks: [{name: "tests", run: "make test"}]},
]
insert: [
	{after: "design", phase: {name: "threats", goal: "Think.", needs: ["design"]}},
	{before: "planning", phase: {name: "triage", goal: "Look."}},
]
drop: ["documentation", "evaluation"]
agents: {writer: {use: "gemini"}}
budget: usd: 3
sandbox: {sockets: true, disk: "9GB"}
presets: {"short": ["triage", "planning"]}
protect: ["LICENSE"]
`,
		"strict.yaml": `extends: full
language: ja
defaults: {revisions: 1}
drop: [triage]
protect: [deploy/**]
sandbox: {disk: 6GB}
`,
		"a.cue":    `extends: "b"`,
		"b.cue":    `extends: "a"`,
		"c.cue":    "name: \"c\"\nextends: \"fulll\"",
		"self.cue": `extends: "self"`,
		"e1.cue":   `extends: "e2"`, "e2.cue": `extends: "e3"`, "e3.cue": `extends: "e4"`, "e4.cue": `extends: "e5"`, "e5.cue": `extends: "e6"`, "e6.cue": `extends: "fix"`,
	})
	p, err := Load(t.Context(), s, "strict")
	testenv.Must(t, err)
	want := []string{
		"planning", "requirements", "design", "threats", "test_scenario", "implementation",
		"test_implementation", "testing", "report",
	}
	if diff := cmp.Diff(want, pipelines.NamesOf(p.Phases)); diff != "" {
		t.Errorf("phases (-want +got):\n%s", diff)
	}
	design := p.Phase("design")
	base := load(t, "full").Phase("design")
	if design.Access != pipelines.AccessTree || design.Goal != base.Goal || len(design.Gates) != 1 || design.Report != base.Report {
		t.Errorf("design: got %+v", design)
	}
	if got := p.Phase("testing").Checks; len(got) != 1 || got[0].Timeout != pipelines.Duration(10*time.Minute) {
		t.Errorf("checks: got %+v", got)
	}
	if got := p.Phase("report").Needs; cmp.Diff([]string{"requirements", "design", "implementation", "testing"}, got) != "" {
		t.Errorf("report needs %v", got)
	}
	if _, ok := p.Presets["finalize"]; !ok || len(p.Presets["finalize"]) != 2 || p.Presets["short"][0] != "planning" {
		t.Errorf("presets: got %v", p.Presets)
	}
	wantBudget := pipelines.Budget{USD: 3, Time: pipelines.Duration(5 * time.Hour), Attempts: 150}
	if p.Budget != wantBudget || p.Language != "ja" || design.Revisions != 1 || p.Name != "strict" {
		t.Errorf("budget %+v, language %q, revisions %d, name %q", p.Budget, p.Language, design.Revisions, p.Name)
	}
	if want := (pipelines.Sandbox{Sockets: true, Disk: 6_000_000_000}); p.Sandbox != want {
		t.Errorf("sandbox %+v, want %+v", p.Sandbox, want)
	}
	if got := p.Agents["writer"]; got.Use != "gemini" || got.Models != nil || p.Agents["reviewer"].Use != "codex" {
		t.Errorf("agents: got %+v", p.Agents)
	}
	if diff := cmp.Diff([]string{"LICENSE", "deploy/**"}, p.Protect); diff != "" {
		t.Errorf("protect (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"a":    ".github/reprise/pipelines/b.cue:1:10: extends: \"a\" in turn builds on this one",
		"c":    ".github/reprise/pipelines/c.cue:2:10: extends: no pipeline \"fulll\", did you mean \"full\"?",
		"self": ".github/reprise/pipelines/self.cue:1:10: extends: \"self\" in turn builds on this one",
		"e1":   ".github/reprise/pipelines/e5.cue:1:10: extends: more than 5 pipelines build on one another",
	} {
		_, err := Load(t.Context(), s, name)
		var mistakes pipelines.Mistakes
		if !errors.As(err, &mistakes) || err.Error() != want {
			t.Errorf("%s:\ngot:  %v\nwant: %s", name, err, want)
		}
	}
}

// A name to build on that leads nowhere hides no other mistake of the file.
// What a pipeline says of protected paths is added to what the one has that it builds on, in
// either form, and what contradicts that is a mistake with its place.
func TestExtendsProtected(t *testing.T) {
	s := repo(t, map[string]string{
		"base.yaml": "phases: [{name: a, goal: x}]\nprotect: {paths: [LICENSE], open: [AGENTS.md]}\n",
		"list.yaml": "extends: base\nprotect: [deploy/**]\n",
		"both.cue":  `extends: "list", protect: {open: [".github/workflows/ci.yml"], policy: "approve"}`,
		"bad.cue":   "extends: \"base\"\nprotect: paths: [\"AGENTS.md\"]\n",
		"wide.json": `{"extends": "base", "protect": {"open": [".github/**"]}}`,
	})
	for name, want := range map[string]string{
		"base": "LICENSE; AGENTS.md",
		"list": "LICENSE deploy/**; AGENTS.md",
		"both": "LICENSE deploy/**; AGENTS.md .github/workflows/ci.yml",
		"bad":  `.github/reprise/pipelines/bad.cue:1:10: extends: "AGENTS.md" is protected by the pipeline itself; drop one of the two (.github/reprise/pipelines/base.yaml:2:36: protect.open[0])`,
		"wide": `.github/reprise/pipelines/wide.json:1:42: protect.open[0]: ".github/**" is too wide: name the file, or the files of one folder by more than *, such as ".github/workflows/*.yml"`,
	} {
		p, err := Load(t.Context(), s, name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = strings.Join(p.Protect, " ") + "; " + strings.Join(p.Open, " ")
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
}

func TestExtendsHidesNothing(t *testing.T) {
	s := repo(t, map[string]string{
		"far.yaml": "extends: nowhere\nlangauge: en\nselect: {title: \"(\"}\n",
		"a.yaml":   "extends: b\nprotect: [/etc]\n",
		"b.yaml":   "extends: a\nprotect: [/usr]\n",
	})
	for name, want := range map[string]string{
		"far": `.github/reprise/pipelines/far.yaml:1:10: extends: no pipeline "nowhere", expected one of a, audit, b, far, feature, fix, full, refactor, skill, test
.github/reprise/pipelines/far.yaml:2:1: langauge: unknown field, did you mean "language"?
.github/reprise/pipelines/far.yaml:3:17: select.title: error parsing regexp: missing closing ): ` + "`(`",
		"a": `.github/reprise/pipelines/a.yaml:2:11: protect[0]: "/etc" expected a path from the top of the repository, without / at its start and without ..
.github/reprise/pipelines/b.yaml:1:10: extends: "a" in turn builds on this one
.github/reprise/pipelines/b.yaml:2:11: protect[0]: "/usr" expected a path from the top of the repository, without / at its start and without ..`,
	} {
		_, err := Load(t.Context(), s, name)
		if diff := cmp.Diff(want, fmt.Sprint(err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Of the files with one name only the first is read, and the others are named.
func TestShadowed(t *testing.T) {
	s := repo(t, map[string]string{
		"fix.yaml": "", "cmd.yml": "", "cmd.yaml": "", "cmd.toml": "", "cmd.md": "", "cmd-2.yml": "",
	})
	got, err := s.Shadowed()
	want := pipelines.Mistakes{
		{File: ".github/reprise/pipelines/cmd.yml", Message: "never read, as cmd.yaml has the same name; rename or remove one of the two"},
		{File: ".github/reprise/pipelines/cmd.toml", Message: "never read, as cmd.yaml has the same name; rename or remove one of the two"},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v (-want +got):\n%s", err, diff)
	}
	if got, err := (Sources{}).Shadowed(); err != nil || got != nil {
		t.Errorf("without a repository: %v, %v", got, err)
	}
}

// load evaluates a built-in pipeline.
func load(t testing.TB, name string) *pipelines.Pipeline {
	t.Helper()
	p, err := Load(t.Context(), Sources{}, name)
	if err != nil {
		t.Fatalf("load %s:\n%v", name, err)
	}
	return p
}
