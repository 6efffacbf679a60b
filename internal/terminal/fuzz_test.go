package terminal

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestOddRecords shows records that no check would pass. Nothing may panic, and
// nothing that a terminal acts on may get through.
func TestOddRecords(t *testing.T) {
	for seed := range uint64(40) {
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 1))}
		run, plan := progresstest.OddOf[metadata.Run](o), progresstest.OddPlan(o)
		for _, text := range everyView(plan, run, o) {
			if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' || r == 0x7f }); i >= 0 {
				t.Fatalf("seed %d: a control character got through: %q", seed, text[max(i-40, 0):min(i+80, len(text))])
			}
		}
	}
}

// everyView gives what all views for terminals print.
func everyView(plan *pipelines.Pipeline, run metadata.Run, o progresstest.Odd) []string {
	var status, history, explained, rollback, plain, log bytes.Buffer
	ShowStatus(&status, phases.On(plan, run), Options{Width: 80})
	ShowHistory(&history, run, Options{})
	explained.WriteString(view.Settings(plan))
	ShowRollback(&rollback, plan, phases.RollbackPlan{
		Before: run, Run: progresstest.OddOf[metadata.Run](o), Entry: progresstest.OddOf[metadata.Rollback](o),
		Moves: progresstest.OddOf[map[string]string](o), ReasonFile: o.Word(),
	}, true, Options{Width: 50})
	d, done, activity := progresstest.OddOf[phases.Decision](o), progresstest.OddOf[phases.Outcome](o), progresstest.OddOf[engine.Activity](o)
	s := screen{Options: Options{Plan: plan, Width: 80}, Height: 24}
	for _, e := range []engine.Event{{Run: run, Decision: &d}, {Run: run, Of: d, Activity: &activity}, {Run: run, Of: d, Done: &done}} {
		NewView(&plain, Options{Plan: plan, Verbose: true}).Report(e)
		NewView(&log, Options{Plan: plan, Verbose: true, JSON: true}).Report(e)
		s.take(e)
		render(s)
	}
	return []string{
		status.String(), history.String(), explained.String(), rollback.String(), plain.String(), render(s),
		view.Mermaid(phases.On(plan, run)), view.Mermaid(phases.Course{Plan: plan}),
	}
}

// FuzzShown puts a text wherever a record or what happens in a run has one: in
// the log of a job none of it is a command.
func FuzzShown(f *testing.F) {
	for i, text := range progresstest.HostileTexts() {
		f.Add(uint64(i), text)
	}
	f.Fuzz(func(t *testing.T, seed uint64, body string) {
		if len(body) > 20_000 {
			return
		}
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 3))}
		run, plan := progresstest.OddOf[metadata.Run](o), progresstest.SamplePlan("en")
		d, done, activity := progresstest.OddOf[phases.Decision](o), progresstest.OddOf[phases.Outcome](o), progresstest.OddOf[engine.Activity](o)
		for _, v := range []any{&run, &d, &done, &activity} {
			progresstest.Put(o, reflect.ValueOf(v).Elem(), body)
		}
		if line := text.Flat(body); strings.ContainsFunc(line, unicode.IsControl) {
			t.Errorf("not one line: %q", line)
		}
		for _, asJSON := range []bool{false, true} {
			var log bytes.Buffer
			v := NewView(environ.NewCommandEscaper(&log), Options{Plan: plan, Verbose: true, JSON: asJSON})
			for _, e := range []engine.Event{{Run: run, Decision: &d}, {Run: run, Of: d, Activity: &activity}, {Run: run, Of: d, Done: &done}} {
				v.Report(e)
			}
			progresstest.CheckLog(t, log.String())
		}
	})
}
