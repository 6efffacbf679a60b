package phases

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestChildren(t *testing.T) {
	p, other := &pipelines.Phase{Name: "plan", ReportSchema: json.RawMessage(anyReport)}, &pipelines.Phase{Name: "tell", ReportSchema: json.RawMessage(anyReport)}
	run := metadata.Run{}
	for _, step := range []struct {
		what   string
		p      *pipelines.Phase
		report json.RawMessage
		want   string
	}{
		{"two, one of them twice", p, asksFor(t, "Speak French", " speak  FRENCH\n", "Colour", " "), "plan Speak French, plan Colour"},
		{"another phase", other, asksFor(t, "COLOUR", "Sound"), "plan Speak French, plan Colour, tell Sound"},
		{"the first says it anew", p, asksFor(t, "Speak French", "Smell"), "tell Sound, plan Speak French, plan Smell"},
		{"and asks for nothing", p, json.RawMessage(`{}`), "tell Sound"},
		{"something else of that name", p, json.RawMessage(`{"children": "Ann and Bob"}`), "tell Sound"},
		{"no report for it", &pipelines.Phase{Name: "code"}, asksFor(t, "Taste"), "tell Sound"},
		{"nothing but spaces", other, asksFor(t, "\t"), ""},
	} {
		children(&run, step.p, step.report)
		testenv.Is(t, step.what+":", titles(run.Children), step.want)
	}
	var many []string
	for i := range 30 {
		many = append(many, fmt.Sprintf("%d %s", i, strings.Repeat("long ", 100)))
	}
	children(&run, p, asksFor(t, many...))
	if n := len(run.Children); n != mostChildren || len([]rune(run.Children[0].Title)) != 201 || metadata.CheckID(run.Children[0].ID) != nil {
		t.Errorf("%d are kept, the first is %+v", n, run.Children[0])
	}
}

// Leaving a phase out voids what it has asked for, but for what was opened.
func TestChildrenOfAPhaseThatIsLeftOut(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Report, plan.Phases[0].ReportSchema = "{...}", json.RawMessage(anyReport)
	for i := range plan.Phases {
		plan.Phases[i].Needs = nil
	}
	run := freshRun(plan)
	run.Phases[0].Status, run.Phases[0].CurrentStep = metadata.PhaseInProgress, metadata.Review
	children(&run, &plan.Phases[0], asksFor(t, "A", "B"))
	run.Children[0].Number = 20
	got, err := Skip(On(plan, run), plan.Phases[0].Name, t0)
	testenv.Must(t, err)
	testenv.Same(t, "there are", plan.Phases[0].Name+" A!", titles(got.Children))
}
