package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// world is an engine on a folder among agents, checks and people that do
// anything at all, and notes what they must have been told.
type world struct {
	*rapid.T
	engine  *Engine
	tree    *folderTree
	run     metadata.Run
	local   metadata.Run               // as a process that was killed would have left it
	heard   map[string]string          // all prompts of a session
	seen    map[string]map[string]bool // by phase, the state of the work that a person approved
	decided metadata.Run               // as it was when the newest step was decided on
	done    map[int64]int              // how often the command of a comment was carried out
	n       int                        // of words, commands and calls so far
	acts    int                        // how often people may still step in
	calls   int
	plans   int            // how often the definition has changed
	issues  map[string]int // by child, those that were opened
	checks  *rand.Rand     // decides what passes
}

// errKilled is how a call ends in which the process is killed.
var errKilled = errors.New("killed")

func newWorld(t *testing.T, rt *rapid.T, words *prompts.Set, dir string) *world {
	w := &world{
		T: rt, heard: map[string]string{}, seen: map[string]map[string]bool{}, done: map[int64]int{}, issues: map[string]int{}, acts: 8,
		checks: rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "checks"), 0)),
	}
	w.tree = &folderTree{t: t, dir: dir}
	w.tree.write("main.go", "package main\n")
	w.tree.commits = append(w.tree.commits, w.tree.read())
	plan := w.plan()
	w.run = freshRun(plan)
	clock := t0
	w.engine = &Engine{
		Journal: Journal{Plan: plan, Tree: w.tree, SecretFinder: hush{}, Now: func() time.Time { clock = clock.Add(time.Second); return clock }},
		Calls: Calls{
			Prompts: words,
			Agent:   func(name string) (Agent, error) { return agentFunc(w.work), nil },
			Issue:   prompts.Issue{ID: "7", Title: "T", Body: "Do it.", Labels: []string{"bug"}},
			See:     asWritten,
			NewID:   func() string { w.n++; return fmt.Sprintf("session-%d", w.n) },
			Rand:    rand.NewChaCha8([32]byte{}),
		},
		Commands: Commands{
			Checker: w, Base: w,
		},
		Conditions: Conditions{
			CheckReport: func(context.Context, string, []byte) error { return nil },
			Matches:     holds,
		},
		Store: w, Report: w, Steering: w, Sleep: func(context.Context, time.Duration) error { return nil },
	}
	return w
}

func (w *world) oneIn(n int, what string) bool { return rapid.IntRange(1, n).Draw(w.T, what) == n }

// word is one that no other text has.
func (w *world) word(kind string) string { w.n++; return fmt.Sprintf("%s-%d-", kind, w.n) }

func (w *world) plan() *pipelines.Pipeline {
	plan := testPlan()
	all := []string{"plan", "code", "tell", "look", "probe"}
	for i, name := range all[3:] {
		p := plan.Phases[0]
		p.Name, p.Folder, p.Writes = name, fmt.Sprintf("%02d_%s", 3+i, name), name+".md"
		plan.Spare = append(plan.Spare, p)
	}
	for _, list := range [][]pipelines.Phase{plan.Phases, plan.Spare} {
		for i := range list {
			p := &list[i]
			p.Report, p.ReportSchema = "{...}", json.RawMessage(anyReport)
			p.Revisions = rapid.IntRange(0, 3).Draw(w.T, "revisions")
			p.NoReview, p.ReviseAlways = w.oneIn(8, "no review"), w.oneIn(3, "revise always")
			if w.oneIn(4, "approve") {
				p.Approve = rapid.SampledFrom([]string{"write", "admin"}).Draw(w.T, "role")
			}
			if w.oneIn(6, "read") {
				p.Access = pipelines.AccessRead
			}
		}
	}
	for range rapid.IntRange(0, 4).Draw(w.T, "rules") {
		plan.Rules = append(plan.Rules, pipelines.Rule{
			After: rapid.SampledFrom(all).Draw(w.T, "after"), Then: w.then(all),
			When: rapid.SampledFrom([]string{"always", "high", "again", "failed", "broken"}).Draw(w.T, "when"),
		})
	}
	return plan
}

func (w *world) then(all []string) pipelines.Then {
	switch rapid.IntRange(0, 5).Draw(w.T, "then") {
	case 0:
		return pipelines.Then{Skip: "review"}
	case 1:
		return pipelines.Then{Insert: rapid.SampledFrom(all[3:]).Draw(w.T, "insert")}
	case 2:
		return pipelines.Then{Drop: []string{rapid.SampledFrom(all).Draw(w.T, "drop")}}
	case 3:
		return pipelines.Then{Approve: rapid.SampledFrom([]string{"triage", "admin"}).Draw(w.T, "role")}
	case 4:
		return pipelines.Then{Use: &pipelines.RuleUse{Agent: "second"}}
	}
	return pipelines.Then{Rollback: &pipelines.RuleRollback{To: rapid.SampledFrom(all).Draw(w.T, "to"), Step: "revise", Reason: w.word("rule")}}
}

