package harvest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// fromStep makes a case of the last call of a step: it begins with the newest commit of
// the run's branch that does not have that call. Of a review it expects what it said.
func (m *harvester) fromStep(ctx context.Context, r history) (harvested, error) {
	phase, step, _ := strings.Cut(m.Step, "/")
	var last *metadata.Attempt
	for i, a := range r.Run.Attempts {
		if a.Phase == phase && string(a.Step) == step && a.Step.ByAgent() && a.Status == metadata.Succeeded {
			last = &r.Run.Attempts[i]
		}
	}
	if last == nil {
		return harvested{}, exit.Usagef("the run of issue %s has no call %s that succeeded; say PHASE/STEP, where STEP is execute, review or revise", r.Issue.ID, m.Step)
	}
	commit, err := m.before(ctx, r, last.N)
	if err != nil {
		return harvested{}, err
	}
	text := func(v any) string { data, _ := json.Marshal(v); return string(data) } // a string always has a JSON form
	out := harvested{
		name: slug("issue-" + r.Issue.ID + "-" + phase + "-" + step), about: fmt.Sprintf("%s %s of the run of issue %s", phase, step, r.Issue.ID), commit: commit,
		step: fmt.Sprintf("{phase: %s, step: %s}", text(phase), text(step)), expect: "_",
	}
	if last.Verdict != "" {
		out.expect = fmt.Sprintf("verdicts: %s: %s", text(phase), text(last.Verdict))
	}
	return out, nil
}

// before gives the newest commit of a run whose record does not have an attempt yet.
func (m *harvester) before(ctx context.Context, r history, attempt int) (string, error) {
	record := workspace.RecordFile(r.Issue.ID)
	for _, ref := range r.refs {
		log, err := m.top.Git(ctx, "log", "--first-parent", "--format=%H", ref, "--", record)
		if err != nil {
			return "", err
		}
		for commit := range strings.Lines(log) {
			commit = strings.TrimSpace(commit)
			data, err := m.top.Git(ctx, "show", commit+":"+record)
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
	}
	return "", exit.Usagef("the run of issue %s has no commit from before attempt %d in this repository", r.Issue.ID, attempt)
}
