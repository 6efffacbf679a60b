package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// fromStep makes a case of one call of a step: it begins with the newest commit of the
// run that does not have that call. Of a review it expects what it said, unless a person
// has found what it had missed: then it expects that.
func (m *harvester) fromStep(ctx context.Context, r history) (harvested, error) {
	call, err := m.call(r.Run)
	if err != nil {
		return harvested{}, err
	}
	commit, then, err := m.before(ctx, r, call.N)
	if err != nil {
		return harvested{}, err
	}
	if call.Step != metadata.Review {
		m.checksOf(r, then, call.Phase)
	}
	name := fmt.Sprintf("issue-%s-%s-%s", r.Issue.ID, call.Phase, call.Step)
	if m.Attempt != 0 {
		name += fmt.Sprintf("-%d", call.N)
	}
	return harvested{
		name: slug(name), about: fmt.Sprintf("%s %s of the run of issue %s", call.Phase, call.Step, r.Issue.ID), commit: commit,
		step: fmt.Sprintf("{phase: %s, step: %s}", quote(call.Phase), quote(call.Step)), expect: expectationOf(r.Run, call),
	}, nil
}

// checksOf has a case of a call that writes judged by the checks of its phase: those that had
// failed before it have to pass after it, and the others pass before and after.
func (m *harvester) checksOf(r history, then metadata.Run, phase string) {
	for _, s := range r.Plan.Setup {
		m.setup = append(m.setup, ShellCommand{s.Name, s.Run, s.Timeout})
	}
	p := r.Plan.Phase(phase)
	if p == nil {
		return
	}
	failed, known := map[string]bool{}, r.Run.Baseline
	if rec := then.Phase(phase); rec != nil && rec.Checks != nil {
		known = rec.Checks.Results
	}
	for _, one := range known {
		failed[one.Name] = !one.Pass
	}
	for _, c := range p.Checks {
		if one := (ShellCommand{c.Name, c.Run, c.Timeout}); failed[c.Name] {
			m.check = append(m.check, one)
		} else {
			m.still = append(m.still, one)
		}
	}
}

// call is the call that is asked for: an attempt, or the last one of a step.
func (m *harvester) call(run metadata.Run) (metadata.Attempt, error) {
	for i := len(run.Attempts) - 1; i >= 0; i-- {
		a := run.Attempts[i]
		if (a.N == m.Attempt || m.Attempt == 0 && a.Phase+"/"+string(a.Step) == m.Step) && a.Step.ByAgent() && a.Status == metadata.Succeeded {
			return a, nil
		}
	}
	if m.Attempt != 0 {
		return metadata.Attempt{}, exit.Usagef("attempt %d of the run of issue %s is no call of an agent that succeeded; reprise history --issue %s has them all", m.Attempt, run.IssueNumber, run.IssueNumber)
	}
	return metadata.Attempt{}, exit.Usagef("the run of issue %s has no call %s that succeeded; say PHASE/STEP, where STEP is execute, review or revise", run.IssueNumber, m.Step)
}

// expectationOf gives what a case of a call expects, as CUE; "" where nobody but people can
// say it.
func expectationOf(run metadata.Run, call metadata.Attempt) string {
	verdict, files, missed := call.Verdict, map[string]bool{}, false
	for _, one := range runs.TallyOfRuns([]metadata.Run{run}).Missed {
		if one.Attempt == call.N {
			missed = true
			files[one.File] = true
		}
	}
	delete(files, "")
	var found strings.Builder
	switch {
	case missed:
		verdict = metadata.Fail
		for _, file := range slices.Sorted(maps.Keys(files)) {
			fmt.Fprintf(&found, ", findings: files: %s: >=1", quote(file))
		}
	case verdict == "":
		return ""
	}
	return fmt.Sprintf("{verdicts: %s: %s%s}", quote(call.Phase), quote(verdict), &found)
}

// quote writes a text as CUE has it.
func quote[T ~string](s T) string {
	data, _ := json.Marshal(s) // a string always has a JSON form
	return string(data)
}

// before gives the newest commit of a run whose record does not have an attempt yet, and that
// record.
func (m *harvester) before(ctx context.Context, r history, attempt int) (string, metadata.Run, error) {
	record := phases.RecordFile(r.Issue.ID)
	for _, ref := range r.refs {
		log, err := m.top.git(ctx, "log", "--first-parent", "--format=%H", ref, "--", record)
		if err != nil {
			return "", metadata.Run{}, err
		}
		for commit := range strings.Lines(log) {
			commit = strings.TrimSpace(commit)
			data, err := m.top.git(ctx, "show", commit+":"+record)
			if err != nil {
				continue // the folder of the run was taken off there
			}
			run, err := metadata.Parse([]byte(data), commit+":"+record)
			if err != nil {
				return "", metadata.Run{}, err
			}
			if len(run.Attempts) < attempt {
				return commit, run, nil
			}
		}
	}
	return "", metadata.Run{}, exit.Usagef("the run of issue %s has no commit from before attempt %d in this repository", r.Issue.ID, attempt)
}