// holds is what conditions mean here.
func holds(_ context.Context, when string, data []byte) (bool, error) {
	var f struct {
		Report  struct{ High bool }
		Attempt int
		Verdict string
	}
	if err := json.Unmarshal(data, &f); err != nil {
		return false, err
	}
	switch when {
	case "broken":
		return false, errors.New("evaluating it took too long")
	case "high":
		return f.Report.High, nil
	case "again":
		return f.Attempt > 1, nil
	case "failed":
		return f.Verdict == "fail", nil
	}
	return true, nil
}

// Save keeps what a kill would leave.
func (w *world) Save(run metadata.Run) error { w.local = run.Clone(); return nil }

// Check passes or not. It is called beside the goroutine that the test runs in, where nothing may be drawn: rapid ends
// a life that it makes smaller by a panic of the goroutine that draws.
func (w *world) Check(_ context.Context, _ string, c pipelines.Check) (metadata.CheckResult, error) {
	pass := w.checks.IntN(4) > 0
	return metadata.CheckResult{Name: c.Name, Run: c.Run, Pass: pass, ExitCode: map[bool]int{false: 1}[pass], Output: w.word("output")}, nil
}

// work is a call of any agent.
func (w *world) work(ctx context.Context, t Task) (Result, error) {
	if w.calls++; w.calls > 1500 {
		w.Fatalf("the run does not end")
	}
	if !t.Resume {
		w.heard[t.Session] = ""
	}
	w.heard[t.Session] += t.Prompt
	w.informed(t)
	r := Result{Session: t.Session, ToolCalls: 1, Usage: metadata.Usage{InputTokens: 10, USD: 0.01}}
	switch rapid.IntRange(0, 13).Draw(w.T, "call") {
	case 0:
		class := rapid.SampledFrom([]metadata.Class{metadata.Crash, metadata.Auth, metadata.RateLimited, metadata.StepTimeout}).Draw(w.T, "class")
		return r, &AgentError{Class: class, Agent: "claude", Err: errors.New("it broke")}
	case 1:
		return r, nil // nothing done
	case 2:
		return r, errKilled
	case 3:
		return r, ErrInterrupted
	}
	if t.Step == metadata.Review {
		r.Structured = w.judge(t)
		return r, nil
	}
	text := fmt.Sprintf("%s %d", t.Phase, w.calls)
	if t.Access == pipelines.AccessRead {
		r.Text = text
	} else if err := os.WriteFile(t.Artifact, []byte(text), 0o644); err != nil {
		return r, err
	}
	r.Structured = w.report()
	if t.Access == pipelines.AccessTree {
		return r, os.WriteFile(filepath.Join(t.Dir, "main.go"), fmt.Appendf(nil, "package main // %d\n", w.calls), 0o644)
	}
	return r, nil
}

func (w *world) judge(t Task) json.RawMessage {
	v := metadata.Verdict{Verdict: metadata.Pass, Gates: []metadata.Gate{}, Findings: []metadata.Finding{}}
	pass := !w.oneIn(3, "review fails")
	for _, g := range t.Gates {
		v.Gates = append(v.Gates, metadata.Gate{Gate: g, Pass: pass, Why: "seen"})
	}
	if !pass || w.oneIn(4, "suggestion") {
		f := metadata.Finding{ID: w.word("F"), Severity: metadata.Suggestion, Title: w.word("finding"), Problem: "p", Status: metadata.NewFinding}
		if !pass {
			f.Severity, v.Verdict = metadata.Blocker, metadata.Fail
		}
		v.Findings = append(v.Findings, f)
	}
	return w.encoded(v)
}

// report asks for anything, or nothing.
func (w *world) report() json.RawMessage {
	r := map[string]any{"high": w.oneIn(3, "high")}
	switch rapid.IntRange(0, 9).Draw(w.T, "report") {
	case 0:
		r["questions"] = []any{w.word("question"), map[string]any{"question": w.word("question"), "options": []string{"a", "b"}}}
	case 1:
		r["rollback"] = map[string]any{
			"phase": rapid.SampledFrom([]string{"plan", "code", "look", "plna"}).Draw(w.T, "to"), "reason": w.word("asked"),
			"step":       rapid.SampledFrom([]string{"", "execute", "review", "revise", "again"}).Draw(w.T, "step"),
			"confidence": rapid.SampledFrom([]string{"", "low", "high", "high"}).Draw(w.T, "confidence"),
		}
	case 2:
		r["abort"] = w.word("abort")
	case 3:
		r["tasks"] = []any{map[string]any{"id": "t1", "title": "T", "needs": []string{"t2", "t1"}}, map[string]any{"id": rapid.SampledFrom([]string{"t2", "t3"}).Draw(w.T, "task"), "title": "U"}}
	case 4:
		r["depends_on"], r["questions"], r["rollback"] = []any{3, "#4"}, 5, "no object"
	case 5, 6:
		var all []any
		for range rapid.IntRange(0, 4).Draw(w.T, "children") {
			all = append(all, map[string]string{"title": rapid.SampledFrom([]string{"A", "a ", "B", "C", "D", "E", "F", " "}).Draw(w.T, "child")})
		}
		r["children"] = all
	}
	return w.encoded(r)
}

