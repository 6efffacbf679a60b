package phases

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

var (
	waveNoon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	tip      = strings.Repeat("a", 40)
)

// inParts gives a run whose phase is done in parts, each of which names the file that it
// touches, such as "t1 a.go".
func inPartsWave(tasks ...string) (*pipelines.Pipeline, metadata.Run) {
	step := pipelines.Step{Agent: "own"}
	plan := &pipelines.Pipeline{Name: "p", Agents: map[string]pipelines.Agent{"own": {Use: "command"}}, Phases: []pipelines.Phase{
		{Name: "code", Folder: "00_code", Writes: "code.md", Access: pipelines.AccessTree, Revisions: 1, Execute: step, Review: step, Revise: step},
	}}
	run := metadata.Run{IssueNumber: "7", Status: metadata.Running, Execution: metadata.Execution{ID: "one"}}
	run.Attempts = []metadata.Attempt{ended(1, "plan", waveNoon)}
	for _, task := range tasks {
		words := strings.Fields(task)
		run.Tasks = append(run.Tasks, metadata.Task{ID: words[0], Phase: "plan", Title: words[0], Goal: "G", Files: words[1:]})
		run.Phases = append(run.Phases, metadata.Phase{Name: "code." + words[0], Task: words[0], Status: metadata.PhasePending})
	}
	run.Phases = append(run.Phases, metadata.Phase{Name: "code", Status: metadata.PhasePending})
	return plan, run
}

func ended(n int, phase string, at time.Time) metadata.Attempt {
	end := at.Add(time.Minute)
	return metadata.Attempt{N: n, Phase: phase, Step: metadata.Execute, Status: metadata.Succeeded, StartedAt: at, EndedAt: &end, Usage: metadata.Usage{USD: 1}, DurationMS: 60000}
}

// done gives the record of the machine that has done a part of a run, as it is once the
// part is reviewed.
func doneWave(from metadata.Run, part string, at time.Time) metadata.Run {
	run := from.Clone()
	for _, step := range []metadata.Step{metadata.Execute, metadata.Review} {
		a := ended(len(run.Attempts)+1, part, at)
		a.Step, at = step, at.Add(time.Minute)
		run.Attempts = append(run.Attempts, a)
		run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: string(step), Phase: part, Why: "w", Attempt: a.N})
	}
	rec := run.Phase(part)
	rec.Status, rec.CurrentStep, rec.Written = metadata.PhaseInProgress, metadata.Integrate, len(run.Attempts)-1
	rec.Checks = &metadata.Checks{Written: rec.Written}
	rec.Lane = &metadata.Lane{Base: tip, Head: strings.Repeat("b", 40)}
	run.Questions = append(run.Questions, metadata.Question{ID: "q1", Phase: part, Attempt: rec.Written, Text: "?"})
	run.Status, run.Cost.USD, run.Budget.USD = metadata.Interrupted, run.Cost.USD+2, 1
	return run
}

func TestOfWave(t *testing.T) {
	for name, tt := range map[string]struct {
		tasks  []string
		change func(*metadata.Run)
		want   string
	}{
		"apart":            {tasks: []string{"t1 a", "t2 b", "t3 c"}, want: "code.t1 code.t2 code.t3"},
		"one":              {tasks: []string{"t1 a"}},
		"the same file":    {tasks: []string{"t1 a", "t2 a"}},
		"some of the same": {tasks: []string{"t1 a", "t2 a", "t3 b"}, want: "code.t1 code.t3"},
		"not running":      {tasks: []string{"t1 a", "t2 b"}, change: func(r *metadata.Run) { r.Status = metadata.Waiting }},
		"begun here": {tasks: []string{"t1 a", "t2 b", "t3 c"}, change: func(r *metadata.Run) {
			r.Phases[0].Status, r.Phases[0].CurrentStep = metadata.PhaseInProgress, metadata.Execute
		}},
		"no call left for each": {tasks: []string{"t1 a", "t2 b"}, change: func(r *metadata.Run) { r.Budget.Attempts = 2 }},
		"a call for each":       {tasks: []string{"t1 a", "t2 b"}, change: func(r *metadata.Run) { r.Budget.Attempts = 4 }, want: "code.t1 code.t2"},
		"too little money": {tasks: []string{"t1 a", "t2 b"}, change: func(r *metadata.Run) {
			r.Budget.USD, r.Cost.USD = 100, 97
		}},
	} {
		t.Run(name, func(t *testing.T) {
			plan, run := inPartsWave(tt.tasks...)
			if tt.change != nil {
				tt.change(&run)
			}
			testenv.Is(t, "the wave is", strings.Join(PartsOfWave(On(plan, run)), " "), tt.want)
		})
	}
}

