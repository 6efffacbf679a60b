package terminal

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

func TestShowStatus(t *testing.T) {
	for name, p := range progresstest.Plays(t, "en") {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			ShowStatus(&b, p.Course, Options{})
			progresstest.Golden(t, "status-"+name+".txt", b.String())
		})
	}
}

func TestShowStatusFitsTheTerminal(t *testing.T) {
	p := progresstest.Plays(t, "en")["middle"]
	p.Run.IssueTitle = strings.Repeat("とても長い題名", 20)
	var b bytes.Buffer
	ShowStatus(&b, p.Course, Options{Width: 60, Color: true})
	if !strings.Contains(b.String(), "\x1b[") {
		t.Error("no colour where it was asked for")
	}
	for line := range strings.Lines(b.String()) {
		phase := strings.Contains(line, "·  ") || strings.Contains(line, "✓  ") || strings.Contains(line, "▸  ")
		if w := ansi.StringWidth(strings.TrimSpace(line)); w > 60 && (phase || strings.HasPrefix(line, "#7")) {
			t.Errorf("%d cells: %s", w, line)
		}
	}
}

// On a narrow terminal what stands against the work, and the tasks, break between words, and
// stand behind what they belong to.
func TestOpenAndTasksOnANarrowTerminal(t *testing.T) {
	p := progresstest.Plays(t, "en")["failed"]
	p.Run.Tasks = []metadata.Task{{ID: "t1", Phase: "planning", Title: strings.Repeat("a part of the work ", 4), Needs: []string{"t2"}}}
	for _, x := range p.Run.Phases {
		if x.Verdict != nil {
			x.Verdict.Gates = append(x.Verdict.Gates, metadata.Gate{Gate: "The help has every flag", Why: strings.Repeat("one is missing ", 8)})
		}
	}
	for _, head := range []string{"Open", "Tasks"} {
		var b bytes.Buffer
		ShowStatus(&b, p.Course, Options{Width: 50})
		_, body, found := strings.Cut(b.String(), "\n"+head+"\n")
		if !found {
			t.Fatalf("the status has no %s:\n%s", head, b.String())
		}
		body, _, _ = strings.Cut(body, "\n\n")
		broken := false
		for line := range strings.Lines(body) {
			broken = broken || strings.HasPrefix(line, "      ")
			if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > 50 {
				t.Errorf("%s: %d cells: %s", head, w, line)
			}
		}
		if !broken {
			t.Errorf("%s: no line is broken:\n%s", head, body)
		}
	}
}

// A text that a command prints breaks between words, and its entries hang; a pipe gets it as it is.
func TestFold(t *testing.T) {
	body := "What is left to do:\n\n  1. Store the key of Claude Code as a secret:\n     gh secret set KEY\n- of a list that is long\nMore is said by: reprise doctor\n"
	want := "What is left to do:\n\n  1. Store the key of Claude\n     Code as a secret:\n     gh secret set KEY\n- of a list that is long\nMore is said by:\nreprise doctor\n"
	if got := Fold(body, 30); got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if got := Fold(body, 0); got != body {
		t.Errorf("without a terminal:\n%s", got)
	}
}

func TestShowHistory(t *testing.T) {
	for _, name := range []string{"begun", "middle", "rolledback", "flaky"} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			ShowHistory(&b, progresstest.Plays(t, "en")[name].Run, Options{})
			progresstest.Golden(t, "history-"+name+".txt", b.String())
		})
	}
}

// The history is in the order of what happened, also if the clock went back meanwhile.
func TestHistoryWithAClockThatWentBack(t *testing.T) {
	run := progresstest.Plays(t, "en")["rolledback"].Run
	lines := func() string {
		var b bytes.Buffer
		ShowHistory(&b, run, Options{})
		return regexp.MustCompile(`(?m)^\S+ \S+`).ReplaceAllString(b.String(), "")
	}
	want, since := lines(), run.RollbackHistory[0].Timestamp
	back := func(at *time.Time) {
		if !at.Before(since) {
			*at = at.Add(-time.Hour)
		}
	}
	back(&run.RollbackHistory[0].Timestamp)
	for i := range run.Attempts {
		back(&run.Attempts[i].StartedAt)
	}
	for i := range run.Decisions {
		back(&run.Decisions[i].At)
	}
	if got := lines(); got != want || run.Attempts[0].StartedAt.Before(run.RollbackHistory[0].Timestamp) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// On a narrow terminal, what is said of an entry stands below it, and breaks between words.
func TestShowHistoryOnANarrowTerminal(t *testing.T) {
	run := progresstest.Plays(t, "en")["rolledback"].Run
	run.RollbackHistory[0].Reason = strings.Repeat("because the API must stay as it is ", 5)
	var b bytes.Buffer
	ShowHistory(&b, run, Options{Width: 60})
	below := 0
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "    ") {
			below++
			if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > 60 {
				t.Errorf("%d cells: %s", w, line)
			}
		} else if strings.Contains(line, "the API") {
			t.Errorf("what is said is behind the entry: %s", line)
		}
	}
	if all := strings.Join(strings.Fields(b.String()), " "); below < 4 || !strings.Contains(all, strings.TrimSpace(run.RollbackHistory[0].Reason)) {
		t.Errorf("%d lines are below their entry:\n%s", below, b.String())
	}
}

