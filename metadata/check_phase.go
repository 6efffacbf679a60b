package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// maxDepth is how deep an agent's report may be nested.
const maxDepth = 100

func (c *checker) phase(p *Phase) {
	at := place{c, "phases." + p.Name, -1}
	at.must("", CheckID(p.Name))
	if p.Task != "" {
		if whole, of := strings.CutSuffix(p.Name, "."+p.Task); !of || !c.phases[whole] {
			at.bad("task", "there is no phase of which %q is the part %q", p.Name, p.Task)
		}
		if !c.tasks[p.Task] {
			at.bad("task", "there is no task %q", p.Task)
		}
	}
	oneOf(at, "status", p.Status, PhaseStatuses()...)
	count(at, "retry_count", p.RetryCount)
	at.timeOrNil("started_at", p.StartedAt)
	at.timeOrNil("completed_at", p.CompletedAt)
	optional(at, "review_result", Ruling(p.ReviewResult), Rulings()...)
	for i, file := range p.OutputFiles {
		c.element(at.prefix+".output_files", i).must("", CheckPath(file))
	}
	optional(at, "current_step", p.CurrentStep, Steps()...)
	for i, step := range p.CompletedSteps {
		oneOf(c.element(at.prefix+".completed_steps", i), "", step, Steps()...)
	}
	at.commit("base", p.Base)
	at.commit("upstream", p.Upstream)
	count(at, "generation", p.Generation)
	count(at, "round", p.Round)
	count(at, "touched", p.Touched)
	if count(at, "written", p.Written); p.Written > c.attempts {
		at.bad("written", "there is no attempt %d", p.Written)
	}
	for i, o := range p.Opened {
		c.element(at.prefix+".opened", i).must("path", CheckPath(o.Path))
	}
	optional(at, "approve", p.Approve, Roles()...)
	at.known("dropped_after", p.Dropped)
	if p.Dropped != "" && p.Status != PhaseSkipped {
		at.bad("dropped_after", "is set, but the phase is %s", p.Status)
	}
	if p.Report != nil {
		at.must("report", checkReport(p.Report))
	}
	c.allowed(at, p.AllowanceFrom)
	c.lane(at, p)
	c.standing(at, p)
	c.phaseParts(at, p)
}

// allowed checks from which attempt a run or a phase has its newest allowance.
func (c *checker) allowed(at place, from int) {
	if count(at, "allowance_from", from); from > c.attempts {
		at.bad("allowance_from", "%d is more than the %d attempts there are", from, c.attempts)
	}
}

// lane checks where the work of a phase or part is that is done beside others.
func (c *checker) lane(at place, p *Phase) {
	switch {
	case p.Lane == nil:
		return
	case p.Status != PhaseInProgress && p.Status != PhaseFailed:
		at.bad("lane", "is set, but the phase is %s", p.Status)
	}
	at.filled("lane.base", p.Lane.Base)
	at.commit("lane.base", p.Lane.Base)
	at.commit("lane.head", p.Lane.Head)
	if count(at, "lane.ahead", p.Lane.Ahead); p.Lane.Ahead > c.attempts {
		at.bad("lane.ahead", "there is no attempt %d", p.Lane.Ahead)
	}
	x := p.Lane.Conflict
	if x == nil {
		return
	}
	for _, part := range x.Parts {
		at.known("lane.conflict.parts", part)
	}
	for _, file := range x.Paths {
		at.path("lane.conflict.paths", file)
	}
	if count(at, "lane.conflict.writer", x.Writer); x.Writer > c.attempts {
		at.bad("lane.conflict.writer", "there is no attempt %d", x.Writer)
	}
}

