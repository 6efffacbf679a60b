package phases

import (
	"fmt"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

func TestTheSameIDForAnotherFindingIsNoCircle(t *testing.T) {
	plan := testPlan()
	run := toRevise(t, plan)
	run = plays(t, plan, run, wrotten("p2"))
	other := blocker("F1")
	other.Problem = "something else"
	o := judged(false, other)
	run = plays(t, plan, run, o)
	if d := Decide(On(plan, run)); d.Do != DoRevise {
		t.Errorf("decided %q, want a revise", show(d))
	}
}

func TestFindingsPointIntoTheRepository(t *testing.T) {
	for _, file := range []string{".", "./", "/etc/passwd", "../x", "C:/x.go", "a\nb.go", `a\b.go`} {
		data := fmt.Sprintf(`{"verdict":"fail","gates":[],"findings":[{"id":"F1","severity":"blocker","title":"t","problem":"p","impact":"i","solution":"s","status":"new","file":%q,"line":3}]}`, file)
		v, wrong := ParseVerdict([]byte(data), nil)
		if len(wrong) > 0 || v.Findings[0].File != "" || v.Findings[0].Line != 0 {
			t.Errorf("%q: %+v, %q", file, v.Findings, wrong)
		}
	}
}

// A call that crashes says nothing about what stood against the work before it.
func TestACrashDoesNotHideWhatWasTakenBack(t *testing.T) {
	plan := testPlan()
	run := plays(t, plan, freshRun(plan), breaking(wrotten("p1"), metadata.RuleForm), judged(false, blocker("F1")), errored(metadata.Crash))
	if got := run.Phase("plan").Violations; len(got) != 1 {
		t.Errorf("the next call is told %q", got)
	}
}
