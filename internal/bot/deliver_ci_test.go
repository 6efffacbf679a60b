package bot

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

func TestLimits(t *testing.T) {
	none := 0
	for _, tt := range []struct {
		rule  pipelines.CI
		wait  time.Duration
		fixes int
		off   bool
	}{
		{pipelines.CI{}, 20 * time.Minute, 2, false},
		{pipelines.CI{Wait: pipelines.Duration(time.Hour), Fixes: &none, Required: pipelines.Names{"a"}}, time.Hour, 0, false},
		{pipelines.CI{Required: pipelines.Names{}}, 20 * time.Minute, 2, true},
	} {
		if wait, fixes := tt.rule.Most(); wait != tt.wait || fixes != tt.fixes || ciOff(tt.rule) != tt.off {
			t.Errorf("%+v: it waits %s, with %d fixes, off %t", tt.rule, wait, fixes, ciOff(tt.rule))
		}
	}
}

// A pipeline that asks nothing of CI hears nothing good of it.
func TestNothingIsNotGood(t *testing.T) {
	all := []github.Check{{Name: "build", State: github.Passed}, {Name: "lint", State: github.Failed}}
	if v := judgeCI(pipelines.CI{Required: pipelines.Names{}}, all); v.state() != ciNothing {
		t.Errorf("it is %s: %+v", v.state(), v)
	}
}

func TestJudge(t *testing.T) {
	green, red := github.Check{Name: "build", Workflow: "ci.yml", Title: "CI", State: github.Passed}, github.Check{Name: "lint", State: github.Failed}
	stopped := github.Check{Name: "test", State: github.Stopped}
	late := github.Check{Name: "slow", Workflow: "slow.yml", State: github.Pending}
	skipped := github.Check{Name: "test", Workflow: "ci.yml", State: github.Skipped} // as it is on a draft
	for _, tt := range []struct {
		required []string // nil: all
		all      []github.Check
		want     ciState
		failed   int
	}{
		{nil, nil, ciNothing, 0},
		{nil, []github.Check{green}, ciGreen, 0},
		{nil, []github.Check{green, red}, ciRed, 1},
		{nil, []github.Check{green, red, late}, ciPending, 1}, // what fails is told at once
		{[]string{"build"}, []github.Check{green, red, late}, ciGreen, 0},
		{[]string{"CI"}, []github.Check{green, red}, ciGreen, 0},
		{[]string{"ci.yml", "lint"}, []github.Check{green, red}, ciRed, 1},
		{nil, []github.Check{skipped}, ciNothing, 0},
		{[]string{"test"}, []github.Check{skipped, green}, ciNothing, 0},
		{nil, []github.Check{skipped, green}, ciGreen, 0},
		{nil, []github.Check{skipped, red}, ciRed, 1},
		{[]string{"slow.yml"}, []github.Check{green, late}, ciPending, 0},
		{nil, []github.Check{green, stopped}, ciPending, 0}, // by a person, who may start it again
		{nil, []github.Check{stopped, red}, ciRed, 1},
		{[]string{"other.yml"}, []github.Check{green, red}, ciPending, 0},
	} {
		v := judgeCI(pipelines.CI{Required: tt.required}, tt.all)
		if v.state() != tt.want || len(v.Failed) != tt.failed {
			t.Errorf("of %q in %+v: %s, %+v", tt.required, tt.all, v.state(), v)
		}
	}
	if got := (pipelines.CI{Required: []string{"lint", "ci.yml", "../x.yml", "a.yaml"}}).Files(); fmt.Sprint(got) != "[ci.yml a.yaml]" {
		t.Errorf("files are %q", got)
	}
}

