package terminal

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// What fails as it did before the work, and what is flaky, is told as what it is, and does
// not look as if it had passed, or as if the work had broken it.
func TestChecksThatHoldNothingUp(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	run := p.Run.Clone()
	run.Phases[0].Checks = &metadata.Checks{Written: run.Phases[0].Written, Results: []metadata.CheckResult{
		{Name: "fine", Pass: true}, {Name: "old", ExitCode: 2, FailsBefore: true}, {Name: "moody", Pass: true, Flaky: true},
	}}
	end := func(do phases.Do) string {
		e := engine.Event{Run: run, Of: phases.Decision{Do: do, Phase: run.Phases[0].Name}, Done: &phases.Outcome{Status: metadata.Succeeded, Checks: run.Phases[0].Checks.Results}}
		n := newsOf(p.Plan, e)[0]
		if before, _, _ := strings.Cut(plainLines(n, p.Plan, text.Palette(false), false)[0], "fine"); len(before) != len("09:00:00   1/10  test_implementation  execute  reviewer  ✓ ") {
			t.Errorf("the line of %s is not in its columns: %q", do, before)
		}
		return n.result()
	}
	const said = "fine ✓, old – already red before the work; does not count, moody ✓ flaky: it passed when it was run once more"
	if got := end(phases.DoCheck); got != said+", phase completed" {
		t.Errorf("the log says %q", got)
	}
	if got := end(phases.DoBaseline); got != said { // it ends beside a phase, and completes none
		t.Errorf("of the baseline the log says %q", got)
	}
	var b bytes.Buffer
	ShowStatus(&b, p.With(run), Options{})
	want := "\nWhat was proven\n  planning             fine ✓ · old – already red before the work; does not count · moody ✓ flaky: it passed when it was run once more · review ✓ codex (gpt-5)\n"
	if !strings.Contains(b.String(), want) {
		t.Errorf("the status lacks %q:\n%s", want, b.String())
	}
}

// Only the output of a phase's checks is in a file that the log can point to.
func TestWhereTheRestOfTheOutputIs(t *testing.T) {
	long := strings.Repeat("a line\n", 100)
	for step, want := range map[metadata.Step]string{metadata.Check: "(85 more lines in checks.md)", "baseline": "(85 more lines)"} {
		lines := news{Catalogue: prompts.Words("en"), Step: string(step), Checks: []checkNews{{result: metadata.CheckResult{Output: long}, Name: "unit", ExitCode: 1}}}.output(false)
		if got := lines[len(lines)-1]; got != want {
			t.Errorf("%s: %q, want %q", step, got, want)
		}
	}
}

// A writer that was cut off is told of in the history and in the status.
func TestAWriterThatWasCutOff(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	run := p.Run.Clone()
	rec := run.Phases[0]
	run.Attempts[rec.Written-1].Why = metadata.Because("limit_reached", "limit", "turns")
	var status, history bytes.Buffer
	ShowStatus(&status, p.With(run), Options{})
	if want := "\nThe agent was cut off by its limit of turns in " + rec.Name + ", so"; !strings.Contains(status.String(), want) {
		t.Errorf("the status lacks %q:\n%s", want, status.String())
	}
	ShowHistory(&history, run, Options{})
	if !strings.Contains(history.String(), "it reached its limit of turns") {
		t.Errorf("the history lacks it:\n%s", history.String())
	}
}
