package page

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// A command that has no effect on a run that goes on was not put off: nobody is told that
// it will be taken, or that another job is at work. Where one is, that is said.
func TestNotPutOff(t *testing.T) {
	for known, want := range map[bool]string{true: "This command cannot be carried out: the run has not stopped", false: "A job is already at work on this issue: the run has not stopped"} {
		d := command.Denial{Code: metadata.AlreadyRunning, By: "ada", What: "/retry", Why: metadata.Because("retry_running"), Known: known}
		got := RefusalReply("<!-- x -->", "en", d)
		if !strings.Contains(got, want) {
			t.Errorf("known %v: it lacks %q:\n%s", known, want, got)
		}
		if later := strings.Contains(got, "the job at work takes your command"); later == known {
			t.Errorf("known %v: says that it is taken later: %v\n%s", known, later, got)
		}
	}
}

// What went wrong beside a run is in the comment that calls people, and nobody is asked to
// merge a pull request that is not there.
func TestNoticeWarns(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const why = "open the pull request: it is not allowed"
	p.Run.PRNumber, p.Run.PRURL = 0, ""
	got := Notice(sampleMarker, []string{"hana"}, p.Course, Notices{Warnings: []string{why}})
	for _, want := range []string{"@hana **✅ Completed**", "> [!WARNING]\n> " + why, "`/rollback PHASE REASON`"} {
		if !strings.Contains(got, want) {
			t.Errorf("it lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "merge") || strings.Index(got, why) > strings.Index(got, "/rollback") {
		t.Errorf("it reads\n%s", got)
	}
}

// People are told of a job that was told to stop, once; not where a person has cancelled the run.
func TestStopOfInterrupted(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	run := phases.Interrupt(p.Run, p.At)
	stop, ok := StopOf(run)
	if !ok || !strings.HasPrefix(stop.Key, "cancelled-") || !stop.At.Equal(p.At) {
		t.Errorf("the stop is %+v, %t", stop, ok)
	}
	run.Status = metadata.Cancelled
	if _, ok := StopOf(run); ok {
		t.Error("who has cancelled the run is told so")
	}
}

// What is answered is known by the first line, also where it is several.
func TestAnswersTo(t *testing.T) {
	for body, want := range map[string]string{
		command.ReplyMarker(7) + "\ntext":        "[7]",
		command.ReplyMarker(7, 8, 90) + "\ntext": "[7 8 90]",
		"text " + command.ReplyMarker(7):         "[]",
		"":                                       "[]",
	} {
		if got := fmt.Sprint(command.AnswersTo(body)); got != want {
			t.Errorf("%q answers %s, want %s", body, got, want)
		}
	}
}

// /config names the paths that the pipeline opens.
func TestConfigShowsWhatIsOpened(t *testing.T) {
	plan := &pipelines.Pipeline{Name: "p", Open: []string{".github/workflows/ci.yml"}}
	for language, want := range map[string]string{
		"en": "- **Of these, open to changes that a person with the role maintain approves** `.github/workflows/ci.yml`\n",
		"ja": "- **うち、maintain ロールを持つ人の承認で変更できるもの** `.github/workflows/ci.yml`\n",
	} {
		if reply := ConfigReply("", language, plan, ConfigFacts{}); !strings.Contains(reply, want) {
			t.Errorf("%s: want %q in:\n%s", language, want, reply)
		}
	}
}

// The live comment says which images of the issue agents are not given, however many there
// are, and no address of others becomes a link.
func TestImagesThatAreNotGiven(t *testing.T) {
	run := metadata.Run{IssueNumber: "7", Language: "en", Issue: metadata.Issue{Images: []metadata.Image{{URL: "https://github.com/user-attachments/assets/1", Digest: "sha256:1"}}}}
	for range 9 {
		run.Issue.Images = append(run.Issue.Images, metadata.Image{URL: "https://evil.example/x", Why: metadata.Because("image_host", "host", "<img src=x> @hana")})
	}
	live := LiveComment(phases.On(&pipelines.Pipeline{Name: "p"}, run), Notices{})
	if n := strings.Count(live, "GitHub keeps no attachments at"); n != 9 || !strings.Contains(live, "Image 2 is not given: ") || strings.Contains(live, "<img") || strings.Contains(live, " @hana") {
		t.Errorf("it is said %d times in\n%s", n, live)
	}
}

// pagesSay looks whether the comment and the pull request say something.
func pagesSay(t *testing.T, plan *pipelines.Pipeline, run metadata.Run, said string, want bool) {
	t.Helper()
	for page, text := range map[string]string{
		"comment": Comment(phases.On(plan, run), Links{}), "draft": DraftBody(phases.On(plan, run), PullFacts{}), "pull request": DoneBody(phases.On(plan, run), nil, PullFacts{}),
	} {
		if got := strings.Contains(text, said); got != want {
			t.Errorf("%s: says it is %v, want %v:\n%s", page, got, want, text)
		}
	}
}

// Whoever reads a page is told what its statements on tests rest on.
func TestRanNothing(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "reprise has run no tests itself"
	for _, tt := range []struct {
		name   string
		phases []pipelines.Phase
		want   bool
	}{
		{"no check", []pipelines.Phase{{Name: "a", Access: pipelines.AccessArtifacts}, {Name: "b", Access: pipelines.AccessTree}}, true},
		{"a check", []pipelines.Phase{{Name: "b", Access: pipelines.AccessTree, Checks: []pipelines.Check{{Name: "unit"}}}, {Name: "c", Access: pipelines.AccessTree}}, false},
		{"nothing to check", []pipelines.Phase{{Name: "a", Access: pipelines.AccessArtifacts}}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			plan := *p.Plan
			plan.Phases, plan.Spare = tt.phases, nil
			pagesSay(t, &plan, p.Run, said, tt.want)
		})
	}
}

// A setup that fails has called nobody: its own words are all that there is to go by.
func TestSetupFailed(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	run := phases.SetUp(p.Run, []metadata.CheckResult{
		{Name: "deps", Run: "npm ci", ExitCode: 1, Output: "npm error one\nnpm error ```two\n"},
	}, time.Unix(0, 0))
	text := Comment(p.With(run), Links{})
	for _, want := range []string{"`npm ci`", "````\nnpm error one\nnpm error ```two\n````", "etup deps exited with 1: npm error", "comment `/retry`"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q:\n%s", want, text)
		}
	}
	run.Status, run.Stop = metadata.Running, nil
	if text := Comment(p.With(run), Links{}); strings.Contains(text, "npm error") {
		t.Errorf("a setup that stops nothing any more is still shown:\n%s", text)
	}
}

