package consistency

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/draft"
	"github.com/reprise-ci/reprise/pipelines/written"
)

// What is wrong with a plan is found from the plan alone. That each mistake is told at its
// place is held by the tests of the files in pipelines/source.
func TestCheck(t *testing.T) {
	phase := func(name string, needs ...string) draft.Phase {
		return draft.Phase{Name: name, Goal: "g", Writes: name + ".md", Needs: needs}
	}
	for what, tt := range map[string]struct {
		phases []draft.Phase
		rules  []pipelines.Rule
		want   string // in the only mistake; empty: there is none
	}{
		"good":          {[]draft.Phase{phase("plan"), phase("code", "plan")}, nil, ""},
		"nowhere":       {[]draft.Phase{phase("plan"), phase("code", "plna")}, nil, `no phase "plna"`},
		"twice":         {[]draft.Phase{phase("plan"), phase("plan")}, nil, `"plan" is already the name of`},
		"order":         {[]draft.Phase{phase("code", "plan"), phase("plan")}, nil, `"plan" comes later`},
		"circle":        {[]draft.Phase{phase("code", "plan"), phase("plan", "code")}, nil, "a cycle: code needs plan needs code"},
		"rule, nowhere": {[]draft.Phase{phase("plan")}, []pipelines.Rule{{After: "paln", When: "{}"}}, `no phase "paln"`},
	} {
		t.Run(what, func(t *testing.T) {
			m, n := &written.Mistakes{}, &written.Node{Kind: written.Object}
			phases, rules := &written.Node{Kind: written.List}, &written.Node{Kind: written.List}
			for range tt.phases {
				phases.Items = append(phases.Items, &written.Node{Kind: written.Object})
			}
			for range tt.rules {
				rules.Items = append(rules.Items, &written.Node{Kind: written.Object})
			}
			n.Set("phases", phases)
			n.Set("rules", rules)
			Check(m, n, &draft.Pipeline{Phases: tt.phases, Rules: tt.rules})
			switch {
			case tt.want == "" && len(m.Found) > 0:
				t.Errorf("found %v", m.Found)
			case tt.want != "" && (len(m.Found) != 1 || !strings.Contains(m.Found[0].Message, tt.want)):
				t.Errorf("found %v, want %q", m.Found, tt.want)
			}
		})
	}
}
