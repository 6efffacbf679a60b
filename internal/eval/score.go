package eval

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// nearby is how many lines away from a defect a finding still names it.
const nearby = 3

// fails reports whether the review refuses the work.
func (r result) fails() bool { return r.Review != nil && r.Review.Verdict == metadata.Fail }

// finds reports whether the review refuses the work and names the defect: its file, and if it names a line,
// one close by. Of one that people found, a refusal is enough.
func (r result) finds() bool {
	return r.fails() && (r.planted.File == "" || slices.ContainsFunc(r.Review.Findings, func(f metadata.Finding) bool {
		return f.File == r.planted.File && (f.Line == 0 || max(f.Line-r.planted.line, r.planted.line-f.Line) <= nearby)
	}))
}

// worth is what the reviews of a variant came to.
type worth struct {
	Variant string `json:"variant"`
	Planted int    `json:"planted"`
	Found   int    `json:"found"`     // refused, and the defect was named
	Beside  int    `json:"beside"`    // refused with the defect there, for another reason
	Good    int    `json:"good_work"` // reviews of it
	Wolf    int    `json:"cried_wolf"`
	// Recall is the share of defects that are found; Precision that of refusals that are
	// right. With bounds of 95 % by Wilson.
	Recall       interval `json:"recall_interval"`
	Precision    interval `json:"precision_interval"`
	view.Dollars          // of a review, in the mean; all that nobody knows
	Missed       []missed `json:"missed"`
	Silent       []silent `json:"no_verdict"` // reviews that count nowhere else
}

func (w worth) refusals() int { return w.Found + w.Beside + w.Wolf }

// mutation is a mistake that is planted: one text in a file in place of another. Without a file it is
// one that nobody planted: people found it in work that a review had accepted.
type mutation struct {
	File    string `json:"file"` // from the top of the repository
	Find    string `json:"find"` // is there once
	Replace string `json:"replace"`
	line    int    // counts from 1
}

// String says where the mistake is and what is planted there, or that people found it.
func (m mutation) String() string {
	if m.File == "" {
		return "what people found in this work"
	}
	return fmt.Sprintf("%s:%d: %s in place of %s", m.File, m.line, strings.TrimSpace(m.Replace), strings.TrimSpace(m.Find))
}

// missed is a defect that a review did not find.
type missed struct {
	Case string `json:"case"`
	mutation
}

// silent is a review that gave no verdict.
type silent struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

// worthOf sums up the reviews of a variant.
func worthOf(variant string, all []result) worth {
	w := worth{Variant: variant, Missed: []missed{}, Silent: []silent{}}
	n := 0
	for _, r := range all {
		if r.Variant != variant {
			continue
		}
		n++
		w.Dollars = w.Plus(r.Facts.dollars())
		switch {
		case r.Why != "":
			w.Silent = append(w.Silent, silent{r.of, r.Why})
		case r.planted == nil:
			w.Good++
			if r.fails() {
				w.Wolf++
			}
		case r.finds():
			w.Planted, w.Found = w.Planted+1, w.Found+1
		default:
			w.Planted++
			if r.fails() {
				w.Beside++
			}
			w.Missed = append(w.Missed, missed{r.of, *r.planted})
		}
	}
	w.Recall, w.Precision, w.USD = wilson(w.Found, w.Planted), wilson(w.Found, w.refusals()), w.USD/float64(max(1, n))
	return w
}

// score is what a variant came to, over all cases or in one.
type score struct {
	Variant string   `json:"variant"`
	Case    string   `json:"case,omitempty"` // empty: all
	Solved  int      `json:"solved"`
	Runs    int      `json:"runs"`
	Share   interval `json:"solved_interval"` // 95 % by Wilson, of all runs like these
	// Means of a run, but for the calls that nobody knows a cost of.
	view.Dollars
	Seconds float64 `json:"seconds"` // of agents and checks
	Calls   float64 `json:"calls"`
	Revises float64 `json:"revises"`
}

// scoreOf sums up the results of a variant, in one case or, without a name, in all.
func scoreOf(all []result, variant, name string) score {
	s := score{Variant: variant, Case: name}
	for _, r := range all {
		if r.Variant != variant || name != "" && r.Case != name {
			continue
		}
		s.Runs++
		if r.Solved {
			s.Solved++
		}
		s.Dollars = s.Plus(r.Facts.dollars())
		s.Seconds += r.Facts.Seconds
		s.Calls += float64(r.Facts.Attempts)
		s.Revises += float64(r.Facts.Revises)
	}
	s.Share = wilson(s.Solved, s.Runs)
	n := float64(max(1, s.Runs))
	s.USD, s.Seconds, s.Calls, s.Revises = s.USD/n, s.Seconds/n, s.Calls/n, s.Revises/n
	return s
}

// comparison is two variants in the runs that both have done.
type comparison struct {
	First   string `json:"first"`
	Second  string `json:"second"`
	Runs    int    `json:"runs"`        // of each
	More    int    `json:"solved_more"` // runs that the first solves more than the second
	Differs bool   `json:"differs"`     // one can be seen to solve more: the intervals of their shares are apart
}

// compare compares each variant with each that comes after it.
func compare(all []result, variants []string) []comparison {
	at := map[trial]result{}
	for _, r := range all {
		at[r.trial] = r
	}
	out := []comparison{}
	for i, first := range variants {
		for _, second := range variants[i+1:] {
			c, solved := comparison{First: first, Second: second}, [2]int{}
			for _, a := range all {
				b, both := at[trial{second, a.Case, a.Run}]
				if a.Variant != first || !both {
					continue
				}
				c.Runs++
				for i, r := range []result{a, b} {
					if r.Solved {
						solved[i]++
					}
				}
			}
			c.More, c.Differs = solved[0]-solved[1], wilson(solved[0], c.Runs).apart(wilson(solved[1], c.Runs))
			out = append(out, c)
		}
	}
	return out
}

// z is the quantile of the normal distribution that leaves 5 % outside.
const z = 1.959963984540054

// interval is where a figure lies with 95 % confidence.
type interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// wilson gives Wilson's score interval of a share of which k of n were seen, which also holds for few runs
// and near 0 and 1.
func wilson(k, n int) interval {
	if n == 0 {
		return interval{0, 1}
	}
	share, runs := float64(k)/float64(n), float64(n)
	middle := share + z*z/(2*runs)
	half := z * math.Sqrt(share*(1-share)/runs+z*z/(4*runs*runs))
	whole := 1 + z*z/runs
	i := interval{max(0, (middle-half)/whole), min(1, (middle+half)/whole)}
	if k == 0 {
		i.Low = 0 // which rounding may miss
	}
	if k == n {
		i.High = 1
	}
	return i
}

// apart reports whether two intervals have nothing in common.
func (i interval) apart(o interval) bool { return i.High < o.Low || o.High < i.Low }

// showReviews prints for people what reviews are worth.
func (r report) showReviews(out terminal.Report) {
	t := text.Table{Align: "lrrrrrr"}
	t.Add("variant", "found", "95 % between", "right refusals", "95 % between", "false alarms", "cost")
	for _, w := range r.Reviews {
		t.Add(w.Variant, fmt.Sprintf("%d of %d", w.Found, w.Planted), bounds(w.Recall), fmt.Sprintf("%d of %d", w.Found, w.refusals()), bounds(w.Precision), fmt.Sprintf("%d of %d", w.Wolf, w.Good), w.CostShort())
	}
	out.Fitted(&t, out.Heads)
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
