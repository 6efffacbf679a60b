package source

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/pipelines"
)

// configured is a repository with settings and pipelines.
func configured(t *testing.T, config string, files map[string]string) Sources {
	t.Helper()
	s := repo(t, files)
	s.Repo.(fstest.MapFS)["config.yaml"] = &fstest.MapFile{Data: []byte(config)}
	return s
}

// The settings of a repository count over a built-in pipeline, and under what its own
// pipelines say; each value is known by the file that says it.
func TestConfig(t *testing.T) {
	s := configured(t, `
language: ja
budget: {usd: 3, attempts: 9}
network: model
finish: keep
agents: {writer: {use: codex}}
hooks: [{on: [fail], run: tell}]
pipeline: own
`, map[string]string{
		"own.cue":   `extends: "fix", finish: "remove", budget: usd: 4, language: "en", hooks: [{on: ["wait"], run: "mine"}]`,
		"alone.cue": `budget: time: "1h", agents: me: use: "gemini", phases: [{name: "a", goal: "x"}], hooks: [{on: ["wait"], run: "mine"}]`,
	})
	const config, own, alone = ".github/reprise/config.yaml", ".github/reprise/pipelines/own.cue", ".github/reprise/pipelines/alone.cue"
	for name, want := range map[string]struct {
		language, hooks string
		finish          string
		usd             float64
		attempts        int
		closed          bool
		agents          []string
		origins         map[string]string
	}{
		"feature": {"ja", "tell", pipelines.FinishKeep, 3, 9, true, []string{"reviewer", "second", "writer"}, map[string]string{
			"language": config, "network": config, "finish": config, "hooks[0]": config, "budget.usd": config, "budget.attempts": config, "budget.time": "builtin:feature", "agents.writer": config,
		}},
		"own": {"en", "mine", "remove", 4, 9, true, []string{"reviewer", "second", "writer"}, map[string]string{
			"language": own, "network": config, "finish": own, "hooks[0]": own, "budget.usd": own, "budget.attempts": config, "agents.writer": config,
		}},
		"alone": {"ja", "mine tell", pipelines.FinishKeep, 3, 9, true, []string{"me"}, map[string]string{
			"language": config, "network": config, "finish": config, "hooks[0]": alone, "hooks[1]": config, "budget.usd": config, "budget.attempts": config, "budget.time": alone, "agents.me": alone,
		}},
	} {
		p, err := Load(t.Context(), s, name)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var hooks []string
		for _, h := range p.Hooks {
			hooks = append(hooks, h.Run)
		}
		if p.Language != want.language || p.Finish != want.finish || strings.Join(hooks, " ") != want.hooks || p.Budget.USD != want.usd || p.Budget.Attempts != want.attempts || p.Phases[0].Execute.Network.Closed != want.closed {
			t.Errorf("%s: %+v", name, p)
		}
		if agents := slices.Sorted(maps.Keys(p.Agents)); !slices.Equal(agents, want.agents) {
			t.Errorf("%s: agents %v, want %v", name, agents, want.agents)
		}
		if diff := cmp.Diff(want.origins, p.Origins); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if usual, err := s.UsualPipeline(t.Context()); err != nil || usual != "own" {
		t.Errorf("the usual pipeline is %q, %v", usual, err)
	}
}

// Mistakes in the settings have their place, whatever pipeline is asked for.
func TestConfigMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"budget: {usd: -1}\n": ".github/reprise/config.yaml:1:15: budget.usd: got -1, expected a number from 0 to 1000000",
		"phases: []\n":        ".github/reprise/config.yaml:1:1: phases: unknown field, expected one of agents, budget, finish, hooks, language, network, notes, pipeline, protect, reflect",
		"notify: []\n":        `.github/reprise/config.yaml:1:1: notify: unknown field, did you mean "hooks"?`,
		"agents: {writer: {use: codex, env: [PATH=1]}}\n":             ".github/reprise/config.yaml:1:37: agents.writer.env[0]: ",
		"agents: {writer: {use: command}}\n":                          ".github/reprise/config.yaml:1:18: agents.writer.command: missing, expected the program",
		"agents: {writer: {use: gemini, mcp: {own: {command: a}}}}\n": ".github/reprise/config.yaml:1:37: agents.writer.mcp: agent gemini does not take mcp; only claude and codex do",
		"a: [\n": ".github/reprise/config.yaml:",
	} {
		s := configured(t, text, map[string]string{"own.cue": `extends: "fix"`})
		for _, name := range []string{"fix", "own"} {
			var found pipelines.Mistakes
			if _, err := Load(t.Context(), s, name); !errors.As(err, &found) || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("%q with %s: %v, want %s", text, name, err, want)
			}
		}
		if _, err := s.UsualPipeline(t.Context()); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q by itself: %v, want %s", text, err, want)
		}
	}
	if name, err := configured(t, "agents: {writer: {use: codex, fallback: third}}\npipeline: fix\n", nil).UsualPipeline(t.Context()); err != nil || name != "fix" {
		t.Errorf("what a pipeline may have: %q, %v", name, err)
	}
	s := configured(t, "pipeline: fixx/quick\n", nil)
	s.Repo.(fstest.MapFS)["config.json"] = &fstest.MapFile{Data: []byte("{}")}
	if _, err := s.UsualPipeline(t.Context()); err == nil || err.Error() != `.github/reprise/config.yaml:1:11: pipeline: no pipeline "fixx", did you mean "fix"?` {
		t.Errorf("a pipeline that is not there: %v", err)
	}
	found, err := s.Shadowed()
	if err != nil || len(found) != 1 || found[0].Error() != ".github/reprise/config.json: never read, as config.yaml has the same name; rename or remove one of the two" {
		t.Errorf("a second file of settings: %v, %v", found, err)
	}
}
