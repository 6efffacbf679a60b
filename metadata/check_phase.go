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

// phase checks that the parts of the record of a phase fit each other.
func (c *checker) phase(p *Phase, tasks map[string]bool) {
	at := c.phasePlace(p)
	if p.Task != "" {
		if whole, of := strings.CutSuffix(p.Name, "."+p.Task); !of || !c.phases[whole] {
			at.bad("task", "there is no phase of which %q is the part %q", p.Name, p.Task)
		}
		if !tasks[p.Task] {
			at.bad("task", "there is no task %q", p.Task)
		}
	}
	if p.Dropped != "" && p.Status != PhaseSkipped {
		at.bad("dropped_after", "is set, but the phase is %s", p.Status)
	}
	if p.Report != nil {
		at.must("report", checkReport(p.Report))
	}
	if p.Lane != nil && p.Status != PhaseInProgress && p.Status != PhaseFailed {
		at.bad("lane", "is set, but the phase is %s", p.Status)
	}
	if d := p.Diff; d != nil && d.Lines != d.Added+d.Deleted {
		at.bad("diff.lines", "%d is not added and deleted together, %d", d.Lines, d.Added+d.Deleted)
	}
	if p.Verdict != nil {
		ids := map[string]bool{}
		for i, f := range p.Verdict.Findings {
			place{c, at.prefix + ".verdict.findings", i}.newID(ids, f.ID, "finding, too")
		}
	}
	c.standing(at, p)
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
