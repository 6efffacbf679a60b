package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Check holds the record against every invariant of the format.
func (r Run) Check() error { return JoinMistakes(check(&r)) }

// check is Check without copying the record.
func check(r *Run) []*Mistake {
	c := &checker{phases: map[string]bool{}, seen: map[string]bool{}, attempts: len(r.Attempts)}
	at := c.root()
	for _, p := range r.Phases {
		c.phases[p.Name] = true
	}
	if r.Schema != Schema {
		at.bad("schema", "%d is not the version that is written, %d", r.Schema, Schema)
	}
	at.fields("", reflect.ValueOf(r).Elem())
	for _, name := range slices.Sorted(maps.Keys(r.ExternalDocuments)) {
		form := "Reference"
		if strings.Contains(r.ExternalDocuments[name], "://") {
			form = "Link"
		}
		at.must("external_documents."+name, fit(form, r.ExternalDocuments[name]))
	}
	tasks := c.tasks(r)
	for i := range r.Phases {
		c.phase(&r.Phases[i], tasks)
	}
	c.history(r)
	c.people(r)
	return c.mistakes
}

// tasks checks the tasks, and gives their ids.
func (c *checker) tasks(r *Run) map[string]bool {
	ids := map[string]bool{}
	for _, t := range r.Tasks {
		ids[t.ID] = true
	}
	for i, t := range r.Tasks {
		for _, need := range t.Needs {
			if !ids[need] || need == t.ID {
				c.element("tasks", i).bad("needs", "there is no other task %q", need)
			}
		}
	}
	return ids
}

// history checks what the run has done.
func (c *checker) history(r *Run) {
	for i, a := range r.Attempts {
		at := c.element("attempts", i)
		if a.N != i+1 {
			at.bad("n", "%d is out of order; attempts count from 1, so this is %d", a.N, i+1)
		}
		if a.Verdict != "" && a.Step != Review && a.Step != Check {
			at.bad("verdict", "is set, but %s judges nothing", a.Step)
		}
	}
	comments := map[int64]int{} // which decision took the command of which comment
	for i, d := range r.Decisions {
		if d.Comment == 0 {
			continue
		}
		if before, twice := comments[d.Comment]; twice {
			c.element("decisions", i).bad("comment_id", "the command of comment %d was taken before, in decisions[%d]", d.Comment, before)
		}
		comments[d.Comment] = i
	}
}

// people checks what people have said and asked for.
func (c *checker) people(r *Run) {
	for i, q := range r.Questions {
		if q.Open() != (q.Answer == "") {
			c.element("questions", i).bad("answer", "does not go with answered_at")
		}
	}
	for i, child := range r.Children {
		if child.URL != "" && !child.Opened() {
			c.element("children", i).bad("url", "is set, but no issue was opened")
		}
	}
}

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
	if p.Report != nil {
		at.must("report", checkReport(p.Report))
	}
	if d := p.Diff; d != nil && d.Lines != d.Added+d.Deleted {
		at.bad("diff.lines", "%d is not added and deleted together, %d", d.Lines, d.Added+d.Deleted)
	}
	if p.Status != PhaseCompleted {
		return
	}
	if p.Verdict != nil && p.Verdict.Verdict == Fail {
		at.bad("verdict", "is fail, but the phase is completed")
	}
	for _, f := range p.Verdict.OpenBlockers() {
		at.bad("verdict", "the blocker %q is open, but the phase is completed", f.ID)
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