func TestSharesAreNoMoreThanIsLeft(t *testing.T) {
	_, run := inPartsWave("t1 a", "t2 b", "t3 c")
	run.Cost.USD, run.Budget = 10, metadata.Budget{USD: 40, Attempts: 10}
	seen, ok := ShareOfPart(run, 3)
	if got := RemainingUSD(seen); !ok || got != 10 {
		t.Errorf("a machine may spend $%v (%t), want $10", got, ok)
	}
	testenv.Is(t, "the calls of a machine are", seen.Budget.Attempts, 3)
}

// Phases that may be done at the same time are no parts: other machines leave them alone,
// and the parts that would touch the files of one that is next.
func TestOfPhasesBesideEachOther(t *testing.T) {
	for access, want := range map[pipelines.Access]string{pipelines.AccessArtifacts: "code.t1 code.t2", pipelines.AccessTree: ""} {
		plan, run := inPartsWave("t1 a", "t2 b")
		plan.Parallel = true
		docs, notes := plan.Phases[0], plan.Phases[0]
		docs.Name, docs.Folder, docs.Access = "docs", "01_docs", access
		notes.Name, notes.Folder, notes.Access = "notes", "02_notes", pipelines.AccessArtifacts
		plan.Phases = append([]pipelines.Phase{docs, notes}, plan.Phases...)
		run.Phases = append(metadata.Phases{{Name: "docs", Status: metadata.PhasePending}, {Name: "notes", Status: metadata.PhasePending}}, run.Phases...)
		if got := strings.Join(PartsOfWave(On(plan, run)), " "); got != want {
			t.Errorf("beside a phase with access %s: %q, want %q", access, got, want)
		}
	}
}

// Whatever order the machines end in, the run has the same parts.
func TestFold(t *testing.T) {
	_, from := inPartsWave("t1 a", "t2 b", "t3 c")
	from.Questions = []metadata.Question{{ID: "q1", Phase: "plan", Answer: "yes", AnsweredAt: &waveNoon}}
	one, two := doneWave(from, "code.t1", waveNoon.Add(time.Hour)), doneWave(from, "code.t2", waveNoon.Add(2*time.Hour))
	asks := func(id, part string) metadata.Child { return metadata.Child{ID: id, Phase: part, Title: id} }
	one.Children = []metadata.Child{asks("a", "code.t1"), asks("x", "code.t3")}
	two.Children = []metadata.Child{asks("a", "code.t2"), asks("b", "code.t2"), {ID: "y", Phase: "code.t2", Number: 9}}
	fold := func(order ...string) metadata.Run {
		run := from
		for _, part := range order {
			next, became, err := FoldPart(from, tip, run, part, map[string]metadata.Run{"code.t1": one, "code.t2": two}[part])
			if err != nil || became != TakenFolded {
				t.Fatalf("%s: %s, %v", part, became, err)
			}
			run = next
		}
		return run
	}
	got := fold("code.t1", "code.t2")
	if len(got.Attempts) != 5 || got.Cost.USD != from.Cost.USD+4 || got.Status != metadata.Running || got.Budget.USD != 0 {
		t.Errorf("%d attempts, $%v, %s, a budget of $%v", len(got.Attempts), got.Cost.USD, got.Status, got.Budget.USD)
	}
	for i, a := range got.Attempts {
		if a.N != i+1 {
			t.Errorf("attempt %d has number %d", i+1, a.N)
		}
	}
	rec := got.Phase("code.t2")
	if rec.Written != 4 || rec.Checks.Written != 4 || got.Decisions[3].Attempt != 5 {
		t.Errorf("%d wrote, %d was checked, the last decision led to %d", rec.Written, rec.Checks.Written, got.Decisions[3].Attempt)
	}
	if q := got.Questions; len(q) != 3 || q[2].ID != "q3" || q[2].Attempt != 4 {
		t.Errorf("the questions are %+v", q)
	}
	if c := got.Children; len(c) != 2 || c[0].ID != "a" || c[1].ID != "b" {
		t.Errorf("the issues that parts ask for are %+v", c)
	}
	other := fold("code.t2", "code.t1")
	for _, part := range []string{"code.t1", "code.t2"} {
		a, b := *got.Phase(part), *other.Phase(part)
		a.Written, b.Written, a.Checks, b.Checks = 0, 0, nil, nil
		testenv.Same(t, part+", first and last", a, b)
	}
	again, became, err := FoldPart(got, tip, got, "code.t1", one)
	if err != nil || became != NothingFolded || len(again.Attempts) != len(got.Attempts) {
		t.Errorf("taken over a second time: %s, %v", became, err)
	}
}

