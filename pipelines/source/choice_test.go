package source

import (
	"testing"
	"testing/fstest"

	"github.com/reprise-ci/reprise/prompts"
)

func TestMake(t *testing.T) {
	s := repo(t, map[string]string{
		"docs.cue":  `select: {labels: ["Documentation"], title: "^docs?:"}, phases: [{name: "a", goal: "x"}]`,
		"zebra.cue": `select: {labels: ["bug"], type: "Chore"}, phases: [{name: "a", goal: "x"}]`,
	})
	for name, test := range map[string]struct {
		issue ChoiceIssue
		named string
		want  string
	}{
		"named":            {ChoiceIssue{Labels: []string{"reprise:fix"}}, "audit", `audit: "audit" was named`},
		"named preset":     {ChoiceIssue{}, "full/testing", `full: "full/testing" was named`},
		"label":            {ChoiceIssue{Labels: []string{"bug", "reprise:Skill"}}, "", `skill: the issue has the label "reprise:skill"`},
		"label, preset":    {ChoiceIssue{Labels: []string{"reprise:full/prototype"}}, "", `full: the issue has the label "reprise:full/prototype"`},
		"repository first": {ChoiceIssue{Labels: []string{"Bug"}}, "", `zebra: the issue has the label "Bug", which "zebra" selects`},
		"title":            {ChoiceIssue{Title: "Docs: typo"}, "", `docs: the issue's title matches "^docs?:", which "docs" selects`},
		"type":             {ChoiceIssue{Type: "chore"}, "", `zebra: the issue is of type "chore", which "zebra" selects`},
		"built in":         {ChoiceIssue{Title: "fix the door"}, "", `fix: the issue's title matches "^(fix|bug)\\b", which "fix" selects`},
		"enhancement":      {ChoiceIssue{Labels: []string{"enhancement"}}, "", `feature: the issue has the label "enhancement", which "feature" selects`},
		"nothing":          {ChoiceIssue{Title: "prefix of it"}, "", `open, feature: no pipeline selects this issue, so an agent judges it when its run begins; if none can, it takes "feature"`},
		"auto is named":    {ChoiceIssue{Labels: []string{"reprise:skill", "Bug"}}, "auto", `zebra: the issue has the label "Bug", which "zebra" selects`},
		"auto by label":    {ChoiceIssue{Labels: []string{"reprise:auto"}, Title: "fix it"}, "", `fix: the issue's title matches "^(fix|bug)\\b", which "fix" selects`},
		"two labels":       {ChoiceIssue{Labels: []string{"reprise:fix", "reprise:audit"}}, "", "the labels reprise:audit and reprise:fix each name a pipeline; keep one of them"},
		"bad label":        {ChoiceIssue{Labels: []string{"reprise:fulll"}}, "", `label "reprise:fulll": no pipeline "fulll", did you mean "full"?`},
		"trigger label":    {ChoiceIssue{Labels: []string{"reprise"}}, "", `open, feature: no pipeline selects this issue, so an agent judges it when its run begins; if none can, it takes "feature"`},
	} {
		c, err := Choose(t.Context(), s, test.issue, test.named)
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case c.Open:
			got = "open, "
			fallthrough
		default:
			got += c.Plan.Name + ": " + c.Why.In(prompts.Words("en"))
		}
		if got != test.want {
			t.Errorf("%s: got %s, want %s", name, got, test.want)
		}
	}
	s.Repo.(fstest.MapFS)["config.cue"] = &fstest.MapFile{Data: []byte(`pipeline: "full/testing"`)}
	for want, issue := range map[string]ChoiceIssue{
		`fix: the issue has the label "reprise:fix"`:                      {Labels: []string{"reprise:fix"}},
		`docs: the issue's title matches "^docs?:", which "docs" selects`: {Title: "docs: fix the door"},
		`full: the settings of the repository name "full/testing" for it`: {Title: "fix the door"},
	} {
		if c, err := Choose(t.Context(), s, issue, ""); err != nil || c.Open || c.Plan.Name+": "+c.Why.In(prompts.Words("en")) != want {
			t.Errorf("with settings: got %v: %s, %v, want %s", c.Plan, c.Why, err, want)
		}
	}
	// Where auto is named, the usual pipeline does not count; a repository's own one of that name does.
	if c, err := Choose(t.Context(), s, ChoiceIssue{Title: "fix the door"}, "auto"); err != nil || c.Plan.Name != "fix" {
		t.Errorf("auto over settings: %v, %v", c.Plan, err)
	}
	s.Repo.(fstest.MapFS)["config.cue"] = &fstest.MapFile{Data: []byte(`pipeline: "auto"`)}
	if c, err := Choose(t.Context(), s, ChoiceIssue{Title: "open the door"}, ""); err != nil || !c.Open {
		t.Errorf("auto in the settings: %v, %v", c.Plan, err)
	}
	s.Repo.(fstest.MapFS)["pipelines/auto.cue"] = &fstest.MapFile{Data: []byte(`phases: [{name: "a", goal: "x"}]`)}
	for _, named := range []string{"auto", ""} {
		if c, err := Choose(t.Context(), s, ChoiceIssue{Title: "fix the door"}, named); err != nil || c.Open || c.Plan.Name != "auto" {
			t.Errorf("an auto of its own, named %q: %v, %v", named, c.Plan, err)
		}
	}
	bad := repo(t, map[string]string{"bad.cue": "phases: 5"})
	if _, err := Choose(t.Context(), bad, ChoiceIssue{}, "fix"); err != nil {
		t.Errorf("a mistake in another pipeline than the named one: %v", err)
	}
	if _, err := Choose(t.Context(), bad, ChoiceIssue{}, ""); err == nil {
		t.Error("a mistake in a pipeline that has to be asked: no error")
	}
}
