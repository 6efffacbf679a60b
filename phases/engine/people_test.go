package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// withQuestions is a stage whose first execute of plan writes all it has to, and asks.
func withQuestions(t *testing.T) *stage {
	plan := testPlan()
	plan.Phases[0].Report, plan.Phases[0].ReportSchema = "{...}", json.RawMessage(`{"properties":{"questions":{}}}`)
	s := newStage(t, plan)
	asked := false
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		if asked {
			return Result{Session: t.Session, Structured: json.RawMessage(`{}`)}, nil
		}
		asked = true
		r, err := s.good(ctx, t)
		r.Structured = json.RawMessage(`{"questions": ["REST?", {"question": "How long?", "options": ["a day", " "]}, " "]}`)
		t.Notify(Activity{Session: t.Session})
		return r, err
	})
	return s
}

// What was written before the questions may stand with the answers, and the
// session that asked is the one that goes on.
func TestAnAnswerGoesToTheSessionThatAsked(t *testing.T) {
	s := withQuestions(t)
	run := s.goOn(t.Context())
	var got []string
	for _, q := range phases.Questions(run) {
		got = append(got, q.ID+" "+q.Text+" "+strings.Join(q.Options, ","))
	}
	if diff := cmp.Diff([]string{"q1 REST? ", "q2 How long? a day"}, got); diff != "" || run.Status != metadata.Waiting {
		t.Fatalf("the run is %s (-want +got):\n%s", run.Status, diff)
	}
	for _, id := range []string{"q1", "q2"} {
		next, err := phases.Answer(s.run, id, " answer to "+id, phases.Command{By: "ada", At: s.engine.Now()})
		if err != nil {
			t.Fatal(err)
		}
		legal(t, s.run, next)
		s.run = next
	}
	if run = s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	second := s.tasks[1]
	if second.Step != metadata.Execute || !second.Resume || second.Session != s.tasks[0].Session || !strings.Contains(second.Prompt, "answer to q2") || strings.Contains(second.Prompt, "did not bring") {
		t.Errorf("the second call is %s, resume %v of %s:\n%s", second.Step, second.Resume, second.Session, second.Prompt)
	}
	if a := run.Attempts[1]; a.Status != metadata.Succeeded {
		t.Errorf("the answered call is %+v", a)
	}
}

// A step that keeps asking has to go on with what it knows.
func TestAskingEnds(t *testing.T) {
	s := withQuestions(t)
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		r, err := s.good(ctx, t)
		r.Structured = json.RawMessage(`{"questions": ["And?"]}`)
		return r, err
	})
	for range 3 {
		s.goOn(t.Context())
		next, err := phases.Answer(s.run, "", "no", phases.Command{At: s.engine.Now()})
		if err != nil {
			t.Fatal(err)
		}
		s.run = next
	}
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Errorf("the run is %s (%+v)", run.Status, run.Stop)
	}
}

// What people say of a run that was cancelled is kept, and does not start it.
func TestACancelledRunStaysSo(t *testing.T) {
	s := withQuestions(t)
	run, err := phases.Cancel(s.goOn(t.Context()), "enough", s.engine.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, id := range []string{"q1", "q2"} {
		if run, err = phases.Answer(run, id, "yes", phases.Command{At: s.engine.Now()}); err != nil {
			t.Fatal(err)
		}
	}
	if run.Status != metadata.Cancelled || len(phases.Questions(run)) != 0 {
		t.Errorf("the run is %s with %d questions", run.Status, len(phases.Questions(run)))
	}
}

func TestApproveNeedsTheHigherRole(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Approve = "write"
	plan.Rules = []pipelines.Rule{{After: "plan", When: "{}", Then: pipelines.Then{Approve: "triage"}}}
	s := newStage(t, plan)
	s.engine.Matches = func(context.Context, string, []byte) (bool, error) { return true, nil }
	run := s.goOn(t.Context())
	phase, role, why, ok := phases.Approval(plan, run)
	if phase != "plan" || role != "write" || !strings.Contains(english(why), "a rule") || !ok {
		t.Fatalf("it waits for %s %s (%s)", phase, role, why)
	}
	run, err := phases.Approve(plan, run, phases.Command{By: "ada", At: s.engine.Now()})
	if err != nil {
		t.Fatal(err)
	}
	if d := phases.Decide(plan, run); d.Phase != "code" {
		t.Errorf("decided %q", show(d))
	}
	plan.Phases[0].Approve = "admin" // the definition has changed since
	if d := phases.Decide(plan, run); d.Do != phases.DoWait || !strings.Contains(english(d.Why), "admin") {
		t.Errorf("decided %q, want to wait for somebody with more rights", show(d))
	}
}

// A rule that nobody can evaluate must not lose the step that was paid for.
func TestARuleThatCannotBeEvaluated(t *testing.T) {
	for _, then := range []pipelines.Then{{Skip: "review"}, {Insert: "look"}} {
		plan := testPlan()
		plan.Rules = []pipelines.Rule{{After: "plan", When: "?", Then: then}}
		s := newStage(t, plan)
		s.engine.Matches = func(context.Context, string, []byte) (bool, error) { return false, errors.New("took longer than 5s") }
		run := s.goOn(t.Context())
		noted := slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return strings.Contains(english(d.Why), "took longer than 5s") })
		_, _, why, waits := phases.Approval(plan, run)
		if !noted || waits != (then.Skip == "") || waits && !strings.Contains(english(why), "rule 1") || run.Attempts[0].Status != metadata.Succeeded {
			t.Errorf("%+v: the run is %s (%q), noted %v", then, run.Status, why, noted)
		}
	}
}

// A phase without a review that goes back at once has an artifact that no
// commit has yet: it is put aside all the same.
func TestWhatGoesBackAtOnceIsPutAside(t *testing.T) {
	for _, access := range []pipelines.Access{pipelines.AccessArtifacts, pipelines.AccessRead} {
		plan := testPlan()
		tell := &plan.Phases[2]
		tell.NoReview, tell.Access = true, access
		tell.Report, tell.ReportSchema = "{...}", json.RawMessage(anyReport)
		s := newStage(t, plan)
		calls := 0
		s.on("tell", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
			r := Result{Session: t.Session, Text: "# It is wrong", Structured: json.RawMessage(`{}`)}
			if calls++; calls == 1 {
				r.Structured = json.RawMessage(`{"rollback": {"phase": "plan", "step": "execute", "reason": "start over"}}`)
			}
			if t.Access == pipelines.AccessRead {
				return r, nil
			}
			return r, os.WriteFile(t.Artifact, []byte(r.Text+"\n"), 0o644)
		})
		if run := s.goOn(t.Context()); run.Status != metadata.Completed || len(run.RollbackHistory) != 1 {
			t.Fatalf("%s: the run is %s after %q", access, run.Status, s.steps())
		}
		if got := s.tree.tip()[".reprise/issue-7/02_tell/superseded/1/tell.md"]; got != "# It is wrong\n" {
			t.Errorf("%s: what was put aside is %q", access, got)
		}
	}
}