// What was broken before the work is named to those who are to merge it.
func TestFailedBefore(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	for _, known := range []bool{false, true} {
		run := p.Run.Clone()
		run.Phases[0].Checks = &metadata.Checks{Written: run.Phases[0].Written, Results: []metadata.CheckResult{
			{Name: "fine", Pass: true},
			{Name: "old", ExitCode: 1, FailsBefore: known},
			{Name: "tests", ExitCode: 1, FailsBefore: known, FailedTests: []string{"TestOld", "TestOlder"}},
		}}
		pagesSay(t, p.Plan, run, "- Planning: fine ✓ · old – already red before the work; does not count · tests – already red before the work; does not count \\[TestOld, TestOlder\\] · review", known)
	}
}

// Whoever reads a page is told that a writer was cut off, until the work is another.
func TestTurnsUsedUp(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "The agent was cut off by its limit of turns in `"
	for _, cut := range []bool{false, true} {
		run := p.Run.Clone()
		if rec := run.Phases[0]; cut {
			run.Attempts[rec.Written-1].Why = metadata.Because("limit_reached", "limit", "turns")
		}
		pagesSay(t, p.Plan, run, said+run.Phases[0].Name+"`, so", cut)
	}
}

// Whoever reads a page is told that a model has reviewed its own work.
func TestOfOneMind(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	const said = "The same model of the same program writes and reviews in `implement`"
	for model, want := range map[string]bool{"opus": true, "sonnet": false} {
		plan := *p.Plan
		plan.Agents = map[string]pipelines.Agent{"one": {Use: "claude"}, "other": {Use: "claude"}}
		plan.Phases = []pipelines.Phase{{Name: "implement", Execute: pipelines.Step{Agent: "one", Model: "opus"}, Review: pipelines.Step{Agent: "other", Model: model}}}
		pagesSay(t, &plan, p.Run, said, want)
		if reply := ConfigReply("", "en", &plan, ConfigFacts{}); strings.Contains(reply, said) != want {
			t.Errorf("/config with %s:\n%s", model, reply)
		}
	}
}
