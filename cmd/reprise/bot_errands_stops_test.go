//go:build slow || e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
)

// stops are the errands that end with a run which has stopped for a person.
func stops() []errand {
	return []errand{
		{"stop by a question", askedQuestion},
		{"stop for an approval", askedToApprove},
		{"stop by a failure", askedFailure},
		{"stop at the budget", askedTooMuch},
		{"stop by a conflict", askedConflict},
		{"stop by CI", askedBadCI},
	}
}

// stopped says what a run that has stopped so has not left on its issue.
func (a *asked) stopped(status metadata.Status, code metadata.Code) string {
	run := a.now()
	if run.Status != status || run.Stop == nil || run.Stop.Code != code {
		return fmt.Sprintf("that the run stops with %s: it is %s, %+v", code, run.Status, run.Stop)
	}
	return first(a.told(run), "word of the stop")
}

// flagged says whether the issue lacks the label of a run that waits.
func (a *asked) flagged() string {
	return first(slices.Contains(a.forge.Labels(hubRepo, hubIssue), "reprise: waiting"), "the label of a run that waits")
}

// An agent has a question.
func askedQuestion(t *testing.T) *asked {
	a := newAsked(t, unapproved)
	a.write("home/plan-execute", `echo '{"structured": {"questions": ["REST?"]}}'; exit 0`+"\n")
	a.left = func() string { return a.stopped(metadata.Waiting, metadata.AwaitingPerson) }
	a.minor, a.twice = a.flagged, a.toldOnce
	return a
}

// A person has to approve a phase.
func askedToApprove(t *testing.T) *asked {
	a := newAsked(t, approves)
	a.write("home/build-review", verdictOf(""))
	a.left = func() string { return a.stopped(metadata.Waiting, metadata.AwaitingPerson) }
	a.minor, a.twice = a.flagged, a.toldOnce
	return a
}

// An agent fails, and whoever starts the job again has it fail again.
func askedFailure(t *testing.T) *asked {
	a := newAsked(t, twoSteps)
	a.write("home/plan-execute", "exit 7\n")
	a.left, a.fails = func() string { return a.stopped(metadata.Failed, metadata.AgentFailed) }, true
	return a
}

// toldOnce says that people were told more than once: a run that waits for a person waits for the
// same thing, however often its job is started again.
func (a *asked) toldOnce() string {
	return first(len(a.ours("stop")) <= 1, fmt.Sprintf("of one stop people are told %d times", len(a.ours("stop"))))
}

// What the run may cost is used up.
func askedTooMuch(t *testing.T) *asked {
	a := newAsked(t, twoSteps)
	a.write("home/plan-execute", costs)
	a.inputs["budget-usd"] = "1"
	a.left = func() string { return a.stopped(metadata.Waiting, metadata.BudgetExceeded) }
	a.minor, a.twice = a.flagged, a.toldOnce
	return a
}

// The base conflicts with the work, and no agent resolves that.
func askedConflict(t *testing.T) *asked {
	a := completed(t, twoSteps)
	a.ask = func() func(...string) *hubJob {
		a.moveBase("code.txt")
		return a.says("ada", "/update")
	}
	a.left, a.fails = func() string { return a.stopped(metadata.Failed, metadata.Conflicts) }, true
	return a
}

// CI is red, and stays so.
func askedBadCI(t *testing.T) *asked {
	a := newAsked(t, twoSteps+"ci: {wait: \"1ms\", fixes: 0, required: [\"ci.yml\"]}\n")
	a.publish(map[string]string{".github/workflows/ci.yml": "on: workflow_dispatch\njobs: {}\n"})
	a.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "awaiting_ci")
	var red string
	failed := false // a job has said that CI is red
	a.ask = func() func(...string) *hubJob {
		red = a.tip()
		a.made.Says(red, "test", "failure")
		return a.ended(red)
	}
	a.fails = true
	a.left = func() string {
		run := a.now()
		if failed && run.Stop != nil && run.Stop.Code == metadata.AwaitingCI && a.tip() != red {
			return "" // whoever starts a failed job again resumes the run, and CI is asked about a new commit
		}
		failed = failed || run.Status == metadata.Failed
		return a.stopped(metadata.Failed, metadata.CIFailed)
	}
	return a
}

// toldBriefly says what is wrong with how people were told of a stop since a request and a number of
// comments about stops: it is one new comment, and costs two writes at most: that comment, and
// that the one before is folded.
func (a *asked) toldBriefly(request, stops int) string {
	writes := 0
	for _, r := range a.forge.Requests()[request:] {
		if route := routeOf(r); route == "POST /graphql minimizeComment" || strings.HasSuffix(route, "/comments") && r.Method == "POST" && strings.Contains(string(r.Body), "reprise:stop:") {
			writes++
		}
	}
	told := len(a.ours("stop")) - stops
	return first(told == 1, fmt.Sprintf("%d new comments tell of the stop", told), writes == 1 || writes == 2, fmt.Sprintf("the stop takes %d writes", writes))
}