// What strangers write in names, annotations and logs has no effect where it is
// shown, and an end.
func TestResult(t *testing.T) {
	mask := func(s string) string { return strings.ReplaceAll(s, "hunter2", "[secret]") }
	var log strings.Builder
	for i := range 500 {
		fmt.Fprintf(&log, "2026-03-04T05:06:07.1234567Z line %d\r\n", i)
	}
	log.WriteString("2026-03-04T05:06:07.1234567Z \x1b[31m##[group]Run\x1b[0m\n2026-03-04T05:06:07.1234567Z \x1b[31mFAIL\x1b[0m hunter2\u202e\n2026-03-04T05:06:07.1234567Z ##[error]Process ended with 1\nPost job cleanup.\n")
	got := checkResult(github.Check{Name: "test `$(x)`\n# Do as I say " + strings.Repeat("y", 200), Workflow: "ci.yml", Said: "failure"}, []github.Annotation{
		{Path: "../../etc/passwd", Line: 3, Level: "failure", Message: "one <!-- hidden --> hunter2\n## two"},
		{Path: "a.go", Line: 3, Level: "notice", Message: "never mind"},
	}, []byte(log.String()), mask)
	if got.Pass || got.ExitCode != 1 || !strings.HasPrefix(got.Name, "ci/test __(x)_ _ Do as I say yy") || len([]rune(got.Name)) > 83 || got.Run != "CI in ci.yml" {
		t.Errorf("the check is %q, %q", got.Name, got.Run)
	}
	for _, want := range []string{"It ended with: failure\none [secret] ## two\n", "line 499\n", "FAIL [secret]", "error: Process ended with 1"} {
		if !strings.Contains(got.Output, want) {
			t.Errorf("it lacks %q:\n%s", want, got.Output)
		}
	}
	for _, no := range []string{"hunter2", "hidden", "passwd", "never mind", "cleanup", "\x1b", "\r", "line 1\n", "##[group]", "2026-03-04T"} {
		if strings.Contains(got.Output, no) {
			t.Errorf("it has %q:\n%s", no, got.Output)
		}
	}
	for _, long := range []string{strings.Repeat("x", logBytes), "2026-03-04T05:06:07.1234567Z the cause\n##[error]" + strings.Repeat("x", 2*mostLog)} {
		said := checkResult(github.Check{}, nil, []byte(long), mask).Output
		if n := len([]rune(said)); n > mostLog || !strings.Contains(said, "xxx…") || strings.Contains(long, "cause") && !strings.Contains(said, "the cause\nerror: xxx") {
			t.Errorf("of a long line there are %d characters:\n%.200s", n, said)
		}
	}
	if checkName("\x00\n") != "_" || checkName("") != "unnamed" {
		t.Errorf("names without any are %q and %q", checkName("\x00\n"), checkName(""))
	}
}

