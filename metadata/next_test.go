package metadata

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// after gives the sample and what it becomes by a change.
func after(change func(r *Run)) (old, next Run) {
	old = sample()
	next = old.Clone()
	next.Revision++
	change(&next)
	return old, next
}

// goBack adds a rollback to the history, as every way back needs one.
func goBack(r *Run) { twice(&r.RollbackHistory) }

func TestCheckNextTakes(t *testing.T) {
	for name, change := range map[string]func(r *Run){
		"nothing but a revision": func(r *Run) {},
		"the open attempt ends, another one begins": func(r *Run) {
			a := &r.Attempts[3]
			a.Status, a.EndedAt, a.Usage.USD, a.Session, a.Model = Succeeded, ptr(at(8)), 1, "s-9", "sonnet"
			next := *a
			next.N, next.Status, next.EndedAt = 4, Started, nil
			r.Attempts = append(r.Attempts, next)
			r.Cost.USD++
			twice(&r.Decisions)
			r.AllowanceFrom = 3
		},
		"the open attempt learns its session": func(r *Run) { r.Attempts[3].Session = "s-9" },
		"another process takes over": func(r *Run) {
			r.Execution.Attempt++
			r.Execution.Lease = &Lease{Owner: "job-4", Fence: 5, Expires: at(30)}
		},
		"the lease is given back":          func(r *Run) { r.Execution.Lease = nil },
		"a rule inserts a phase":           func(r *Run) { r.Phases = append(Phases{{Name: "spike", Status: PhasePending}}, r.Phases...) },
		"the same times, otherwise stored": func(r *Run) { r.CreatedAt = r.CreatedAt.In(time.FixedZone("", 0)) },
		"an issue is opened":               func(r *Run) { r.Children[1].Number = 10 },
		"one is not asked for any more":    func(r *Run) { r.Children = r.Children[:1] },
		"a rollback": func(r *Run) {
			goBack(r)
			r.Phases[0].Status, r.Phases[0].Generation = PhaseInProgress, 1
			r.Phases[1].Status, r.Phases[1].Generation = PhasePending, 2
			r.Phases[2].Generation = 1
		},
	} {
		old, next := after(change)
		if err := CheckNext(old, next); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckNextRefuses(t *testing.T) {
	for want, change := range map[string]func(r *Run){
		"revision: 9 does not follow 9":                                              func(r *Run) { r.Revision-- },
		"revision: 11 does not follow 9":                                             func(r *Run) { r.Revision++ },
		`issue_number: changed from "7" to "8"`:                                      func(r *Run) { r.IssueNumber = "8" },
		`repository: changed from "octo/hello" to "octo/bye"`:                        func(r *Run) { r.Repository = "octo/bye" },
		`branch_name: changed from "reprise/issue-7" to "main"`:                      func(r *Run) { r.BranchName = "main" },
		`base_commit: changed from "0123456789`:                                      func(r *Run) { r.BaseCommit = strings.Repeat("a", 40) },
		`run.id: changed from "run-1" to "run-2"`:                                    func(r *Run) { r.Execution.ID = "run-2" },
		"created_at: changed from 2026-01-31 12:00:00 +0000 UTC to 2026-01-31 12:01": func(r *Run) { r.CreatedAt = at(1) },
		"cost_tracking.total_cost_usd: falls from 9.875 to 9":                        func(r *Run) { r.Cost.USD = 9 },
		"cost_tracking.total_input_tokens: falls from 1000 to 0":                     func(r *Run) { r.Cost.InputTokens = 0 },
		"cost_tracking.total_output_tokens: falls from 200 to 0":                     func(r *Run) { r.Cost.OutputTokens = 0 },
		"cost_tracking.total_cached_tokens: falls from 5000 to 0":                    func(r *Run) { r.Cost.CachedTokens = 0 },
		"run.attempt: falls from 2 to 1":                                             func(r *Run) { r.Execution.Attempt = 1 },
		"run.lease.fence: falls from 4 to 3":                                         func(r *Run) { r.Execution.Lease.Fence = 3 },
		"allowance_from: falls from 2 to 1":                                          func(r *Run) { r.AllowanceFrom = 1 },
		"rollback_history: has 0 entries where there were 1":                         func(r *Run) { r.RollbackHistory = nil },
		"rollback_history[0]: was changed; what has happened stays":                  func(r *Run) { r.RollbackHistory[0].Reason = "another" },
		"rollback_history[0]: was changed":                                           func(r *Run) { r.RollbackHistory[0].Timestamp = at(7) },
		"merges: has 0 entries where there were 1":                                   func(r *Run) { r.Merges = nil },
		"decisions: has 0 entries where there were 2":                                func(r *Run) { r.Decisions = nil },
		"decisions[0]: was changed":                                                  func(r *Run) { r.Decisions[0].Why = "another" },
		"questions: has 1 entries where there were 2":                                func(r *Run) { r.Questions = r.Questions[:1] },
		"questions[0]: was changed":                                                  func(r *Run) { r.Questions[0].Answer = "RPC" },
		"questions[1]: was changed":                                                  func(r *Run) { r.Questions[1].Text = "another" },
		"approvals: has 0 entries where there were 1":                                func(r *Run) { r.Approvals = nil },
		"approvals[0]: was changed":                                                  func(r *Run) { r.Approvals[0].Digest = "0b" },
		"attempts: has 3 entries where there were 4":                                 func(r *Run) { r.Attempts = r.Attempts[:3] },
		"attempts[0]: was changed":                                                   func(r *Run) { r.Attempts[0].Usage.USD = 0 },
		"attempts[2]: was changed":                                                   func(r *Run) { r.Attempts[2].EndedAt = nil },
		"attempts[3]: was changed":                                                   func(r *Run) { r.Attempts[3].Phase = "planning" },
		`children: issue 9, "c1", is gone; it was opened`:                            func(r *Run) { r.Children = r.Children[1:] },
		`children: issue 9, "c1", is gone`:                                           func(r *Run) { r.Children[0].Number = 10 },
		"phases.design: is gone":                                                     func(r *Run) { r.Phases = r.Phases[:1] },
		"phases.spike.status: cannot go from pending to completed":                   func(r *Run) { r.Phases = append(r.Phases, Phase{Name: "spike", Status: PhaseCompleted}) },
		"phases.design.generation: falls from 1 to 0":                                func(r *Run) { r.Phases[1].Generation = 0 },
		"phases.design.generation: grows from 1 to 2 with 0 new entries":             func(r *Run) { r.Phases[1].Generation = 2 },
		"phases.design.generation: grows from 1 to 3 with 1 new entries":             func(r *Run) { r.Phases[1].Generation = 3; goBack(r) },
		"phases.planning.status: goes from completed to in_progress without":         func(r *Run) { r.Phases[0].Status = PhaseInProgress },
	} {
		t.Run(want, func(t *testing.T) {
			old, next := after(change)
			err := CheckNext(old, next)
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains("\n"+err.Error(), "\n"+want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestCheckNextKnowsEveryWayOfAPhase(t *testing.T) {
	const (
		never    = "-"
		rollback = "r"
		always   = "a"
	)
	all := wordsOf("PhaseStatus") // pending, in_progress, completed, failed, skipped
	for from, row := range map[PhaseStatus][]string{
		PhasePending:    {always, always, never, never, always},
		PhaseInProgress: {rollback, always, always, always, always},
		PhaseCompleted:  {rollback, rollback, always, never, rollback},
		PhaseFailed:     {rollback, always, never, always, always},
		PhaseSkipped:    {always, rollback, never, never, always},
	} {
		for i, to := range all {
			for _, back := range []bool{false, true} {
				old, next := after(func(r *Run) {
					r.Phases[2].Status = PhaseStatus(to)
					if back {
						goBack(r)
					}
				})
				old.Phases[2].Status = from
				err := CheckNext(old, next)
				if want := row[i] == always || back && row[i] == rollback; (err == nil) != want {
					t.Errorf("%s to %s, rollback %v: %v", from, to, back, err)
				}
			}
		}
	}
}

// What another machine has done of a phase comes in with one record, if that says what was done.
func TestCheckNextTakesWhatWasDoneElsewhere(t *testing.T) {
	for _, status := range []PhaseStatus{PhaseCompleted, PhaseFailed} {
		for _, phase := range []string{"testing", "planning"} {
			old, next := after(func(r *Run) {
				r.Phases[2].Status = status
				a := r.Attempts[0]
				a.N, a.Phase = len(r.Attempts)+1, phase
				r.Attempts = append(r.Attempts, a)
			})
			old.Phases[2].Status, old.Phases[2].Name, next.Phases[2].Name = PhasePending, "testing", "testing"
			if err := CheckNext(old, next); (err == nil) != (phase == "testing") {
				t.Errorf("pending to %s with an attempt at %s: %v", status, phase, err)
			}
		}
	}
}

// The zone and the clock reading that a time carries do not change it.
func TestCheckNextComparesTimesAsTimes(t *testing.T) {
	old, next := after(func(r *Run) {})
	data := formatted(t, old)
	now := time.Now().UTC()
	old.Attempts[0].StartedAt, next.Attempts[0].StartedAt = now, now.Round(0)
	old.Decisions[0].At, next.Decisions[0].At = now, now.Round(0)
	old.RollbackHistory[0].Timestamp, next.RollbackHistory[0].Timestamp = now, now.Round(0)
	if err := CheckNext(old, next); err != nil {
		t.Error(err)
	}
	stored, err := Parse(data, File)
	if err != nil {
		t.Fatal(err)
	}
	_, next = after(func(r *Run) {})
	if err := CheckNext(stored, next); err != nil {
		t.Errorf("what was stored has no valid successor: %v", err)
	}
	if err := fmt.Sprint(CheckNext(next, stored)); !strings.Contains(err, "revision: 9 does not follow 10") {
		t.Errorf("backwards: %s", err)
	}
}
