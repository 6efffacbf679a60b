package phases

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// request is what an agent asks for in a report, as far as the pipeline's schema for it has the field.
type request struct {
	Decision  string // empty: it decides nothing
	Reason    string
	Questions []askedQuestion
	Children  []childIssue
	DependsOn []issueID
	Abort     string
	Rollback  *rollbackRequest
}

// rollbackRequest is a way back as an agent writes it.
type rollbackRequest struct {
	Phase      string        `json:"phase"`
	Step       metadata.Step `json:"step"`
	Reason     string        `json:"reason"`
	Confidence string        `json:"confidence"` // low, medium or high; empty if the agent is not asked
}

// askedQuestion is a question as an agent writes it: the text alone, or with answers to choose from.
type askedQuestion struct {
	Question string   `json:"question"`
	Options  []string `json:"options"`
}

// UnmarshalJSON reads either form.
func (a *askedQuestion) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, &a.Question) == nil {
		return nil
	}
	type plain askedQuestion
	return json.Unmarshal(data, (*plain)(a))
}

// issueID is the number of an issue, as a number or as text such as "#3".
type issueID string

// UnmarshalJSON reads either form.
func (i *issueID) UnmarshalJSON(data []byte) error {
	*i = issueID(strings.TrimLeft(strings.Trim(string(data), `"`), "#"))
	return nil
}

// requestIn reads what a report asks for.
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
		Questions: read[[]askedQuestion](fields["questions"]), Children: read[[]childIssue](fields["children"]),
		DependsOn: read[[]issueID](fields["depends_on"]), Rollback: read[*rollbackRequest](fields["rollback"]),
	}
	r.Questions = slices.DeleteFunc(r.Questions, func(a askedQuestion) bool { return strings.TrimSpace(a.Question) == "" })
	return r
}

// decided gives what a report decides.
func decided(field json.RawMessage) string {
	if word := read[string](field); word != "" {
		return word
	}
	return string(field)
}

// passes reports whether a request lets the run go on as far as its decision is concerned.
func (r request) passes() bool {
	return r.Decision == "" || slices.Contains(pipelines.GoOn(), r.Decision)
}

// read gives a field if it has the form of T, else the zero value: a field of another form means something else.
func read[T any](field json.RawMessage) T {
	var v, none T
	if field == nil || json.Unmarshal(field, &v) != nil {
		return none
	}
	return v
}

// childIssue is an issue of its own as an agent asks for it.
type childIssue struct {
	Title string `json:"title"`
	Body  string `json:"body"`
}

// The most that one call may ask, and how often a step may ask before it has to go on with what it knows.
const (
	mostQuestions = 10
	mostAskings   = 3
)

// AskedQuestions are those that a call asks, as far as it may.
func AskedQuestions(c Course, d Decision, report json.RawMessage) []askedQuestion {
	p, rec := c.Plan.Phase(d.Phase), c.Run.Phase(d.Phase)
	requested := 0
	for _, a := range Tries(c, rec, d.Step()) {
		if a.Code == metadata.AwaitingPerson {
			requested++
		}
	}
	all := requestIn(p, report).Questions
	if d.Do == DoReview || requested >= mostAskings {
		return nil
	}
	return all[:min(len(all), mostQuestions)]
}

// addQuestions adds questions to a record.
func addQuestions(run *metadata.Run, rec *metadata.Phase, all []askedQuestion, o Outcome) {
	for _, a := range all {
		run.Questions = append(run.Questions, metadata.Question{
			ID: fmt.Sprintf("q%d", len(run.Questions)+1), Phase: rec.Name, Generation: rec.Generation, Attempt: len(run.Attempts),
			Text: CutText(a.Question, 2000), Options: truncateOptions(a.Options), AskedAt: o.At,
		})
	}
}

func truncateOptions(options []string) (out []string) {
	for _, o := range options[:min(len(options), 10)] {
		if o = CutText(o, 200); o != "" {
			out = append(out, o)
		}
	}
	return out
}

// MostChildren is how many issues a run opens at most. If it asks for more, people are told about the others.
const MostChildren = 5

// The most that is kept of what one report asks for.
const (
	mostChildren  = 20
	mostChildBody = 4000 // Unicode code points
)

// children records the issues that a report asks for. They replace those that the phase asked for before.
func children(run *metadata.Run, p *pipelines.Phase, report json.RawMessage) {
	forgetChildren(run, func(phase string) bool { return phase == p.Name })
	found := requestIn(p, report).Children
	for _, c := range found[:min(len(found), mostChildren)] {
		title := CutText(strings.Join(strings.Fields(ValidText(c.Title)), " "), 200)
		id := DigestOf([]byte(strings.ToLower(title)))[:12] // the same in every try and after every rollback
		same := func(other metadata.Child) bool { return other.ID == id }
		if title == "" || slices.ContainsFunc(run.Children, same) {
			continue
		}
		run.Children = append(run.Children, metadata.Child{ID: id, Phase: p.Name, Title: title, Body: CutText(ValidText(c.Body), mostChildBody)})
	}
}

