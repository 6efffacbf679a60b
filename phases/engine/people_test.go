package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
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
		testenv.Must(t, err)
		legal(t, s.run, next)
		s.run = next
	}
	run = s.completes()
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
	s.reports("plan", `{"questions": ["And?"]}`)
	for range 3 {
		s.goOn(t.Context())
		next, err := phases.Answer(s.run, "", "no", phases.Command{At: s.engine.Now()})
		testenv.Must(t, err)
		s.run = next
	}
	s.completes()
}

// What people say of a run that was cancelled is kept, and does not start it.
func TestACancelledRunStaysSo(t *testing.T) {
	s := withQuestions(t)
	run, err := phases.Cancel(s.goOn(t.Context()), "enough", s.engine.Now())
	testenv.Must(t, err)
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
	phase, role, why, ok := phases.Approval(phases.On(plan, run), "")
	if phase != "plan" || role != "write" || !strings.Contains(english(why), "a rule") || !ok {
		t.Fatalf("it waits for %s %s (%s)", phase, role, why)
	}
	run, err := phases.Approve(phases.On(plan, run), phases.Command{By: "ada", At: s.engine.Now()})
	testenv.Must(t, err)
	if d := phases.Decide(phases.On(plan, run)); d.Phase != "code" {
		t.Errorf("decided %q", show(d))
	}
	plan.Phases[0].Approve = "admin" // the definition has changed since
	if d := phases.Decide(phases.On(plan, run)); d.Do != phases.DoWait || !strings.Contains(english(d.Why), "admin") {
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
		_, _, why, waits := phases.Approval(phases.On(plan, run), "")
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
		testenv.Is(t, string(access)+": what was put aside is", s.tree.tip()[".reprise/issue-7/02_tell/superseded/1/tell.md"], "# It is wrong\n")
	}
}

// TestAnyLifeWithPeopleEnds has agents, checks, rules, kills and people do
// anything at all to a run, and holds the promises of the package all along.
func TestAnyLifeWithPeopleEnds(t *testing.T) {
	words, err := prompts.Load(nil, "en")
	testenv.Must(t, err)
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "life")
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		w := newWorld(t, rt, words, dir)
		if err := w.engine.Begin(context.Background(), w.run); err != nil {
			rt.Fatal(err)
		}
		for w.goOn(); w.acts > 0; w.goOn() {
			w.acts--
			w.somebody()
		}
		if w.run.Status == metadata.Running {
			w.goOn()
		}
	})
}

// goOn runs until the run ends or waits, also over kills.
func (w *world) goOn() {
	ctx := context.Background()
	for kills := 0; w.run.Status == metadata.Running; kills++ {
		run, err := w.engine.Run(ctx, w.run)
		if errors.Is(err, errKilled) {
			run = w.reborn(ctx)
		} else if err != nil {
			w.Fatal(err)
		}
		w.run = run
		w.sound()
		if kills > 400 {
			w.Fatalf("the run does not end")
		}
	}
	w.ended()
}

// reborn takes the run up from the branch, as the next process would.
func (w *world) reborn(ctx context.Context) metadata.Run {
	if err := w.tree.Restore(ctx); err != nil {
		w.Fatal(err)
	}
	run, err := metadata.Parse([]byte(w.tree.tip()[".reprise/issue-7/metadata.json"]), "tip")
	if err != nil {
		w.Fatal(err)
	}
	var left []metadata.Attempt
	if n := len(run.Attempts); len(w.local.Attempts) > n {
		left = w.local.Attempts[n:]
	}
	return phases.TakeUp(phases.Absorb(run, left, w.engine.Now()), phases.Start{At: w.engine.Now()})
}

// sound holds the newest record on the branch against what was there before.
func (w *world) sound() {
	run, last := w.run, w.tree.log[len(w.tree.log)-1]
	if err := run.Check(); err != nil {
		w.Fatalf("the record is not valid: %v", err)
	}
	if strings.TrimSpace(last.Message) == "" {
		w.Fatal("a commit has no message")
	}
	if n := aloneSince(run); n > 3 {
		w.Fatalf("the run went back by itself %d times", n)
	}
	for _, rec := range run.Phases {
		if p := w.engine.Plan.Phase(rec.Name); p != nil && rec.Status == metadata.PhaseCompleted && w.plans == 0 {
			if skipped := reviewSkipped(run, rec.Name); !skipped || rec.Verdict != nil {
				phasestest.CheckCompleted(w.T, w.engine.Plan, rec)
			} else if len(p.Checks) > 0 && (rec.Checks == nil || rec.Checks.Written != rec.Written) || rec.ChecksFail() {
				w.Fatalf("%s is completed without passing checks", rec.Name)
			}
		}
	}
	for _, b := range run.RollbackHistory {
		at := func(name string) int { return slices.Index(namesOf(run), name) }
		if b.TriggeredBy == metadata.Automatic && w.plans == 0 && at(b.ToPhase) > at(b.FromPhase) {
			w.Fatalf("the run went forward from %s to %s", b.FromPhase, b.ToPhase)
		}
	}
	opened := map[string]bool{}
	for _, c := range run.Children {
		if opened[c.Title] || c.Opened() && c.Number != w.issues[c.ID] {
			w.Fatalf("the children are %+v, opened were %v", run.Children, w.issues)
		}
		opened[c.Title] = true
	}
	for id, n := range w.done {
		if n > 1 {
			w.Fatalf("the command of comment %d was obeyed %d times", id, n)
		}
	}
}