// What the reports of parts say to others is not lost, and numbers of attempts still mean
// the same ones.
func TestFoldTakesWhatPartsSay(t *testing.T) {
	_, from := inPartsWave("t1 a", "t2 b")
	from.DesignDecisions = metadata.DesignDecisions{ImplementationStrategy: "extend", TestStrategy: "unit"}
	from.Phase("code.t1").AllowanceFrom = 1
	note := metadata.Finding{ID: "R1", Status: metadata.NewFinding, Title: "Rude", Problem: "p"}
	from.Reviews = []metadata.PullReview{{ID: 5, Phase: "code.t1", Comments: []metadata.ReviewComment{{Finding: note}}}}
	one, two := doneWave(from, "code.t1", waveNoon.Add(time.Hour)), doneWave(from, "code.t2", waveNoon.Add(2*time.Hour))
	one.DesignDecisions.TestStrategy = "unit and race"
	two.DesignDecisions.TestCodeStrategy = "beside the code"
	fixed := note
	fixed.Status, fixed.Problem = metadata.Fixed, "it is polite now"
	one.Phase("code.t1").Verdict = &metadata.Verdict{Verdict: metadata.Pass, Findings: []metadata.Finding{fixed}}
	next := from
	for part, theirs := range map[string]metadata.Run{"code.t1": one, "code.t2": two} {
		var became FoldOutcome
		var err error
		if next, became, err = FoldPart(from, tip, next, part, theirs); err != nil || became != TakenFolded {
			t.Fatalf("%s: %s, %v", part, became, err)
		}
	}
	testenv.Is(t, "the decisions are", next.DesignDecisions, (metadata.DesignDecisions{ImplementationStrategy: "extend", TestStrategy: "unit and race", TestCodeStrategy: "beside the code"}))
	if got := next.Reviews[0].Comments[0].Finding; got.Status != metadata.Fixed || got.Solution != "it is polite now" {
		t.Errorf("the comment on a line is %+v", got)
	}
	testenv.Is(t, "the allowance of the part counts from attempt", next.Phase("code.t1").AllowanceFrom, 1)
}

