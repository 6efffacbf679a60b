package phases

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines"
)

// request is what an agent asks for in a report, as far as the pipeline's
// schema for it has the field.
type request struct {
	Decision  string // empty: it decides nothing
	Reason    string
	Questions []questionReport
	Children  []childReport
	DependsOn []issueID
	Abort     string
	Rollback  *rollbackReport
}

// rollbackReport is a way back as an agent writes it.
type rollbackReport struct {
	Phase      string        `json:"phase"`
	Step       metadata.Step `json:"step"`
	Reason     string        `json:"reason"`
	Confidence string        `json:"confidence"` // low, medium or high; empty if the agent is not asked
}

// questionReport is a question as an agent writes it: the text alone, or with answers
// to choose from.
type questionReport struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// UnmarshalJSON reads either form.
func (a *questionReport) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Question) == nil {
		return nil
	}
	type plain questionReport
	return json.Unmarshal(data, (*plain)(a))
}

// issueID is the number of an issue, as a number or as text such as "#3".
type issueID string

// UnmarshalJSON reads either form.
func (i *issueID) UnmarshalJSON(data []byte) error {
	*i = issueID(strings.TrimLeft(strings.Trim(string(data), `"`), "#"))
	return nil
}

// requestIn reads what a report asks for. A report without such fields, or
// with some of the same names that mean something else, asks for nothing.
func requestIn(p *pipelines.Phase, report json.RawMessage) request {
	var fields map[string]json.RawMessage
	if json.Unmarshal(report, &fields) != nil {
		return request{}
	}
	for name := range fields {
		if !p.Reports(name) {
			delete(fields, name)
		}
	}
	r := request{
		Decision: decided(fields["decision"]), Reason: read[string](fields["reason"]), Abort: read[string](fields["abort"]),
		Questions: read[[]questionReport](fields["questions"]), Children: read[[]childReport](fields["children"]),
		DependsOn: read[[]issueID](fields["depends_on"]), Rollback: read[*rollbackReport](fields["rollback"]),
	}
	r.Questions = slices.DeleteFunc(r.Questions, func(a questionReport) bool { return strings.TrimSpace(a.Question) == "" })
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

// passes reports whether a request lets the run go on as far as its decision
// is concerned.
func (r request) passes() bool {
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

func truncateOptions(options []string) []string {
	var out []string
	for _, o := range options[:min(len(options), 10)] {
		if o = texts.Cut(o, 200); o != "" {
			out = append(out, o)
		}
	}
	return out
}

// childReport is an issue of its own as an agent asks for it.
type childReport struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}