// ended holds that a run that has stopped says what it waits for.
func (w *world) ended() {
	run := w.run
	if run.Status == metadata.Completed {
		for _, rec := range run.Phases {
			if rec.Status != metadata.PhaseCompleted && rec.Status != metadata.PhaseSkipped {
				w.Fatalf("the run is completed, %s is %s", rec.Name, rec.Status)
			}
		}
		w.approved(run, "")
		return
	}
	if run.Stop == nil || run.Stop.Why == "" {
		w.Fatalf("the run is %s and does not say why", run.Status)
	}
	if run.Status != metadata.Waiting || run.Stop.Code != metadata.AwaitingPerson {
		return
	}
	phase, role, why, approval := phases.Approval(phases.On(w.engine.Plan, run), "")
	open := phases.Questions(run)
	paused := strings.HasPrefix(english(run.Stop.Why), "pause-")
	switch {
	case approval && (role == "" || why == "" || run.Phase(phase) == nil):
		w.Fatalf("it waits for the approval of nobody: %q %q %q", phase, role, why)
	case !approval && len(open) == 0 && !paused:
		w.Fatalf("it waits for a person and says not for what: %+v", run.Stop)
	}
}

// Steer has somebody ask for something between two steps, now and then.
func (w *world) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	w.openChildren(ctx, &run)
	if w.acts == 0 || !w.oneIn(12, "steer") {
		return run, nil
	}
	w.acts--
	w.run = run
	w.somebody()
	return w.run, nil
}

// openChildren opens the issues that a run asks for, once each; now and then a
// process is killed before it can note that.
func (w *world) openChildren(ctx context.Context, run *metadata.Run) {
	before := len(run.Children)
	for _, c := range phases.ToOpen(phases.On(w.engine.Plan, *run)) {
		if rec := run.Phase(c.Phase); rec.Status != metadata.PhaseCompleted {
			w.Fatalf("%s is %s, and an issue is opened for it", rec.Name, rec.Status)
		}
		if w.issues[c.ID] == 0 {
			w.issues[c.ID] = len(w.issues) + 1
		}
		if w.oneIn(4, "lost") {
			continue
		}
		next := phases.Opened(*run, c.ID, w.issues[c.ID], "", w.engine.Now())
		if err := errors.Join(metadata.Follow(*run, next), w.engine.Amend(ctx, next, "an issue")); err != nil {
			w.Fatal(err)
		}
		*run = next
	}
	if opened := len(run.Children) - len(slices.DeleteFunc(slices.Clone(run.Children), metadata.Child.Opened)); before != len(run.Children) || opened > phases.MostChildren {
		w.Fatalf("%d children became %d, %d are open", before, len(run.Children), opened)
	}
}

// Urgent never hurries.
func (w *world) Urgent(ctx context.Context, _ func() metadata.Run) error { <-ctx.Done(); return nil }

// somebody gives a command, sometimes one that was given before.
func (w *world) somebody() {
	w.n++
	c := phases.Command{Comment: int64(w.n), By: "ada", At: w.engine.Now(), Why: "as asked"}
	if taken, _ := strconv.ParseInt(w.run.Cursor, 10, 64); taken > 0 && w.oneIn(5, "again") {
		c.Comment = rapid.Int64Range(1, taken).Draw(w.T, "comment")
	}
	if phases.Taken(w.run, c.Comment) {
		return // what it asks for is not even looked at
	}
	before := w.run
	next, back, err := w.command(&c)
	if err != nil {
		next, back = before, nil // refused, and noted
	} else {
		w.done[c.Comment]++
	}
	next = phases.Take(before, next, c)
	legal(w, before, next)
	ctx := context.Background()
	if back != nil {
		back.Run = next
		err = w.engine.Rollback(ctx, *back, nil)
	} else {
		err = w.engine.Amend(ctx, next, c.Name)
	}
	if err != nil {
		w.Fatal(err)
	}
	w.run = next
	w.sound()
}

