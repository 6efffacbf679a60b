package source

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
)

// What is wrong with a plan is found from the plan alone. That each mistake is told at its
// place is held by the tests of the files in pipelines/source.
func TestCheck(t *testing.T) {
	phase := func(name string, needs ...string) DraftPhase {
		return DraftPhase{Review: true, Phase: pipelines.Phase{Name: name, Goal: "g", Writes: name + ".md", Needs: needs}}
	}
	for what, tt := range map[string]struct {
		phases []DraftPhase
		rules  []pipelines.Rule
		want   string // in the only mistake; empty: there is none
	}{
		"good":          {[]DraftPhase{phase("plan"), phase("code", "plan")}, nil, ""},
		"nowhere":       {[]DraftPhase{phase("plan"), phase("code", "plna")}, nil, `no phase "plna"`},
		"twice":         {[]DraftPhase{phase("plan"), phase("plan")}, nil, `"plan" is already the name of`},
		"order":         {[]DraftPhase{phase("code", "plan"), phase("plan")}, nil, `"plan" comes later`},
		"circle":        {[]DraftPhase{phase("code", "plan"), phase("plan", "code")}, nil, `"plan" comes later and needs "code" itself`},
		"rule, nowhere": {[]DraftPhase{phase("plan")}, []pipelines.Rule{{After: "paln", When: "{}"}}, `no phase "paln"`},
	} {
		t.Run(what, func(t *testing.T) {
			m, n := &MistakeList{}, &Node{Kind: ObjectNode}
			phases, rules := &Node{Kind: ListNode}, &Node{Kind: ListNode}
			for range tt.phases {
				phases.Items = append(phases.Items, &Node{Kind: ObjectNode})
			}
			for range tt.rules {
				rules.Items = append(rules.Items, &Node{Kind: ObjectNode})
			}
			n.Set("phases", phases)
			n.Set("rules", rules)
			Check(m, n, &DraftPipeline{Phases: tt.phases, Pipeline: pipelines.Pipeline{Rules: tt.rules}})
			switch {
			case tt.want == "" && len(m.Found) > 0:
				t.Errorf("found %v", m.Found)
			case tt.want != "" && (len(m.Found) != 1 || !strings.Contains(m.Found[0].Message, tt.want)):
				t.Errorf("found %v, want %q", m.Found, tt.want)
			}
		})
	}
}
