package page

import (
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// TestOddComments writes the comment of records that no check would pass.
func TestOddComments(t *testing.T) {
	for seed := range uint64(100) {
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 1))}
		run, plan := progresstest.OddOf[metadata.Run](o), progresstest.OddPlan(o)
		if progresstest.CheckComment(t, seed, Comment(phases.On(plan, run), progresstest.OddOf[Links](o))); t.Failed() {
			return
		}
	}
}

func TestCommentsAreHarmless(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		for _, p := range progresstest.Plays(t, language) {
			progresstest.CheckComment(t, 0, Comment(p.Course, sampleLinks))
		}
	}
}

// FuzzPages puts a text wherever a record or a fact has one, and looks at all
// that people get to see of it on GitHub: whatever it is, there it mentions and
// closes nothing.
func FuzzPages(f *testing.F) {
	for i, text := range progresstest.HostileTexts() {
		f.Add(uint64(i), text)
	}
	f.Fuzz(func(t *testing.T, seed uint64, text string) {
		if len(text) > 20_000 {
			return
		}
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 3))}
		run, plan := progresstest.OddOf[metadata.Run](o), progresstest.SamplePlan("en")
		back := phases.RollbackPlan{Before: run, Run: run, Entry: progresstest.OddOf[metadata.Rollback](o), Paths: []string{text}, ReasonFile: text}
		s, e, p, c := oddFacts[SummaryFacts](o), oddFacts[EventFacts](o), oddFacts[PullFacts](o), progresstest.OddOf[ConfigFacts](o)
		for _, v := range []any{&run, &back.Entry, &s, &e, &p, &c} {
			progresstest.Put(o, reflect.ValueOf(v).Elem(), text)
		}
		p.Images = progresstest.OwnImages
		progresstest.CheckComment(t, seed, Comment(phases.On(plan, run), s.Links))
		for name, got := range everything(plan, run, back, s, e, p, c, text) {
			if progresstest.CheckTold(t, got); t.Failed() {
				t.Fatalf("%s:\n%.3000s", name, got)
			}
		}
		if title := PullTitle(run); strings.ContainsFunc(title, unicode.IsControl) {
			t.Errorf("not one line: %q", title)
		}
	})
}