// command is one of all that there are, about any phase.
func (w *world) command(c *phases.Command) (metadata.Run, *phases.RollbackPlan, error) {
	run, plan := w.run, w.engine.Plan
	phase := rapid.SampledFrom(namesOf(run)).Draw(w.T, "phase")
	c.Name = rapid.SampledFrom([]string{"run", "approve", "approve", "answer", "answer", "rollback", "retry", "skip", "pause", "cancel", "refresh", "refresh-issue"}).Draw(w.T, "command")
	var next metadata.Run
	var err error
	switch c.Name {
	case "run":
		next = phases.TakeUp(run, phases.Start{At: c.At})
	case "approve":
		waits, _, _, ok := phases.Approval(phases.On(plan, run), "")
		next, err = phases.Approve(phases.On(plan, run), *c)
		if ok && err == nil {
			if w.seen[waits] == nil {
				w.seen[waits] = map[string]bool{}
			}
			w.seen[waits][w.state(run.Phase(waits))] = true
		}
	case "answer":
		id := ""
		if open := phases.Questions(run); len(open) > 0 {
			id = rapid.SampledFrom(open).Draw(w.T, "question").ID
		}
		next, err = phases.Answer(run, id, w.word("approved, I approve: answer"), *c)
	case "rollback":
		step := rapid.SampledFrom([]metadata.Step{metadata.Execute, metadata.Review, metadata.Revise}).Draw(w.T, "step")
		back, err := phases.PlanRollback(phases.On(plan, run), phases.Rollback{To: phase, Step: step, Reason: w.word("because"), Trigger: metadata.Manual, At: c.At})
		return back.Run, &back, err
	case "retry":
		next, err = phases.Retry(phases.On(plan, run), "", phases.Start{At: c.At})
	case "skip":
		next, err = phases.Skip(phases.On(plan, run), phase, c.At)
	case "pause":
		next, err = phases.Pause(run, metadata.Said(w.word("pause")), c.At)
	case "cancel":
		next, err = phases.Cancel(run, "enough", c.At)
	case "refresh":
		now := w.plan()
		for i, p := range plan.Phases { // fewer revises than were done is no mistake of anybody
			now.Phases[i].Revisions = max(now.Phases[i].Revisions, p.Revisions)
		}
		if w.oneIn(2, "shorter") {
			now.Phases = now.Phases[:2]
		}
		now, next = phases.Refresh(plan, now, phases.TakeUp(run, phases.Start{At: c.At}), c.At)
		if next.Status == metadata.Completed { // nothing is new, so the definition stays what it was
			return run, nil, nil
		}
		w.engine.Plan = now
		w.plans++
	case "refresh-issue":
		now := run.Issue
		now.Title = w.word("title")
		next = phases.TakeIssue(phases.TakeUp(run, phases.Start{At: c.At, Issue: true}), now, "title", c.By, c.At)
	}
	return next, nil, err
}

// aloneSince counts the rollbacks since a person last took the run back.
func aloneSince(run metadata.Run) int {
	n := 0
	for _, r := range slices.Backward(run.RollbackHistory) {
		if r.TriggeredBy == metadata.Manual {
			break
		}
		n++
	}
	return n
}

// namesOf gives the names of the phases of a run, in their order.
func namesOf(run metadata.Run) []string {
	var names []string
	for _, rec := range run.Phases {
		names = append(names, rec.Name)
	}
	return names
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
	if got := phases.ToOpen(phases.On(plan, run)); run.Status != metadata.Waiting || len(run.Children) != 7 || len(got) != 0 {
		t.Fatalf("the run is %s, asked for is %q, to be opened %q", run.Status, titles(run.Children), titles(got))
	}
	run, err := phases.Approve(phases.On(plan, run), phases.Command{By: "ada", At: s.engine.Now()})
	testenv.Must(t, err)
	testenv.Is(t, "to be opened are", titles(phases.ToOpen(phases.On(plan, run))), "plan A, plan B, plan C, plan D, plan E")
	for i, c := range phases.ToOpen(phases.On(plan, run))[:2] {
		next := phases.Opened(run, c.ID, 20+i, "", s.engine.Now())
		legal(t, run, next)
		run = next
	}
	testenv.Is(t, "to be opened then are", titles(phases.ToOpen(phases.On(plan, run))), "plan C, plan D, plan E")
	back, err := phases.PlanRollback(phases.On(plan, run), phases.Rollback{To: "plan", Step: metadata.Execute, Reason: "think again", Trigger: metadata.Manual, At: s.engine.Now()})
	testenv.Must(t, err)
	legal(t, run, back.Run)
	testenv.Is(t, "after the rollback there are", titles(back.Run.Children), "plan A!, plan B!")
	s.run, wants = back.Run, []string{"b", "H"}
	run = s.goOn(t.Context())
	testenv.Same(t, "asked for again", "plan A!, plan B!, plan H", titles(run.Children))
}
