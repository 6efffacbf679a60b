package phases

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// english puts a reason into words.
func english(r metadata.Reason) string { return r.In(prompts.Words("en")) }

// refused says in words why something was refused; "" if it was not.
func refused(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// What both the decisions and the loop are tested with.
var (
	t0       = phasestest.Start
	testPlan = phasestest.Plan
	legal    = phasestest.CheckLegal
	blocker  = phasestest.Blocker
	asksFor  = phasestest.AskingFor
	titles   = phasestest.Titles
)

const anyReport = phasestest.AnyReport

func freshRun(plan *pipelines.Pipeline) metadata.Run {
	return Fresh(On(plan, phasestest.Run()), t0)
}

// plays carries out what is decided with one outcome after the other.
func plays(t phasestest.Tester, plan *pipelines.Pipeline, run metadata.Run, all ...Outcome) metadata.Run {
	t.Helper()
	for _, o := range all {
		run = play(t, plan, run, Decide(On(plan, run)), o)
	}
	return run
}

// play carries out one decision with the outcome given, the way Engine does.
func play(t phasestest.Tester, plan *pipelines.Pipeline, run metadata.Run, d Decision, o Outcome) metadata.Run {
	t.Helper()
	at := run.UpdatedAt.Add(time.Second)
	if !d.Final() {
		before := run
		session := fmt.Sprintf("s%d", len(run.Attempts)+1)
		if d.Resume > 0 {
			session = run.Attempts[d.Resume-1].Session
		}
		run = Begin(run, d, Beginning{At: at, Session: session, Base: strings.Repeat("b", 40)})
		legal(t, before, run)
	}
	if !d.Final() {
		o = StopRepeats(run, d, o)
	}
	o.At = at.Add(time.Second)
	if !d.Final() && d.Agent != "" {
		o.Session = run.Attempts[len(run.Attempts)-1].Session
	}
	next := Apply(On(plan, run), d, o)
	legal(t, run, next)
	return next
}

// Outcomes that scripts of tests name.
func wrotten(digest string) Outcome {
	return Outcome{Status: metadata.Succeeded, Written: &Written{Digest: digest, Files: []string{".reprise/issue-7/x.md"}}}
}

func judged(pass bool, findings ...metadata.Finding) Outcome {
	v := metadata.Verdict{Verdict: metadata.Pass, Gates: []metadata.Gate{{Gate: "It is right.", Pass: pass}}, Findings: findings}
	if !pass {
		v.Verdict = metadata.Fail
	}
	return Outcome{Status: metadata.Succeeded, Verdict: &v, Work: fmt.Sprint(len(findings), findings)}
}

// breaking gives an outcome whose changes broke rules, and were taken back.
func breaking(o Outcome, rules ...metadata.Rule) Outcome {
	o.Broke = rules
	for _, r := range rules {
		o.Violations = append(o.Violations, metadata.Violation{Path: string(r) + ".txt", Rule: metadata.Said("broke " + string(r))})
	}
	return o
}

func errored(c metadata.Class) Outcome {
	return Outcome{Status: metadata.Errored, Class: c, Code: CodeOf(c), Why: metadata.Said(string(c))}
}

// without is the outcome of a step that is not done, and why.
func without(status metadata.AttemptStatus, code metadata.Code, why metadata.Reason) Outcome {
	return Outcome{Status: status, Code: code, Why: why}
}

func checked(pass bool) Outcome {
	return Outcome{Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", Run: "true", Pass: pass, ExitCode: map[bool]int{false: 1}[pass]}}}
}

func show(d Decision) string {
	if d.Final() {
		return fmt.Sprintf("%s %s", d.Do, d.Code)
	}
	s := d.Phase + " " + string(d.Do)
	if d.Agent != "" {
		s += " " + d.Agent
	}
	if d.Resume > 0 {
		s += fmt.Sprintf(" resume %d", d.Resume)
	}
	if d.Again {
		s += " again"
	}
	if d.Delay > 0 {
		s += " after " + d.Delay.Round(time.Second).String()
	}
	return s
}
