package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// A reviewer that may run commands works in a copy, and has to have run some in
// the call that gives its verdict. Where it has, a further call is a new session.
func TestReviewThatRuns(t *testing.T) {
	const none, ran, useless, unsaid = "none", "ran", "useless", "unsaid"
	for name, tt := range map[string]struct {
		reviews []string
		whys    []string
		passes  bool
	}{
		"it runs the tests":              {[]string{ran}, []string{""}, true},
		"it is told to":                  {[]string{none, ran}, []string{"review_ran_nothing", ""}, true},
		"it does not":                    {[]string{none, none}, []string{"review_ran_nothing", "review_ran_nothing"}, false},
		"it did, and says how once more": {[]string{useless, ran}, []string{"verdict_word", ""}, true},
		"no model has said it":           {[]string{unsaid, ran}, []string{"verdict_unsaid", ""}, true},
		"it did, and not again":          {[]string{useless, none}, []string{"verdict_word", "review_ran_nothing"}, false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			plan.Phases = plan.Phases[1:2]
			plan.Phases[0].Review.Access = pipelines.AccessRun
			s := newStage(t, plan)
			var copies []string
			s.perform = func(ctx context.Context, task Task) (Result, error) {
				if task.Step != metadata.Review {
					return s.good(ctx, task)
				}
				how := tt.reviews[0]
				copies = append(copies, map[bool][]string{true: {"review", "review-run", "review-run removed", "review removed"}, false: {"review", "review removed"}}[how == ran]...)
				tt.reviews = tt.reviews[1:]
				task.Notify(Activity{Session: task.Session})
				if how == ran {
					if dir, err := task.Fresh(ctx); err != nil {
						t.Errorf("what it runs is in %s: %v", dir, err)
					}
				}
				r := Result{Session: task.Session, ToolCalls: 1, RanNothing: how == none, Unsaid: how == unsaid, Structured: answer(task, true)}
				if how == useless {
					r.Structured = []byte(`{}`)
				}
				return r, nil
			}
			run, err := s.engine.Run(t.Context(), s.run)
			if err != nil || (run.Status == metadata.Completed) != tt.passes {
				t.Fatalf("%v, %v", run.Status, err)
			}
			whys := reviewsOf(run)
			testenv.Same(t, "how the reviews ended", tt.whys, whys)
			testenv.Same(t, "copies", copies, s.tree.kept[len(s.tree.kept)-len(copies):])
		})
	}
}

// A reviewer is told where the work is, and not what it says: one that is known to have used
// no tool has judged nothing, also where it only corrects the form of a verdict.
func TestReviewThatReads(t *testing.T) {
	const (
		nothing = "review_opened_nothing"
		wrong   = "verdict_word" // the form of a verdict
		cut     = "told_to_stop"
	)
	type call struct {
		tools, refused int
		form, cut      bool // is wrong; the call is
	}
	for name, tt := range map[string]struct {
		access  pipelines.Access
		reviews []call
		whys    []string
		passes  bool
	}{
		"it reads":                                {"", []call{{tools: 1}}, []string{""}, true},
		"it is told to":                           {"", []call{{}, {tools: 2}}, []string{nothing, ""}, true},
		"it does not":                             {"", []call{{}, {}}, []string{nothing, nothing}, false},
		"it did, and says how once more":          {"", []call{{tools: 1, form: true}, {tools: 1}}, []string{wrong, ""}, true},
		"it did, and not again":                   {"", []call{{tools: 1, form: true}, {}}, []string{wrong, nothing}, false},
		"it did not, and says it in a wrong form": {"", []call{{form: true}, {}}, []string{nothing, nothing}, false},
		"it may not":                              {"", []call{{tools: 2, refused: 2}, {tools: 3, refused: 2}}, []string{nothing, ""}, true},
		"its program does not tell":               {"", []call{{tools: -1}}, []string{""}, true},
		"it has no tools":                         {pipelines.AccessNone, []call{{}, {}}, []string{nothing, nothing}, false}, // which vet refuses
		"it was stopped, nobody knows when":       {"", []call{{cut: true}, {}, {tools: 1}}, []string{cut, nothing, ""}, true},
		"it was stopped while it corrected":       {"", []call{{tools: 1, form: true}, {cut: true}, {tools: 1}}, []string{wrong, cut, ""}, true},
		"it was stopped before it read":           {"", []call{{}, {cut: true}, {}}, []string{nothing, cut, nothing}, false},
	} {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			plan.Phases = plan.Phases[:1]
			plan.Phases[0].Review.Access = tt.access
			s := newStage(t, plan)
			s.on("plan", metadata.Review, func(_ context.Context, task Task) (Result, error) {
				how := tt.reviews[0]
				tt.reviews = tt.reviews[1:]
				task.Notify(Activity{Session: task.Session})
				r := Result{Session: task.Session, ToolCalls: how.tools, Denials: slices.Repeat([]string{"Read"}, how.refused), Structured: answer(task, true)}
				if how.form {
					r.Structured = []byte(`{}`)
				}
				if how.cut {
					return r, ErrInterrupted
				}
				return r, nil
			})
			run := s.goOn(t.Context())
			for run.Status == metadata.Interrupted { // somebody starts it again
				s.run = phases.TakeUp(run, phases.Start{At: s.engine.Now()})
				run = s.goOn(t.Context())
			}
			if (run.Status == metadata.Completed) != tt.passes || len(tt.reviews) > 0 {
				t.Errorf("the run is %s (%+v), and %d more reviews were expected", run.Status, run.Stop, len(tt.reviews))
			}
			testenv.Same(t, "how the reviews ended", tt.whys, reviewsOf(run))
			told := "read .reprise/issue-7/00_plan/plan.md and what it claims, then judge"
			if last := s.tasks[len(s.tasks)-1]; tt.whys[max(0, len(tt.whys)-2)] == nothing && !strings.Contains(last.Prompt, told) {
				t.Errorf("it is not told what to do:\n%s", last.Prompt)
			}
			if refused := english(run.Attempts[1].Why); name == "it may not" && !strings.Contains(refused, "it was refused: Read") {
				t.Errorf("people are told: %s", refused)
			}
		})
	}
}

