// Package request is what an agent asks for in a report: answers to questions, to go back,
// to wait, to give up, new issues, a change of the notes on the repository. It knows the
// form of these, and not what becomes of them.
package request

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/notes"
	"github.com/reprise-ci/reprise/pipelines"
)

// Request is what an agent asks for in a report, as far as the pipeline's
// schema for it has the field.
type Request struct {
	Decision  string // empty: it decides nothing
	Reason    string
	Questions []Question
	Children  []Child
	Notes     *notes.Change
	DependsOn []IssueID
	Abort     string
	Rollback  *Rollback
}

// Rollback is a way back as an agent writes it.
type Rollback struct {
	Phase      string        `json:"phase"`
	Step       metadata.Step `json:"step"`
	Reason     string        `json:"reason"`
	Confidence string        `json:"confidence"` // low, medium or high; empty if the agent is not asked
}

// Question is a question as an agent writes it: the text alone, or with answers
// to choose from.
type Question struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// UnmarshalJSON reads either form.
func (a *Question) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Question) == nil {
		return nil
	}
	type plain Question
	return json.Unmarshal(data, (*plain)(a))
}

// IssueID is the number of an issue, as a number or as text such as "#3".
type IssueID string

// UnmarshalJSON reads either form.
func (i *IssueID) UnmarshalJSON(data []byte) error {
	*i = IssueID(strings.TrimLeft(strings.Trim(string(data), `"`), "#"))
	return nil
}

// In reads what a report asks for. A report without such fields, or
// with some of the same names that mean something else, asks for nothing.
func In(p *pipelines.Phase, report json.RawMessage) Request {
	var fields map[string]json.RawMessage
	if json.Unmarshal(report, &fields) != nil {
		return Request{}
	}
	for name := range fields {
		if !p.Reports(name) {
			delete(fields, name)
		}
	}
	r := Request{
		Decision: decided(fields["decision"]), Reason: read[string](fields["reason"]), Abort: read[string](fields["abort"]),
		Questions: read[[]Question](fields["questions"]), Children: read[[]Child](fields["children"]),
		DependsOn: read[[]IssueID](fields["depends_on"]), Rollback: read[*Rollback](fields["rollback"]),
		Notes: read[*notes.Change](fields["notes"]),
	}
	r.Questions = slices.DeleteFunc(r.Questions, func(a Question) bool { return strings.TrimSpace(a.Question) == "" })
	return r
}

// decided gives what a report decides. A decision of another form than text,
// such as false, counts as one that does not let the run go on.
func decided(field json.RawMessage) string {
	if word := read[string](field); word != "" {
		return word
	}
	return string(field)
}

// Passes reports whether a request lets the run go on as far as its decision
// is concerned.
func (r Request) Passes() bool {
	return r.Decision == "" || slices.Contains(pipelines.GoOn(), r.Decision)
}

// read gives a field if it has the form of T, else the zero value: a field of
// another form means something else.
func read[T any](field json.RawMessage) T {
	var v, none T
	if field == nil || json.Unmarshal(field, &v) != nil {
		return none
	}
	return v
}

// Child is an issue of its own as an agent asks for it.
type Child struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}
