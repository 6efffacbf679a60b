// Package rehearsal is the agent that needs no key, no network and no model: it answers from samples, or
// from stubs.
package rehearsal

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// Agent writes an artifact from the task, passes every review but the very first, of the phase First, and
// shows that findings and reasons arrived. The same task and tree give the same result.
type Agent struct {
	// First is the phase whose first review fails; empty lets all pass.
	First string
	// CallTime is how long a call takes.
	CallTime time.Duration
	// Stubs, if not nil, are results that are played back.
	Stubs *Stubs
}

// theFinding is the id of the one finding that a rehearsal has.
const theFinding = "R1"

// Run carries out one task.
func (a Agent) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	if err := rest(ctx, a.CallTime); err != nil {
		return engine.Result{}, err
	}
	r := engine.Result{Session: t.Session, Model: "rehearsal"}
	if t.Notify != nil {
		t.Notify(engine.Activity{Session: t.Session, Text: fmt.Sprintf("%s %s", t.Step, t.Phase)})
	}
	s, scripted := a.Stubs.next(t)
	if scripted && s.Sleep > 0 {
		if err := rest(ctx, time.Duration(s.Sleep)); err != nil {
			return r, err
		}
	}
	if scripted && s.Error != nil {
		return r, s.Error.err()
	}
	err := a.work(t, &r)
	if err == nil && scripted {
		err = s.apply(t, &r)
	}
	if err != nil {
		return r, &engine.AgentError{Class: classOf(err), Agent: "rehearsal", Err: err}
	}
	if !scripted || s.Usage == nil {
		r.Usage = pretend(t, r)
	}
	return r, nil
}

// classOf tells a disk that is full or closed from other trouble.
func classOf(err error) metadata.Class {
	if folders.NoDisk(err) {
		return metadata.Disk
	}
	return metadata.Crash
}

// rest waits, or says that there is no time left.
func rest(ctx context.Context, d time.Duration) error {
	if d == 0 && ctx.Err() == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		class := metadata.Signal
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			class = metadata.StepTimeout
		}
		return &engine.AgentError{Class: class, Agent: "rehearsal", Err: context.Cause(ctx)}
	case <-time.After(d):
		return nil
	}
}

// work does what the step asks for.
func (a Agent) work(t engine.Task, r *engine.Result) error {
	r.ToolCalls = 1 // it read, or wrote, the artifact
	words := wordsIn(t.Language)
	if t.Step == phases.Diagnose {
		return diagnose(t, words, r)
	}
	if t.Step == metadata.Review {
		v := a.verdict(t, words)
		r.Text = fmt.Sprintf(words["reviewed"], t.Phase, v.Verdict)
		var err error
		r.Structured, err = json.Marshal(v)
		return err
	}
	text := words.document(t)
	r.Text = fmt.Sprintf(words["wrote"], t.Phase)
	if !t.Access.Writes() {
		r.Text = text // it cannot write: its last words are the document
	} else if err := a.write(t, r, text); err != nil {
		return err
	}
	if t.Schema != nil {
		var err error
		r.Structured, err = source.SampleOf(t.Schema)
		return err
	}
	return nil
}

func (a Agent) write(t engine.Task, r *engine.Result, text string) error {
	if t.Artifact != "" {
		if err := put(t.Artifact, text); err != nil {
			return err
		}
	}
	if t.Access != pipelines.AccessTree {
		return nil
	}
	r.ToolCalls++
	return put(filepath.Join(t.Dir, "rehearsal", t.Phase+".md"), fmt.Sprintf("%s: %s, %d\n", t.Phase, t.Step, t.Attempt))
}

// put writes a file and the folders above it.
func put(file, text string) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o644)
}

// verdict judges: the gates hold, but for the review that is to fail.
func (a Agent) verdict(t engine.Task, words spoken) metadata.Verdict {
	artifact, _ := os.ReadFile(t.Artifact) // one that cannot be read was not revised
	revised := strings.Contains(string(artifact), words["revised"])
	fails := a.First != "" && t.Phase == a.First && t.Round == 0 && !revised
	v := metadata.Verdict{Verdict: metadata.Pass, Gates: []metadata.Gate{}, Findings: []metadata.Finding{}}
	for i, g := range t.Gates {
		gate := metadata.Gate{Gate: g, Pass: !fails || i > 0, Why: words["holds"]}
		if !gate.Pass {
			gate.Why = words["missing"]
		}
		v.Gates = append(v.Gates, gate)
	}
	f := metadata.Finding{
		ID: theFinding, Severity: metadata.Blocker, Status: metadata.NewFinding,
		Title: words["title"], Problem: words["missing"], Impact: words["impact"], Solution: words["solution"],
	}
	switch {
	case fails:
		v.Verdict = metadata.Fail
	case t.Phase == a.First && t.Round > 0 && revised:
		f.Status = metadata.Fixed
	default:
		return v
	}
	v.Findings = append(v.Findings, f)
	return v
}

