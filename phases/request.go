package phases

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Request is what an agent asks for in a report, as far as the pipeline's
// schema for it has the field.
type Request struct {
	Decision  string // empty: it decides nothing
	Reason    string
	Questions []AskedQuestion
	Children  []ChildIssue
	DependsOn []IssueID
	Abort     string
	Rollback  *RollbackRequest
}

// RollbackRequest is a way back as an agent writes it.
type RollbackRequest struct {
	Phase      string        `json:"phase"`
	Step       metadata.Step `json:"step"`
	Reason     string        `json:"reason"`
	Confidence string        `json:"confidence"` // low, medium or high; empty if the agent is not asked
}

// AskedQuestion is a question as an agent writes it: the text alone, or with answers
// to choose from.
type AskedQuestion struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// UnmarshalJSON reads either form.
func (a *AskedQuestion) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Question) == nil {
		return nil
	}
	type plain AskedQuestion
	return json.Unmarshal(data, (*plain)(a))
}

// IssueID is the number of an issue, as a number or as text such as "#3".
type IssueID string

// UnmarshalJSON reads either form.
func (i *IssueID) UnmarshalJSON(data []byte) error {
	*i = IssueID(strings.TrimLeft(strings.Trim(string(data), `"`), "#"))
	return nil
}

// RequestIn reads what a report asks for. A report without such fields, or
// with some of the same names that mean something else, asks for nothing.
func RequestIn(p *pipelines.Phase, report json.RawMessage) Request {
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
		Questions: read[[]AskedQuestion](fields["questions"]), Children: read[[]ChildIssue](fields["children"]),
		DependsOn: read[[]IssueID](fields["depends_on"]), Rollback: read[*RollbackRequest](fields["rollback"]),
	}
	r.Questions = slices.DeleteFunc(r.Questions, func(a AskedQuestion) bool { return strings.TrimSpace(a.Question) == "" })
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

// ChildIssue is an issue of its own as an agent asks for it.
type ChildIssue struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}
