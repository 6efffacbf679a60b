package eval

import (
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
)

// showReviews prints for people what reviews are worth.
func (r Report) showReviews(out terminal.Report) {
	t := text.Table{Align: "lrrrrrr"}
	t.Add("variant", "found", "95 % between", "right refusals", "95 % between", "false alarms", "cost")
	for _, w := range r.Reviews {
		t.Add(w.Variant, fmt.Sprintf("%d of %d", w.Found, w.Planted), bounds(w.Recall), fmt.Sprintf("%d of %d", w.Found, w.Refusals()), bounds(w.Precision), fmt.Sprintf("%d of %d", w.Wolf, w.Good), text.USD(w.USD))
	}
	r.table(out, t)
	t = text.Table{Align: "lrrr"}
	t.Add("gate", "variant", "fails with a defect", "fails on good work")
	for _, w := range r.Reviews {
		for _, g := range w.Gates {
			t.Add(text.Cut(text.Flat(g.Gate), 60), w.Variant, fmt.Sprint(g.Planted), fmt.Sprint(g.Good))
		}
	}
	out.Line("")
	r.table(out, t)
	n := 0
	for _, w := range r.Reviews {
		for _, m := range w.Missed {
			if n++; n <= mostMisses {
				out.Line("%s", out.Red("missed: ")+w.Variant+", "+m.Case+": "+text.Flat(m.String()))
			}
		}
	}
	if n > mostMisses {
		out.Line("and %d more, see --json", n-mostMisses)
	}
	n = 0
	for _, w := range r.Reviews {
		for _, s := range w.Silent {
			if n++; n <= mostMisses {
				out.Line("%s", out.Red("no verdict, so it does not count: ")+w.Variant+", "+s.Case+": "+text.Flat(s.Why))
			}
		}
	}
	if n > mostMisses {
		out.Line("and %d more, see --json", n-mostMisses)
	}
}

// allJudged reports whether each review gave a verdict, and none is missing.
func (r Report) allJudged() bool {
	return r.Missing == 0 && !slices.ContainsFunc(r.Reviews, func(w Worth) bool { return len(w.Silent) > 0 })
}
