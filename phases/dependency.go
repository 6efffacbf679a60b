package phases

import (
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

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

var number = regexp.MustCompile(`^"?#?([1-9][0-9]{0,8})"?$`)

// most is how many issues a run can wait for.
const most = 20

// Of says which phase of a run waits for other issues, and for which: what its agent
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
		m := number.FindStringSubmatch(string(raw))
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

// LookedAtIssues gives the record of a run after the issues were looked at that its phase waits
// for. Once all are closed, the run goes on, unless the phase waits for something else,
// too. Else it waits with the names of those that are open. Changed is false if people are
// told all of that already.
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
	stop := *next.Stop
	stop.Why = metadata.Because("approval_needed", "phase", phase, "role", rec.Approve, "why", rec.Ask)
	next.Stop = &stop
	if len(open) == 0 {
		next.Decisions = append(next.Decisions, metadata.Decision{At: at, Step: "issues", Phase: phase, Why: metadata.Because("issues_closed", "issues", named(found))})
		if others == 0 {
			rec.Approve, next.Status, next.Stop = "", metadata.Running, nil
		}
	}
	return Touch(next, at), true
}

func named(issues []AwaitedIssue) (out []string) {
	for _, i := range issues {
		i.Title = strings.Join(strings.Fields(i.Title), " ")
		if r := []rune(i.Title); len(r) > 80 {
			i.Title = string(r[:80]) + "…"
		}
		out = append(out, i.String())
	}
	return out
}
