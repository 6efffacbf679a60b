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

// fromStep makes the case one of a review: it begins with the newest commit of the
// run that does not have it, and expects what it said, unless a person has found what it had
// missed: then it expects that.
func (m *harvester) fromStep(ctx context.Context, c *newCase) error {
	call, err := m.call(m.was.Run)
	if err != nil {
		return err
	}
	commit, err := m.before(ctx, call.N)
	if err != nil {
		return err
	}
	c.about = fmt.Sprintf("%s %s of the run of issue %s", call.Phase, call.Step, m.was.Issue.ID)
	c.name += strings.NewReplacer("_", "-", ".", "-").Replace(fmt.Sprintf("-%s-%s", call.Phase, call.Step))
	if m.Attempt != 0 {
		c.name += fmt.Sprintf("-%d", call.N)
	}
	c.commit = commit
	c.review = fmt.Sprintf("step: {phase: %s, step: \"review\"}\nexpect: %s\n", quote(call.Phase), expectationOf(m.was.Run, call))
	return nil
}

// call is the review that is asked for: an attempt, or the last one of a phase.
func (m *harvester) call(run metadata.Run) (metadata.Attempt, error) {
	for _, a := range slices.Backward(run.Attempts) {
		asked := a.N == m.Attempt || m.Attempt == 0 && a.Phase+"/"+string(a.Step) == m.Step
		if asked && a.Step == metadata.Review && a.Verdict != "" {
			return a, nil
		}
	}
	if m.Attempt != 0 {
		return metadata.Attempt{}, exit.Usagef("attempt %d of the run of issue %s is no review that came to a verdict; reprise history --issue %s has them all", m.Attempt, run.IssueNumber, run.IssueNumber)
	}
	return metadata.Attempt{}, exit.Usagef("the run of issue %s has no call %s that is a review and came to a verdict; say PHASE/review", run.IssueNumber, m.Step)
}

// expectationOf gives what a case of a review expects, as CUE.
func expectationOf(run metadata.Run, call metadata.Attempt) string {
	verdict, found := call.Verdict, map[string]bool{}
	for _, one := range runs.TallyOfRuns([]metadata.Run{run}).Missed {
		if one.Attempt == call.N {
			verdict = metadata.Fail
			if one.File != "" {
				found[fmt.Sprintf(", findings: files: %s: >=1", quote(one.File))] = true
			}
		}
	}
	return fmt.Sprintf("{verdicts: %s: %s%s}", quote(call.Phase), quote(verdict), strings.Join(slices.Sorted(maps.Keys(found)), ""))
}

// quote writes a text as CUE has it.
func quote[T ~string](s T) string {
	data, _ := json.Marshal(s) // a string always has a JSON form
	return string(data)
}

// before gives the newest commit of the run whose record does not have an attempt yet.
func (m *harvester) before(ctx context.Context, attempt int) (string, error) {
	record := phases.RecordFile(m.was.Issue.ID)
	log, err := m.top.git(ctx, append([]string{"log", "--topo-order", "--format=%H"}, append(slices.Clone(m.refs), "--", record)...)...)
	if err != nil {
		return "", err
	}
	for commit := range strings.FieldsSeq(log) {
		data, err := m.top.git(ctx, "show", commit+":"+record)
		if err != nil {
			continue // the folder of the run was taken off there
		}
		run, err := metadata.Parse([]byte(data), commit+":"+record)
		if err != nil {
			return "", err
		}
		if len(run.Attempts) < attempt {
			return commit, nil
		}
	}
	return "", exit.Usagef("the run of issue %s has no commit from before attempt %d in this repository", m.was.Issue.ID, attempt)
}
