package eval

import (
	"fmt"

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
	out.Line("")
	var missed, silent []string
	for _, w := range r.Reviews {
		for _, m := range w.Missed {
			missed = append(missed, w.Variant+", "+m.Case+": "+m.String())
		}
		for _, s := range w.Silent {
			silent = append(silent, w.Variant+", "+s.Case+": "+s.Why)
		}
	}
	few(out, "missed: ", missed)
	few(out, "no verdict, so it does not count: ", silent)
}
