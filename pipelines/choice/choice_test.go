package choice

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/reprise-ci/reprise/pipelines"
)

// childArg makes the test program a child that evaluates, as the hidden
// command does for reprise.
const childArg = "evaluate-as-child"

func TestMain(m *testing.M) {
	if len(os.Args) == 2 && os.Args[1] == childArg {
		os.Exit(pipelines.Child(os.Stdin, os.Stdout))
	}
	os.Exit(m.Run())
}

// repo is a folder .github/reprise with pipelines by file name.
func repo(t *testing.T, files map[string]string) pipelines.Sources {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	folder := fstest.MapFS{}
	for name, text := range files {
		folder["pipelines/"+name] = &fstest.MapFile{Data: []byte(text)}
	}
	// Under the race detector a program would wait a second before it ends.
	return pipelines.Sources{Repo: folder, Evaluator: pipelines.Evaluator{Argv: []string{"/usr/bin/env", "GORACE=atexit_sleep_ms=0", self, childArg}}}
}

func TestMake(t *testing.T) {
	s := repo(t, map[string]string{
		"docs.cue":  `select: {labels: ["Documentation"], title: "^docs?:"}, phases: [{name: "a", goal: "x"}]`,
		"zebra.cue": `select: {labels: ["bug"], type: "Chore"}, phases: [{name: "a", goal: "x"}]`,
	})
	for name, test := range map[string]struct {
		issue Issue
		named string
		want  string
	}{
		"named":            {Issue{Labels: []string{"reprise:fix"}}, "audit", `audit: "audit" was named`},
		"named preset":     {Issue{}, "full/testing", `full: "full/testing" was named`},
		"label":            {Issue{Labels: []string{"bug", "reprise:Skill"}}, "", `skill: the issue has the label "reprise:skill"`},
		"label, preset":    {Issue{Labels: []string{"reprise:full/prototype"}}, "", `full: the issue has the label "reprise:full/prototype"`},
		"repository first": {Issue{Labels: []string{"Bug"}}, "", `zebra: the issue has the label "Bug", which "zebra" selects`},
		"title":            {Issue{Title: "Docs: typo"}, "", `docs: the issue's title matches "^docs?:", which "docs" selects`},
		"type":             {Issue{Type: "chore"}, "", `zebra: the issue is of type "chore", which "zebra" selects`},
		"built in":         {Issue{Title: "fix the door"}, "", `fix: the issue's title matches "^(fix|bug)\\b", which "fix" selects`},
		"enhancement":      {Issue{Labels: []string{"enhancement"}}, "", `feature: the issue has the label "enhancement", which "feature" selects`},
		"nothing":          {Issue{Title: "prefix of it"}, "", `full: no other pipeline selects this issue`},
		"two labels":       {Issue{Labels: []string{"reprise:fix", "reprise:audit"}}, "", "the labels reprise:audit and reprise:fix each name a pipeline; keep one of them"},
		"bad label":        {Issue{Labels: []string{"reprise:fulll"}}, "", `label "reprise:fulll": no pipeline "fulll", did you mean "full"?`},
		"trigger label":    {Issue{Labels: []string{"reprise"}}, "", `full: no other pipeline selects this issue`},
	} {
		p, why, err := Make(t.Context(), s, test.issue, test.named)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			got = p.Name + ": " + why.String()
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	s.Repo.(fstest.MapFS)["config.cue"] = &fstest.MapFile{Data: []byte(`pipeline: "full/testing"`)}
	for want, issue := range map[string]Issue{
		`fix: the issue has the label "reprise:fix"`:                      {Labels: []string{"reprise:fix"}},
		`docs: the issue's title matches "^docs?:", which "docs" selects`: {Title: "docs: fix the door"},
		`full: the settings of the repository name "full/testing" for it`: {Title: "fix the door"},
	} {
		if p, why, err := Make(t.Context(), s, issue, ""); err != nil || p.Name+": "+why.String() != want {
			t.Errorf("with settings: got %v: %s, %v, want %s", p, why, err, want)
		}
	}
	bad := repo(t, map[string]string{"bad.cue": "phases: 5"})
	if _, _, err := Make(t.Context(), bad, Issue{}, "fix"); err != nil {
		t.Errorf("a mistake in another pipeline than the named one: %v", err)
	}
	if _, _, err := Make(t.Context(), bad, Issue{}, ""); err == nil {
		t.Error("a mistake in a pipeline that has to be asked: no error")
	}
}