func (w *world) encoded(v any) json.RawMessage {
	data, err := json.Marshal(v)
	if err != nil {
		w.Fatalf("encoding %v: %v", v, err)
	}
	return data
}

// informed holds that an agent knows, from this prompt or from what its
// session was told before, all that it has to go by.
func (w *world) informed(t Task) {
	run := w.local
	rec := run.Phase(t.Phase)
	var must []string
	if rec.RollbackContext != nil {
		must = append(must, rec.RollbackContext.Reason)
	}
	if t.Step != metadata.Review {
		for _, q := range run.Questions {
			if q.Phase == rec.Name && q.Generation == rec.Generation && !q.Open() {
				must = append(must, q.Answer)
			}
		}
	}
	if t.Step == metadata.Revise {
		for _, f := range rec.Verdict.OpenBlockers() {
			must = append(must, f.Title)
		}
		if rec.ChecksFail() {
			must = append(must, rec.Checks.Results[0].Output)
		}
	}
	for _, text := range must {
		if !strings.Contains(w.heard[t.Session], text) {
			w.Fatalf("%s of %s is not told %q:\n%s", t.Step, t.Phase, text, t.Prompt)
		}
	}
}

// Report holds every decision against what may come at all.
func (w *world) Report(e Event) {
	if e.Decision != nil && !e.Decision.Final() {
		promise(w.T, w.engine.Plan, e.Run, *e.Decision)
		w.approved(e.Run, e.Decision.Phase)
		w.decided = e.Run
	}
	if e.Done != nil && !e.Of.Final() {
		was, now := w.decided.Phase(e.Of.Phase), e.Run.Phase(e.Of.Phase)
		if was.RollbackContext != nil && now.Status == metadata.PhaseCompleted && !w.engine.Plan.Phase(now.Name).NoReview && !passed(e.Run, now) {
			w.Fatalf("%s was taken back, and is completed by %s: nobody has said whether the reason is met", now.Name, e.Of.Do)
		}
	}
}

// passed reports whether a review has passed the work on which a phase stands, since it was taken back. It need not be
// the newest work: what loses a check is given up for what was reviewed before, and a phase that is taken back to its
// review may stand on its best work.
func passed(run metadata.Run, rec *metadata.Phase) bool {
	written := 0 // since it was taken back
	for _, a := range run.Attempts {
		switch {
		case a.Phase != rec.Name || a.Status != metadata.Succeeded || a.Generation != rec.Generation:
		case a.Step != metadata.Review && a.Step != metadata.Check:
			written = a.N
		case a.Step == metadata.Review && a.Verdict != metadata.Fail && (written == rec.Written || written == 0 && rec.Written < a.N):
			return true
		}
	}
	return false
}

// approved holds that whatever a person has to approve before a phase was
// approved as it lies on the branch now.
func (w *world) approved(run metadata.Run, phase string) {
	for i := range run.Phases {
		rec := &run.Phases[i]
		p := w.engine.Plan.Phase(rec.Name)
		if rec.Name == phase {
			return
		}
		if p == nil || rec.Status != metadata.PhaseCompleted || p.Approve == "" && rec.Approve == "" {
			continue
		}
		if !w.seen[rec.Name][w.state(rec)] {
			w.Fatalf("%s goes on though nobody has approved %s as it is (%s): %v", phase, rec.Name, w.state(rec), w.seen[rec.Name])
		}
	}
}

// state is what a person sees who looks at a phase on the branch.
func (w *world) state(rec *metadata.Phase) string {
	var files []string
	tip := w.tree.tip()
	for _, name := range slices.Sorted(maps.Keys(tip)) {
		if slices.Contains(rec.OutputFiles, name) {
			files = append(files, tip[name])
		}
	}
	return fmt.Sprint(rec.Generation, files)
}

// reviewSkipped reports whether a rule has completed a phase since the run was
// last taken back.
func reviewSkipped(run metadata.Run, phase string) bool {
	for _, d := range slices.Backward(run.Decisions) {
		if d.Step == "rollback" && d.Phase == phase {
			return false
		}
		if d.Step == "rule" && d.Phase == phase && strings.Contains(english(d.Why), "skip the review") && !strings.Contains(english(d.Why), "could not") {
			return true
		}
	}
	return false
}