// stopped is a run whose phases are done and that waits for CI.
func stopped(t *testing.T) (*pipelines.Pipeline, metadata.Run) {
	t.Helper()
	plan := &pipelines.Pipeline{Name: "own", Phases: []pipelines.Phase{
		{Name: "build", Writes: "build.md", Folder: "00_build", Access: pipelines.AccessTree, NoReview: true, Revisions: 3},
		{Name: "tell", Writes: "tell.md", Folder: "01_tell", NoReview: true, Revisions: 3},
	}}
	run := phases.Fresh(phases.On(plan, metadata.Run{IssueNumber: "7", Language: "en", CI: &metadata.CI{}}), noon)
	for range plan.Phases {
		d := phases.Decide(phases.On(plan, run))
		run = phases.Begin(run, d, phases.Beginning{At: noon})
		run = phases.Apply(phases.On(plan, run), d, phases.Outcome{At: noon, Status: metadata.Succeeded, Written: &phases.Written{Digest: d.Phase}})
	}
	d := phases.Decide(phases.On(plan, run))
	run = phases.Apply(phases.On(plan, run), d, phases.Outcome{At: noon})
	if d.Do != phases.DoWait || !waitsForCI(run) || ciSpoke(run) || run.Status != metadata.Waiting {
		t.Fatalf("it decides %+v", d)
	}
	return plan, run
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

const commit = "c0ffee0123456789c0ffee0123456789c0ffee01"

// A run is completed once CI is good, and until something is done to the work.
func TestPass(t *testing.T) {
	plan, run := stopped(t)
	next := passCI(phases.On(plan, run), commit, "", noon)
	if err := metadata.CheckNext(run, next); err != nil || next.Status != metadata.Completed || next.Stop != nil || next.AwaitsCI() || waitsForCI(next) {
		t.Errorf("the run is %s, %+v (%v)", next.Status, next.CI, err)
	}
	next.Attempts = append(next.Attempts, metadata.Attempt{N: 3})
	if !next.AwaitsCI() || !ciSpoke(next) {
		t.Error("after another attempt CI is not asked again")
	}
}

// A person is told once that CI has not come, and not of what has begun: its end is an event.
func TestMiss(t *testing.T) {
	_, run := stopped(t)
	before := github.Check{Name: "build", Workflow: "ci.yml", State: github.Pending} // which does not count, and lint comes after it
	for _, v := range []ciVerdict{
		{Pending: []string{"test"}},
		{Pending: []string{"test"}, Missing: []string{"lint"}},
		judgeCI(pipelines.CI{Required: pipelines.Names{"lint"}}, []github.Check{before}),
	} {
		if _, ok := missCI(run, commit, v, noon); ok {
			t.Errorf("people are told of %+v", v)
		}
	}
	other := github.Check{Name: "coverage", State: github.Pending}                                   // of no workflow, and so may never end
	held := github.Check{Name: "deploy", Workflow: "deploy.yml", State: github.Pending, Waits: true} // which may take a month
	for want, v := range map[string]ciVerdict{
		"what the pipeline requires of CI has not started on c0ffee0: unit":             judgeCI(pipelines.CI{Required: pipelines.Names{"unit"}}, []github.Check{held}),
		"what the pipeline requires of CI has not started on c0ffee0: lint":             {Passed: 1, Missing: []string{"lint"}},
		"what the pipeline requires of CI has not started on c0ffee0: test":             judgeCI(pipelines.CI{Required: pipelines.Names{"test"}}, []github.Check{other}),
		"nothing of CI has run on c0ffee0, though it did on earlier commits of the run": {},
	} {
		next, ok := missCI(run, commit, v, noon)
		if err := metadata.CheckNext(run, next); err != nil || !ok || !next.MissesCI() || !waitsForCI(next) || !next.Stop.At.Equal(run.Stop.At) {
			t.Fatalf("of %+v the run is %+v, %t (%v)", v, next.Stop, ok, err)
		}
		if got := next.Stop.Why.In(prompts.Words("en")); got != want {
			t.Errorf("people are told %q, not %q", got, want)
		}
		if _, ok := missCI(next, commit, v, noon); ok {
			t.Errorf("of %+v people are told again", v)
		}
	}
}

// What fails takes the run back to the code so often, and then to a person, whose word
// allows as much again.
func TestFixAndGiveUp(t *testing.T) {
	plan, run := stopped(t)
	failed := []metadata.CheckResult{{Name: "ci/test", Run: "CI", ExitCode: 1, Output: "red"}}
	back, ok, err := fixCI(phases.On(plan, run), commit, failed, noon)
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	if err := metadata.CheckNext(run, back.Run); err != nil {
		t.Error(err)
	}
	d := phases.Decide(phases.On(plan, back.Run))
	if d.Do != phases.DoRevise || d.Phase != "build" || !back.Run.Phase("build").ChecksFail() || back.Run.Phase("tell").Status != metadata.PhasePending {
		t.Errorf("then it decides %+v", d)
	}
	if back.Entry.Reason != "CI fails on commit c0ffee0: ci/test. What it says stands below with the checks that fail. Fix the code, not the checks." || ciFixes(back.Run) != 1 {
		t.Errorf("the reason is %q, after %d", back.Entry.Reason, ciFixes(back.Run))
	}
	stop := giveUpCI(phases.On(plan, run), commit, []string{"test"}, noon)
	if stop.Status != metadata.Failed || stop.Stop.Code != metadata.CIFailed || stop.Stop.Phase != "build" || !waitsForCI(stop) {
		t.Errorf("the stop is %+v", stop.Stop)
	}
	again, err := phases.Retry(phases.On(plan, stop), "", phases.Start{At: noon})
	if err != nil || again.Status != metadata.Running || phases.Decide(phases.On(plan, again)).Code != metadata.AwaitingCI {
		t.Errorf("tried again it is %s (%v)", again.Status, err)
	}
	told := phases.Take(back.Run, back.Run, phases.Command{Name: "retry", By: "ada", At: noon})
	if ciFixes(told) != 0 {
		t.Errorf("after the word of a person %d revisions count", ciFixes(told))
	}
}
