package engine

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// A reviewer that may run commands works in a copy, and has to have run some: in
// the call that gives its verdict, or in one that this goes on from.
func TestReviewThatRuns(t *testing.T) {
	const none, ran, useless = "none", "ran", "useless"
	for name, tt := range map[string]struct {
		reviews []string
		whys    []string
		passes  bool
	}{
		"it runs the tests":               {[]string{ran}, []string{""}, true},
		"it is told to":                   {[]string{none, ran}, []string{"review_ran_nothing", ""}, true},
		"it does not":                     {[]string{none, none}, []string{"review_ran_nothing", "review_ran_nothing"}, false},
		"it did, and only has to say how": {[]string{useless, none}, []string{"verdict_word", ""}, true},
	} {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			plan.Phases = plan.Phases[1:2]
			plan.Phases[0].Review.Access = pipelines.AccessRun
			plan.Phases[0].Checks[0].Keep = []string{"modules"}
			s := newStage(t, plan)
			s.perform = func(ctx context.Context, task Task) (Result, error) {
				if task.Step != metadata.Review {
					return s.good(ctx, task)
				}
				how := tt.reviews[0]
				tt.reviews = tt.reviews[1:]
				task.Notify(Activity{Session: task.Session})
				r := Result{Session: task.Session, RanNothing: how == none, Structured: answer(task, true)}
				if how == useless {
					r.Structured = []byte(`{}`)
				}
				return r, nil
			}
			run, err := s.engine.Run(t.Context(), s.run)
			if err != nil || (run.Status == metadata.Completed) != tt.passes {
				t.Fatalf("%v, %v", run.Status, err)
			}
			var whys, copies []string
			for _, a := range run.Attempts {
				if a.Step == metadata.Review {
					why := ""
					if a.Why != "" {
						why = a.Why.Each()[0].Code()
					}
					whys = append(whys, why)
					copies = append(copies, "review modules", "review removed")
				}
			}
			if diff := cmp.Diff(tt.whys, whys); diff != "" {
				t.Errorf("how the reviews ended (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(copies, s.tree.kept[len(s.tree.kept)-len(copies):]); diff != "" {
				t.Errorf("copies (-want +got):\n%s", diff)
			}
		})
	}
}
