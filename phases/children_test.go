package phases

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// asksFor is a report that asks for issues with these titles.
func asksFor(t *testing.T, titles ...string) json.RawMessage {
	t.Helper()
	all := []childReport{}
	for _, title := range titles {
		all = append(all, childReport{Title: title, Body: "Why " + title})
	}
	data, err := json.Marshal(map[string]any{"children": all})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// titles are those of children, with the phase that asked for each; an opened
// one has a mark.
func titles(all []metadata.Child) string {
	var out []string
	for _, c := range all {
		out = append(out, c.Phase+" "+c.Title+map[bool]string{true: "!"}[c.Opened()])
	}
	return strings.Join(out, ", ")
}

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
		if got := titles(run.Children); got != step.want {
			t.Errorf("%s: %q, want %q", step.what, got, step.want)
		}
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

// An issue is opened when the work of its phase stands: completed, and
// approved where that is asked for. Going back voids what was not opened.
func TestChildrenAreOpenedOnceTheirPhaseStands(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Approve = "write"
	plan.Phases[0].Report, plan.Phases[0].ReportSchema = "{...}", json.RawMessage(anyReport)
	s := newStage(t, plan)
	wants := []string{"A", "B", "C", "D", "E", "F", "G"}
	s.on("plan", metadata.Execute, func(ctx context.Context, task Task) (Result, error) {
		r, err := s.good(ctx, task)
		r.Structured = asksFor(t, wants...)
		return r, err
	})
	run := s.goOn(t.Context())
	if got := ToOpen(plan, run); run.Status != metadata.Waiting || len(run.Children) != 7 || len(got) != 0 {
		t.Fatalf("the run is %s, asked for is %q, to be opened %q", run.Status, titles(run.Children), titles(got))
	}
	run, err := Approve(plan, run, Command{By: "ada", At: s.engine.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if got := titles(ToOpen(plan, run)); got != "plan A, plan B, plan C, plan D, plan E" {
		t.Errorf("to be opened are %q", got)
	}
	for i, c := range ToOpen(plan, run)[:2] {
		next := Opened(run, c.ID, 20+i, "", s.engine.Now())
		legal(t, run, next)
		run = next
	}
	if got := titles(ToOpen(plan, run)); got != "plan C, plan D, plan E" {
		t.Errorf("to be opened then are %q", got)
	}
	back, err := Back(plan, run, Rewind{To: "plan", Step: metadata.Execute, Reason: "think again", Trigger: metadata.Manual, At: s.engine.Now()})
	if err != nil {
		t.Fatal(err)
	}
	legal(t, run, back.Run)
	if got := titles(back.Run.Children); got != "plan A!, plan B!" {
		t.Errorf("after the rollback there are %q", got)
	}
	s.run, wants = back.Run, []string{"b", "H"}
	run = s.goOn(t.Context())
	if diff := cmp.Diff("plan A!, plan B!, plan H", titles(run.Children)); diff != "" {
		t.Errorf("asked for again (-want +got):\n%s", diff)
	}
}

// Leaving a phase out voids what it has asked for, but for what was opened.
func TestChildrenOfAPhaseThatIsLeftOut(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Report, plan.Phases[0].ReportSchema = "{...}", json.RawMessage(anyReport)
	for i := range plan.Phases {
		plan.Phases[i].Needs = nil
	}
	s := newStage(t, plan)
	run := s.run
	run.Phases[0].Status, run.Phases[0].CurrentStep = metadata.PhaseInProgress, metadata.Review
	children(&run, &plan.Phases[0], asksFor(t, "A", "B"))
	run.Children[0].Number = 20
	got, err := Skip(plan, run, plan.Phases[0].Name, s.engine.Now())
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan.Phases[0].Name+" A!", titles(got.Children)); diff != "" {
		t.Errorf("there are (-want +got):\n%s", diff)
	}
}