// reviewsOf gives the code of what each review of a run came to; "" for a verdict.
func reviewsOf(run metadata.Run) (whys []string) {
	for _, a := range run.Attempts {
		if a.Step == metadata.Review {
			why := ""
			if a.Why != "" {
				why = a.Why.Each()[0].Code()
			}
			whys = append(whys, why)
		}
	}
	return whys
}

func TestAnArtifactLeftBehindIsNoEvidence(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Report = `x: int`
	s := newStage(t, plan)
	calls := 0
	s.on("plan", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		if calls++; calls == 1 {
			return s.good(ctx, t) // writes, but returns no report
		}
		if calls == 2 {
			return Result{Structured: json.RawMessage(`{"bad": 1}`)}, nil
		}
		return Result{Structured: json.RawMessage(`{"x": 1}`)}, nil // lazy ever after
	})
	if run := s.goOn(t.Context()); run.Stop == nil || run.Stop.Code != metadata.OutputInvalid {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	s.retry()
	if run := s.goOn(t.Context()); run.Stop == nil || run.Stop.Code != metadata.NoProgress {
		t.Errorf("a call that wrote nothing passed on the artifact of an earlier one: %s (%+v)", run.Status, run.Stop)
	}
}

func TestTheDocumentSurvivesItsReport(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Access, plan.Phases[0].Report = pipelines.AccessRead, `x: int`
	s := newStage(t, plan)
	calls := 0
	s.on("plan", metadata.Execute, func(_ context.Context, t Task) (Result, error) {
		if calls++; calls == 1 {
			return Result{Text: "# The plan\n\nDo it.\n\n```json\n{\"bad\": 1}\n```"}, nil
		}
		return Result{Text: "```json\n{\"x\": 1}\n```"}, nil
	})
	s.completes()
	testenv.Is(t, "the artifact is", s.tree.tip()[".reprise/issue-7/00_plan/plan.md"], "# The plan\n\nDo it.\n")
}

func TestOddFilesAreTakenBack(t *testing.T) {
	s := newStage(t, testPlan())
	odd := []string{"a\tb.md", `C:\temp\x.md`, "superseded", "review.md", "attempt-1.patch"}
	for i := range odd {
		odd[i] = ".reprise/issue-7/00_plan/" + odd[i]
	}
	s.on("plan", metadata.Execute, s.puts(odd...))
	s.completes()
	for _, name := range odd {
		if s.tree.tip()[name] == "evil" {
			t.Errorf("%q was kept", name)
		}
	}
}

func TestManyViolationsAreCut(t *testing.T) {
	s := newStage(t, testPlan())
	var many []string
	for i := range 500 {
		many = append(many, fmt.Sprintf("stray-%d.txt", i))
	}
	s.on("plan", metadata.Execute, s.puts(many...))
	s.fails("plan", 1)
	s.goOn(t.Context())
	for _, task := range s.tasks {
		if n := strings.Count(task.Prompt, "stray-"); n > 50 {
			t.Errorf("%d violations in the prompt of %s", n, task.Step)
		}
	}
}

// An agent is told at once what is wrong with its answer, by the words by which that would be judged later.
func TestAnswersThatAreWrong(t *testing.T) {
	plan := testPlan()
	plan.Phases[0].Report, plan.Phases[0].ReportSchema = "{...}", json.RawMessage(`{"properties":{"questions":{}}}`)
	s, told := newStage(t, plan), map[string]string{}
	act := s.perform
	s.perform = func(ctx context.Context, task Task) (Result, error) {
		answers := []string{`{"complexity": "low"}`, `{"complexity": "bad"}`, `{"complexity": "bad", "questions": ["REST?"]}`}
		if task.Step == metadata.Review {
			answers = []string{string(answer(task, true)), string(answer(task, false)), `{}`}
		}
		for _, a := range answers {
			told[fmt.Sprint(task.Phase, " ", task.Step, " ", a)] = task.Wrong(json.RawMessage(a))
		}
		r, err := act(ctx, task)
		if task.Phase == plan.Phases[0].Name && task.Step != metadata.Review {
			r.Structured = json.RawMessage(`{"complexity": "low"}`)
		}
		return r, err
	}
	if run, err := s.engine.Run(t.Context(), s.run); err != nil || run.Status != metadata.Completed {
		t.Fatalf("%v, %v", run.Status, err)
	}
	wrong := 0
	for asked, said := range told {
		if (said != "") != (strings.Contains(asked, "bad") && !strings.Contains(asked, "REST") && strings.HasPrefix(asked, plan.Phases[0].Name) || strings.HasSuffix(asked, "{}")) {
			t.Errorf("%s: %q", asked, said)
		}
		if said != "" {
			wrong++
		}
	}
	if wrong < 3 {
		t.Errorf("%d answers are wrong: %v", wrong, told)
	}
}