// standing checks that what a phase holds fits its status.
func (c *checker) standing(at place, p *Phase) {
	if p.CurrentStep != "" && p.Status != PhaseInProgress {
		at.bad("current_step", "is %q, but the phase is %s", p.CurrentStep, p.Status)
	}
	if p.CompletedAt != nil && (p.Status == PhasePending || p.Status == PhaseInProgress) {
		at.bad("completed_at", "is set, but the phase is %s", p.Status)
	}
	if p.Status != PhaseCompleted {
		return
	}
	if p.CompletedAt == nil {
		at.bad("completed_at", "is missing, but the phase is completed")
	}
	if v := p.Verdict; v != nil && v.Verdict == Fail {
		at.bad("verdict", "is fail, but the phase is completed")
	} else if v != nil {
		for _, f := range v.Findings {
			if f.Severity == Blocker && f.Status != Fixed {
				at.bad("verdict", "the blocker %q is open, but the phase is completed", f.ID)
			}
		}
	}
	if p.Checks != nil && p.Checks.Written == p.Written {
		for _, r := range p.Checks.Results {
			if !r.Holds() {
				at.bad("checks", "%q failed, but the phase is completed", r.Name)
			}
		}
	}
}

// results checks how commands ended.
func (c *checker) results(list string, results []CheckResult) {
	for i, r := range results {
		result := c.element(list, i)
		result.filled("name", r.Name)
		count(result, "duration_ms", r.DurationMS)
		count(result, "ran", r.Ran)
		count(result, "failed", r.Failed)
	}
}

// phaseParts checks the records within the record of a phase.
func (c *checker) phaseParts(at place, p *Phase) {
	if rc := p.RollbackContext; rc != nil {
		at.time("rollback_context.triggered_at", rc.TriggeredAt)
		at.known("rollback_context.from_phase", rc.FromPhase)
		optional(at, "rollback_context.from_step", rc.FromStep, Steps()...)
		at.filled("rollback_context.reason", rc.Reason)
		at.path("rollback_context.review_result", rc.ReviewResult)
		at.link("rollback_context.comment_url", rc.CommentURL)
		if d := rc.Details; d != nil {
			count(at, "rollback_context.details.blocker_count", d.BlockerCount)
			count(at, "rollback_context.details.suggestion_count", d.SuggestionCount)
		}
	}
	if p.Checks != nil {
		count(at, "checks.written", p.Checks.Written)
		c.results(at.prefix+".checks.results", p.Checks.Results)
	}
	if p.Verdict != nil {
		oneOf(at, "verdict.verdict", p.Verdict.Verdict, Rulings()...)
		c.findings(at.prefix+".verdict.findings", p.Verdict.Findings)
	}
	if d := p.Diff; d != nil {
		count(at, "diff.files", d.Files)
		count(at, "diff.added", d.Added)
		count(at, "diff.deleted", d.Deleted)
		if d.Lines != d.Added+d.Deleted {
			at.bad("diff.lines", "%d is not added and deleted together, %d", d.Lines, d.Added+d.Deleted)
		}
	}
	for i, v := range p.Violations {
		// What an agent wrote can have any name; it only must not tell where
		// on the machine the work lay.
		if violation := c.element(at.prefix+".violations", i); v.Path == "" || Absolute(v.Path) {
			violation.bad("path", "%q is not a path from the top of the repository", v.Path)
		}
	}
}

func (c *checker) findings(list string, findings []Finding) {
	ids := map[string]bool{}
	for i, f := range findings {
		at := c.element(list, i)
		at.filled("id", f.ID)
		if ids[f.ID] {
			at.bad("id", "%q is the id of an earlier finding, too", f.ID)
		}
		ids[f.ID] = true
		oneOf(at, "severity", f.Severity, severities()...)
		oneOf(at, "status", f.Status, findingStatuses()...)
		at.path("file", f.File)
		count(at, "line", f.Line)
	}
}

// checkReport says what is wrong with the JSON of an agent's report.
func checkReport(report []byte) error {
	dec := jsontext.NewDecoder(bytes.NewBuffer(report), jsontext.AllowInvalidUTF8(true))
	for values := 0; ; {
		switch _, err := dec.ReadToken(); {
		case errors.Is(err, io.EOF) && values == 1:
			return nil
		case err != nil:
			return fmt.Errorf("is not JSON: %w", err)
		case dec.StackDepth() > maxDepth:
			return fmt.Errorf("is nested deeper than %d", maxDepth)
		case dec.StackDepth() == 0:
			if values++; values > 1 {
				return errors.New("is more than one value")
			}
		}
	}
}