// pretend gives figures as a model would have them: four characters to a
// token, 1 and 5 US dollars for a million. No money is spent.
func pretend(t engine.Task, r engine.Result) metadata.Usage {
	u := metadata.Usage{InputTokens: int64(len(t.Prompt)/4 + 1), OutputTokens: int64((len(r.Text)+len(r.Structured))/4 + 1), Turns: 1, Estimated: true}
	if info, err := os.Stat(t.Artifact); err == nil && t.Step != metadata.Review && t.Step != phases.Diagnose {
		u.OutputTokens += info.Size() / 4
	}
	u.USD = (float64(u.InputTokens) + 5*float64(u.OutputTokens)) / 1e6
	return u
}

// diagnose proposes what the stored verdicts say, without a model: back to the
// first phase that has an open blocker, to have it revised.
func diagnose(t engine.Task, words spoken, r *engine.Result) error {
	data, err := os.ReadFile(t.Artifact)
	if err != nil {
		return err
	}
	run, err := metadata.Parse(data, t.Artifact)
	if err != nil {
		return err
	}
	d := phases.Diagnosis{Confidence: phases.HighConfidence, Analysis: words["sound"]}
	if phase, reason := blocked(run); reason != "" {
		d = phases.Diagnosis{NeedsRollback: true, ToPhase: phase, ToStep: metadata.Revise, Reason: reason, Confidence: phases.HighConfidence, Analysis: reason}
	}
	r.Text = engine.Proposal(d, run.Language)
	r.Structured, err = json.Marshal(d)
	return err
}

// blocked finds the first phase that has an open blocker, and says what.
func blocked(run metadata.Run) (phase, reason string) {
	for _, p := range run.Phases {
		if p.Status == metadata.PhaseSkipped || p.Verdict == nil {
			continue
		}
		for _, f := range p.Verdict.Findings {
			if f.Counts() == metadata.Blocker && f.Status != metadata.Fixed {
				return p.Name, process.OneLine(fmt.Sprintf("%s: %s. %s", f.ID, f.Title, cmp.Or(f.Solution, f.Problem)), 900)
			}
		}
	}
	return "", ""
}

// spoken is what a rehearsal writes, in one language, by the names in words.json.
type spoken map[string]string

//go:embed words.json
var allWords []byte

// inLanguages are the words of all languages.
var inLanguages = sync.OnceValue(func() (all map[string]spoken) {
	if err := json.Unmarshal(allWords, &all); err != nil {
		panic(err) // it is part of the program
	}
	return all
})

// wordsIn gives the words of a language, or the English ones.
func wordsIn(language string) spoken {
	if words := inLanguages()[language]; words != nil {
		return words
	}
	return inLanguages()["en"]
}

// document is a plausible artifact.
func (w spoken) document(t engine.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n"+w["about"]+"\n", process.OneLine(t.Title, 200), t.Phase, t.Attempt)
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", w["goal"], strings.TrimSpace(t.Goal))
	for _, g := range t.Gates {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", process.OneLine(g, 200), w["gate"])
	}
	if reason := rollbackReason(t.Prompt); reason != "" {
		fmt.Fprintf(&b, "\n## %s\n\n> %s\n", w["reason"], strings.ReplaceAll(reason, "\n", "\n> "))
	}
	if t.Step == metadata.Revise {
		fmt.Fprintf(&b, "\n%s\n\n"+w["fix"]+"\n", w["revised"], theFinding)
	}
	return b.String()
}

// rollbackHead matches the beginning of a prompt that starts with the reason
// of a rollback, up to the reason: a heading, a sentence, and a fence.
var rollbackHead = regexp.MustCompile(`\A\s*# [^\n]*\n\n[^\n]*\n\n<<<(\S+) reason\n`)

// rollbackReason finds the reason of a rollback at the start of a prompt.
func rollbackReason(prompt string) string {
	m := rollbackHead.FindStringSubmatchIndex(prompt)
	if m == nil {
		return ""
	}
	reason, _, ok := strings.Cut(prompt[m[1]:], "\n"+prompt[m[2]:m[3]]+">>>")
	if !ok {
		return ""
	}
	return strings.TrimSpace(reason)
}
