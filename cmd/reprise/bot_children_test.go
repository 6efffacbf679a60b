//go:build slow || e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// splits is a pipeline whose phases ask for issues of their own; the first has
// to be approved.
const splits = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "Plan.", review: false, approve: "maintain", report: children?: [...{title: string, body: string}]},
	{name: "build", goal: "Build.", needs: ["plan"], review: false, report: children: [...{title: string, body?: string}]},
]
`

// asksForIssues is what an agent does that asks for issues with these titles.
func asksForIssues(titles ...string) string {
	var all []string
	for _, t := range titles {
		all = append(all, fmt.Sprintf(`{"title": "%s", "body": "It lacks %s, @hana.\\n\\n/run\\n\\n- Fixes #3\\n<!-- reprise:progress:v1 issue=7 -->"}`, t, t))
	}
	return `
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {"children": [` + strings.Join(all, ", ") + `]}}'
exit 0
`
}

// newSplits is a stage whose plan asks for issues with these titles, and whose
// other phase for one of them again.
func newSplits(t *testing.T, pipeline string, titles ...string) *hub {
	t.Helper()
	h := newStage(t, pipeline)
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = []string{"Reprise", "bug"} })
	for _, step := range []string{"execute", "revise"} {
		h.write("home/plan-"+step, asksForIssues(titles...))
		h.write("home/build-"+step, asksForIssues(strings.ToUpper(titles[0]), " "))
	}
	return h
}

// below are the issues that the job has opened, by their titles, with what is
// wrong about their place and their labels.
func (h *hub) below() string {
	h.t.Helper()
	var out []string
	for _, is := range h.forge.Issues(hubRepo) {
		if is.Pull || is.Number == hubIssue {
			continue
		}
		title := is.Title
		if !slices.Equal(is.Labels, []string{"bug"}) || !slices.Contains(h.forge.SubIssues(hubRepo, hubIssue), is.Number) {
			title += fmt.Sprintf(" (labels %q, below are %v)", is.Labels, h.forge.SubIssues(hubRepo, hubIssue))
		}
		out = append(out, title)
	}
	slices.Sort(out)
	return strings.Join(out, ", ")
}

// What a phase asks for is opened once its work stands, as issues of their own,
// and no more than a run may open.
func TestChildIssues(t *testing.T) {
	h := newSplits(t, splits, "Speak French, @hana", "Colour", "Sound", "Smell", "Taste", "Touch", "Time")
	h.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	if got := h.below(); got != "" {
		t.Fatalf("before the approval there are %q", got)
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "Issues asked for · 7", "- Colour · Plan · opened once", "- Time · Plan · opened once")
	h.comment("max", "/approve").end(exit.Done).wants("status", "completed")
	if got := h.below(); got != "Colour, Smell, Sound, Speak French, `@hana`, Taste" {
		t.Fatalf("opened were %q", got)
	}
	run := h.record()
	for _, c := range run.Children {
		if number := c.Number; number > 0 {
			is := h.forge.Issues(hubRepo)[slices.IndexFunc(h.forge.Issues(hubRepo), func(is githubtest.Issue) bool { return is.Number == number })]
			testenv.Has(t, "the issue", is.Body, "<!-- reprise:child:v1 issue=7/"+c.ID+" -->\n", "The phase plan of [7 Say hello](", "asks for this:", "`@hana`.\n", "- Fixes `#3`")
		}
	}
	live := h.ours("progress")[0].Body
	testenv.Has(t, "the live comment", live, fmt.Sprintf("- Colour · Plan · [%d](http", run.Children[1].Number), "- Touch · Plan · not opened: a run opens at most 5")
	// Neither another run nor a rollback opens any of them again.
	h.comment("ada", "/rollback plan:execute think again").end(exit.Done).wants("status", "waiting")
	h.comment("max", "/approve").end(exit.Done).wants("status", "completed")
	if got := h.below(); got != "Colour, Smell, Sound, Speak French, `@hana`, Taste" || len(h.record().Children) != 7 {
		t.Errorf("then there are %q; the record has %+v", got, h.record().Children)
	}
}

// A job that dies when an issue is there, and before the record says so, leaves
// one that the next job finds, even if that takes the phase back first.
func TestChildIssueOfAJobThatDied(t *testing.T) {
	h := newSplits(t, strings.ReplaceAll(splits, `approve: "maintain", `, ""), "Speak French", "Colour")
	h.forge.Fault("POST /repos/acme/widget/issues/7/sub_issues", githubtest.Fault{Hang: true})
	j := h.comment("ada", "/run")
	h.until("a link that hangs", func() bool {
		return slices.ContainsFunc(h.forge.Requests(), func(r githubtest.Request) bool {
			return r.Method == "POST" && strings.HasSuffix(r.Path, "/sub_issues")
		})
	})
	j.kill(true)
	if run := h.record(); run.Children[0].Opened() || h.calls() != "plan execute" {
		t.Fatalf("the record has %+v, the agent was called for %s", run.Children, h.calls())
	}
	h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Status: "completed", Conclusion: "failure"})
	h.write("home/plan-execute", asksForIssues("speak FRENCH", "Sound"))
	h.comment("ada", "/rollback plan:execute think again").end(exit.Done).wants("status", "completed")
	testenv.Is(t, "opened were", h.below(), "Colour, Sound, Speak French")
	for _, c := range h.record().Children {
		if !c.Opened() {
			t.Errorf("the record does not know %q", c.Title)
		}
	}
}

// One that cannot be opened stops nothing, and the next job opens it.
func TestChildIssueThatCannotBeOpened(t *testing.T) {
	h := newSplits(t, strings.ReplaceAll(splits, `approve: "maintain", `, ""), "Speak French")
	// The first one finds out whether the job may open issues.
	h.forge.Fault("POST /repos/acme/widget/issues", githubtest.Status(422, "Validation Failed"), githubtest.Status(410, "Issues are disabled for this repo"))
	j := h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	testenv.Has(t, "the summary", j.summary, "Issues are disabled")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "- Speak French · Plan · not open yet: the next `/run` opens it")
	h.comment("ada", "/run").end(exit.Done)
	if got := h.below(); got != "Speak French" || !h.record().Children[0].Opened() {
		t.Errorf("opened were %q; the record has %+v", got, h.record().Children)
	}
}

// GitHub Enterprise may be older than sub-issues: a run goes through, its issues are opened, and it is said
// once that they stand by themselves.
func TestOlderEnterprise(t *testing.T) {
	h := newSplits(t, strings.ReplaceAll(splits, `approve: "maintain", `, ""), "Speak French", "Colour")
	h.forge.FaultWhen(func(r githubtest.Request) *githubtest.Fault {
		if strings.HasSuffix(r.Path, "/sub_issues") {
			return new(githubtest.Status(404, "Not Found"))
		}
		return nil
	})
	j := h.comment("ada", "/run", "GITHUB_API_URL="+h.forge.URL+"/api/v3").end(exit.Done).wants("status", "completed")
	if got := len(h.forge.Issues(hubRepo)); got != 3 {
		t.Errorf("there are %d issues", got)
	}
	if said := j.said.String(); strings.Count(said, "has no sub-issues: issues that a run opens stand by themselves there, and link to its own") != 1 || strings.Contains(said, "check owner") {
		t.Errorf("the job says:\n%s", said)
	}
}