func TestFoldCountsOnlyWhatIsOfThePart(t *testing.T) {
	for name, tt := range map[string]struct {
		run    func(*metadata.Run) // as it has become meanwhile
		theirs func(*metadata.Run)
		want   FoldOutcome
		err    string
	}{
		"nothing done": {theirs: func(r *metadata.Run) { _, *r = inPartsWave("t1 a", "t2 b") }, want: NothingFolded},
		"another run":  {theirs: func(r *metadata.Run) { r.Execution.ID = "two" }, err: "another run"},
		"no such part": {theirs: func(r *metadata.Run) { r.Phases[0].Task = "t2" }, err: "no part of the run"},
		"an attempt of another part": {theirs: func(r *metadata.Run) {
			r.Attempts = append(r.Attempts, ended(len(r.Attempts)+1, "code.t2", waveNoon.Add(3*time.Hour)))
		}, err: "the machine has only code.t1"},
		"taken back meanwhile": {run: func(r *metadata.Run) { r.Phases[0].Generation++ }, want: VoidFolded},
		"left out meanwhile":   {run: func(r *metadata.Run) { r.Phases[0].Status = metadata.PhaseSkipped }, want: VoidFolded},
		"begun anew meanwhile": {run: func(r *metadata.Run) {
			r.Phases[0].Status, r.Phases[0].CurrentStep = metadata.PhaseInProgress, metadata.Execute
		}, want: VoidFolded},
		"from another commit": {theirs: func(r *metadata.Run) { r.Phases[0].Lane.Base = strings.Repeat("c", 40) }, want: VoidFolded},
		"a history that was changed": {theirs: func(r *metadata.Run) {
			r.RollbackHistory = append(r.RollbackHistory, metadata.Rollback{ToPhase: "plan"})
		}, want: VoidFolded},
		"on the branch itself": {theirs: func(r *metadata.Run) { r.Phases[0].Lane = nil }, want: VoidFolded},
		"no code to change": {theirs: func(r *metadata.Run) {
			r.Phases[0].Lane, r.Phases[0].Status, r.Phases[0].CurrentStep = nil, metadata.PhaseCompleted, ""
		}, want: TakenFolded},
		"never passed": {theirs: func(r *metadata.Run) {
			r.Phases[0].Status, r.Phases[0].CurrentStep = metadata.PhaseFailed, ""
		}, want: TakenFolded},
		"never passed, from another commit": {theirs: func(r *metadata.Run) {
			r.Phases[0].Status, r.Phases[0].CurrentStep, r.Phases[0].Lane.Base = metadata.PhaseFailed, "", strings.Repeat("c", 40)
		}, want: VoidFolded},
		"no code to change, and the base was merged": {
			run:    func(r *metadata.Run) { r.Merges = append(r.Merges, metadata.Merge{At: waveNoon}) },
			theirs: func(r *metadata.Run) { r.Phases[0].Lane, r.Phases[0].Status = nil, metadata.PhaseCompleted },
			want:   VoidFolded,
		},
		"a command of a person": {theirs: func(r *metadata.Run) {
			r.Decisions = append(r.Decisions, metadata.Decision{Step: "approve", Phase: "code.t1", By: "ada", Comment: 5, Why: "w"})
		}, want: TakenFolded},
		"an approval": {theirs: func(r *metadata.Run) { r.Approvals = append(r.Approvals, metadata.Approval{Phase: "code.t1"}) }, want: TakenFolded},
	} {
		t.Run(name, func(t *testing.T) {
			_, from := inPartsWave("t1 a", "t2 b")
			theirs := doneWave(from, "code.t1", waveNoon.Add(time.Hour))
			if tt.theirs != nil {
				tt.theirs(&theirs)
			}
			if tt.run != nil {
				tt.run(&from)
			}
			got, became, err := FoldPart(from, tip, from, "code.t1", theirs)
			if tt.err != "" {
				if err == nil || !strings.Contains(err.Error(), tt.err) || len(got.Attempts) != len(from.Attempts) {
					t.Errorf("the error is %v, want %q", err, tt.err)
				}
				return
			}
			if err != nil || became != tt.want {
				t.Fatalf("%s, %v, want %s", became, err, tt.want)
			}
			if cost := got.Cost.USD - from.Cost.USD; tt.want != NothingFolded && cost != 2 {
				t.Errorf("$%v were spent, want $2", cost)
			}
			if tt.want == VoidFolded && !cmp.Equal(*got.Phase("code.t1"), *from.Phase("code.t1")) {
				t.Errorf("the part is %+v", got.Phase("code.t1"))
			}
			if len(got.Approvals) > 0 || len(got.Decisions) > 2 {
				t.Errorf("the record has approvals %v and decisions %v", got.Approvals, got.Decisions)
			}
		})
	}
}

// A machine that was killed leaves a call of which nobody saw the end.
func TestFoldEndsWhatIsOpen(t *testing.T) {
	_, from := inPartsWave("t1 a", "t2 b")
	theirs := doneWave(from, "code.t1", waveNoon.Add(time.Hour))
	last := &theirs.Attempts[len(theirs.Attempts)-1]
	last.Status, last.EndedAt = metadata.Started, nil
	got, became, err := FoldPart(from, tip, from, "code.t1", theirs)
	if a := got.Attempts[len(got.Attempts)-1]; err != nil || became != TakenFolded || a.Status != metadata.Cut || a.EndedAt == nil {
		t.Errorf("%s, %v: the attempt is %+v", became, err, a)
	}
}