// forgetChildren drops the issues that phases with void work have asked for, except those that were opened.
func forgetChildren(run *metadata.Run, void func(phase string) bool) {
	run.Children = slices.DeleteFunc(run.Children, func(c metadata.Child) bool { return !c.Opened() && void(c.Phase) })
}

// ToOpen gives the issues that are to be opened now: those that phases with
// valid work ask for, up to the limit of a run.
func ToOpen(of Course) []metadata.Child {
	var out []metadata.Child
	room := MostChildren
	for _, c := range of.Run.Children {
		if c.Opened() {
			room--
		} else if stands(of, c.Phase) {
			out = append(out, c)
		}
	}
	return out[:min(len(out), max(room, 0))]
}

// stands reports whether a phase is completed, and approved where somebody has to.
func stands(c Course, phase string) bool {
	p, rec := c.Plan.Phase(phase), c.Run.Phase(phase)
	if p == nil || rec == nil || rec.Status != metadata.PhaseCompleted {
		return false
	}
	role, _ := approver(p, c.Run, rec)
	return role == ""
}

// Opened gives the record after the issue of a child was opened.
func Opened(run metadata.Run, id string, number int, url string, at time.Time) metadata.Run {
	run = run.Clone()
	for i := range run.Children {
		if c := &run.Children[i]; c.ID == id {
			c.Number, c.URL = number, url
		}
	}
	return touch(run, at)
}

// AwaitedIssue is an issue that a run waits for, as it was found.
type AwaitedIssue struct {
	Number int
	Title  string // empty: it is not known
	Closed bool
}

// String names it as people do.
func (i AwaitedIssue) String() string {
	name := "#" + strconv.Itoa(i.Number)
	if i.Title != "" {
		name += " (" + i.Title + ")"
	}
	return name
}

var number = text.Pattern(`^"?#?([1-9][0-9]{0,8})"?$`)

// most is how many issues a run can wait for.
const most = 20

// AwaitedBy says which phase of a run waits for other issues, and for which: what its agent
// has asked for and no person has decided about. None if no phase does.
func AwaitedBy(run metadata.Run) (phase string, issues []int) {
	if run.Status != metadata.Waiting || run.Stop == nil || run.Stop.Code != metadata.AwaitingPerson {
		return "", nil
	}
	rec := run.Phase(run.Stop.Phase)
	if rec == nil || rec.Status != metadata.PhaseCompleted || !slices.ContainsFunc(rec.Ask.Each(), waits) {
		return "", nil
	}
	var report struct {
		Issues []json.RawMessage `json:"depends_on"`
	}
	if json.Unmarshal(rec.Report, &report) != nil {
		return "", nil // unreachable: it asked
	}
	if len(report.Issues) > most {
		return "", nil // nobody looks at so many, and a part of them is not what was asked for
	}
	for _, raw := range report.Issues {
		m := number().FindStringSubmatch(string(raw))
		if m == nil {
			return "", nil // nobody can look whether that is done
		}
		n, _ := strconv.Atoi(m[1]) // nine digits
		if !slices.Contains(issues, n) {
			issues = append(issues, n)
		}
	}
	return rec.Name, issues
}

// waits reports whether it is for other issues that an approval is asked for.
func waits(ask metadata.Reason) bool { return ask.Code() == "waits_for_issues" }

// LookedAtIssues gives the record of a run after the issues were looked at that its phase waits for. Once all are
// closed, the run goes on, unless the phase waits for something else, too.
func LookedAtIssues(run metadata.Run, phase string, found []AwaitedIssue, at time.Time) (next metadata.Run, changed bool) {
	open := slices.DeleteFunc(slices.Clone(found), func(i AwaitedIssue) bool { return i.Closed })
	next = run.Clone()
	rec := next.Phase(phase)
	before := rec.Ask
	var asks []metadata.Reason
	for _, ask := range before.Each() {
		if !waits(ask) {
			asks = append(asks, ask)
		}
	}
	others := len(asks)
	if len(open) > 0 {
		asks = append(asks, metadata.Because("waits_for_issues", "issues", named(open)))
	}
	if rec.Ask = metadata.All(asks...); rec.Ask == before {
		return run, false
	}
	next.Stop.Why = metadata.Because("approval_needed", "phase", phase, "role", rec.Approve, "why", rec.Ask)
	if len(open) == 0 {
		note(&next, at, "issues", phase, metadata.Because("issues_closed", "issues", named(found)))
		if others == 0 {
			rec.Approve, next.Status, next.Stop = "", metadata.Running, nil
		}
	}
	return Touch(next, at), true
}

func named(issues []AwaitedIssue) (out []string) {
	for _, i := range issues {
		i.Title = text.Short(strings.Join(strings.Fields(i.Title), " "), 80)
		out = append(out, i.String())
	}
	return out
}
