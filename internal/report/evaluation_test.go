package report

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/prompts"
)

func evaluationOf(t testing.TB, e Evaluation) string {
	t.Helper()
	var page bytes.Buffer
	if err := WriteEvaluation(&page, e); err != nil {
		t.Fatal(err)
	}
	return page.String()
}

// sampleEvaluation compares three variants in two cases, and has a text wherever one comes
// from outside.
func sampleEvaluation(language, evil string) Evaluation {
	e := Evaluation{
		Language: language, Suite: "examples " + evil, Runs: 60, USD: 4.5, Missing: 3, Replayed: true, At: time.Unix(1000, 0).UTC(),
		Comparisons: []Comparison{
			{First: "good", Second: "half", Pairs: 20, OnlyFirst: 1, OnlySecond: 12, P: 0.0004, Differs: true, CostDiffers: true, USD: -0.05, Low: -0.06, High: -0.04},
			{First: "good", Second: evil, Pairs: 20, P: 0.754},
			{First: "half", Second: "none"},
		},
		Unsolved: []Unsolved{{"go-clamp", "half", 2, false, []string{"hidden: ended with 1: " + evil}}, {"js-sum", "good", 1, true, []string{"stale: x"}}},
	}
	for i, v := range []string{"good", "half", evil} {
		e.Variants = append(e.Variants, Scored{"", v, 20 - 10*i, 20, 0.6 - 0.3*float64(i), 1 - 0.3*float64(i), 0.07, 61, 2, 0.5})
	}
	for _, c := range []string{"go-clamp", evil} {
		for _, s := range e.Variants {
			s.Case = c
			e.Cases = append(e.Cases, s)
		}
	}
	return e
}

// The page of an evaluation says what was found, in both languages, and shows a hostile
// text as a text.
func TestEvaluation(t *testing.T) {
	for _, language := range prompts.Languages() {
		for _, evil := range hostile {
			checkPage(t, evaluationOf(t, sampleEvaluation(language, evil)))
		}
		page := evaluationOf(t, sampleEvaluation(language, "</pre><script>alert(1)</script> \x1b[2J"))
		shown := textsOf(t, page)
		want := map[string][]string{
			"en": {
				"Evaluation of examples </pre><script>alert(1)", "20/20", "60 to 100 %", "half solves more: of 20 runs it alone solves 12, the other alone 1 (p < 0.001).",
				"half costs $0.05 more for a run ($0.04 to $0.06).", "No difference can be seen with 20 runs (p = 0.754).", "No case was run by both.", "Stale", "nothing was spent now",
			},
			"ja": {"の評価", "実行 20 件では違いは見られません (p = 0.754)。", "記録が古い", "終わっていない実行"},
		}[language]
		for _, w := range append(want, "</script> ␛[2J") {
			if !strings.Contains(shown, w) {
				t.Errorf("%s: the page does not say %q", language, w)
			}
		}
		if n := strings.Count(page, "<h3>"); n != 2 {
			t.Errorf("%s: there are %d cases", language, n)
		}
		if missing := regexp.MustCompile(`\{[a-z]+[|}]`).FindString(shown); missing != "" {
			t.Errorf("%s: the page has %q instead of a value", language, missing)
		}
	}
	checkPage(t, evaluationOf(t, Evaluation{})) // of nothing
}

// TestManyUnsolved says how many it leaves out.
func TestManyUnsolved(t *testing.T) {
	e := Evaluation{}
	for i := range mostUnsolved + 7 {
		e.Unsolved = append(e.Unsolved, Unsolved{Case: fmt.Sprintf("case-%d", i), Variant: "a", Run: 1})
	}
	if shown := textsOf(t, evaluationOf(t, e)); !strings.Contains(shown, "7 runs are left out here") || strings.Contains(shown, "case-200") {
		t.Error("the page does not say how many are left out")
	}
}