// An entry of the history is one line on a narrow terminal, and says when, where and what
// came of it also on the narrowest.
func TestEntriesOfTheHistoryFit(t *testing.T) {
	run := progresstest.Plays(t, "en")["rolledback"].Run
	for width, has := range map[int]string{80: "1  planning             execute  succeeded  $0.11", 64: "03-01 09:00        1  planning             execute  succeeded"} {
		var b bytes.Buffer
		ShowHistory(&b, run, Options{Width: width})
		for line := range strings.Lines(b.String()) {
			if w := ansi.StringWidth(strings.TrimRight(line, "\n")); w > width {
				t.Errorf("%d cells of %d: %s", w, width, line)
			}
		}
		if !strings.Contains(b.String(), has) {
			t.Errorf("at %d cells it has no %q:\n%s", width, has, b.String())
		}
	}
}

// Where there is no room for what came of an entry, that stands below it, whole.
func TestResultsOfANarrowHistory(t *testing.T) {
	var b bytes.Buffer
	ShowHistory(&b, progresstest.Plays(t, "en")["rolledback"].Run, Options{Width: 40})
	if strings.Contains(b.String(), "succ…") || !strings.Contains(b.String(), "\n    succeeded") {
		t.Errorf("results are cut:\n%s", b.String())
	}
}

func TestShowLongHistory(t *testing.T) {
	run := progresstest.Plays(t, "en")["rolledback"].Run
	entry := run.RollbackHistory[0]
	for i := range 10_000 {
		entry.Timestamp = progresstest.Nine.Add(time.Duration(i) * time.Second)
		entry.Reason = fmt.Sprintf("reason %d", i)
		run.RollbackHistory = append(run.RollbackHistory, entry)
	}
	var b bytes.Buffer
	d := testenv.Busy(func() {
		ShowHistory(&b, run, Options{})
		ShowStatus(&b, phases.On(progresstest.SamplePlan("en"), run), Options{})
	})
	if d > 5*time.Second {
		t.Errorf("10,000 rollbacks took %s to show", d)
	}
	if n := strings.Count(b.String(), "reason "); n < 10_000 {
		t.Errorf("only %d of 10,000 rollbacks are shown", n)
	}
}

// Why a phase was left out is said in full on a narrow terminal, too.
func TestShowStatusOfAPhaseThatIsLeftOut(t *testing.T) {
	p := progresstest.NewPlay(t, "en")
	p.Next(p.Work(0))
	why := metadata.Because("skip_if_holds", "facts", "migrations is false and schemas is false")
	run := phases.LeaveOut(p.Run, p.Run.Phases[1].Name, why, p.Run.UpdatedAt)
	var b bytes.Buffer
	ShowStatus(&b, p.With(run), Options{Width: 40})
	if want := "holds: migrations is false and schemas is false"; !strings.Contains(strings.Join(strings.Fields(b.String()), " "), want) {
		t.Errorf("it does not say %q:\n%s", want, b.String())
	}
}

func TestShowRolledBack(t *testing.T) {
	for _, step := range []metadata.Step{metadata.Revise, metadata.Execute} {
		t.Run(string(step), func(t *testing.T) {
			p := progresstest.NewPlay(t, "en")
			p.Passing("report")
			r := p.Back("design", step, "The API must stay REST.\nSay why in the design.")
			r.Paths = []string{"api/list.go"}
			var b bytes.Buffer
			ShowRollback(&b, p.Plan, r, true, Options{})
			progresstest.Golden(t, "rollback-"+string(step)+".txt", b.String())
		})
	}
}

// On a narrow terminal a rollback breaks between words.
func TestNarrowReports(t *testing.T) {
	const width = 50
	p := progresstest.NewPlay(t, "en")
	p.Passing("report")
	var b bytes.Buffer
	ShowRollback(&b, p.Plan, p.Back("design", metadata.Revise, "The API must stay REST, as other programs of ours that ask it say."), true, Options{Width: width})
	for line := range strings.Lines(b.String()) {
		words := strings.Fields(line)
		if n := ansi.StringWidth(strings.TrimSuffix(line, "\n")); n > width && !strings.Contains(words[len(words)-1], "/") { // a path stays whole
			t.Errorf("%d cells wide: %s", n, line)
		}
	}
	for _, want := range []string{"*  design               completed, review: pass,\n"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in:\n%s", want, b.String())
		}
	}
}

// A narrow terminal has the cost of each phase, whatever else it has no room for.
func TestNarrowStatus(t *testing.T) {
	p := progresstest.Plays(t, "en")["completed"]
	var b bytes.Buffer
	ShowStatus(&b, p.Course, Options{Width: 50})
	if !strings.Contains(b.String(), "  cost") || !strings.Contains(b.String(), "$0.") {
		t.Errorf("no cost in:\n%s", b.String())
	}
}
