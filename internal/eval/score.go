package eval

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// nearby is how many lines away from a defect a finding still names it.
const nearby = 3

// fails reports whether the review refuses the work.
func (r Result) fails() bool { return r.Review != nil && r.Review.Verdict == metadata.Fail }

// finds reports whether the review refuses the work and names the defect: its file, and if it names a line,
// one close by. Of one that people found, a refusal is enough.
func (r Result) finds() bool {
	return r.fails() && (r.planted.File == "" || slices.ContainsFunc(r.Review.Findings, func(f metadata.Finding) bool {
		return f.File == r.planted.File && (f.Line == 0 || max(f.Line-r.planted.line, r.planted.line-f.Line) <= nearby)
	}))
}

// Worth is what the reviews of a variant came to.
type Worth struct {
	Variant string `json:"variant"`
	Planted int    `json:"planted"`
	Found   int    `json:"found"`     // refused, and the defect was named
	Beside  int    `json:"beside"`    // refused with the defect there, for another reason
	Good    int    `json:"good_work"` // reviews of it
	Wolf    int    `json:"cried_wolf"`
	// Recall is the share of defects that are found; Precision that of refusals that are
	// right. With bounds of 95 % by Wilson.
	Recall    Interval `json:"recall_interval"`
	Precision Interval `json:"precision_interval"`
	USD       float64  `json:"cost_usd"` // of a review, in the mean
	Missed    []Missed `json:"missed"`
	Silent    []Silent `json:"no_verdict"` // reviews that count nowhere else
}

// Refusals counts the reviews that refused the work.
func (w Worth) Refusals() int { return w.Found + w.Beside + w.Wolf }

// Mutation is a mistake that is planted: one text in a file in place of another. Without a file it is
// one that nobody planted: people found it in work that a review had accepted.
type Mutation struct {
	File    string `json:"file"` // from the top of the repository
	Find    string `json:"find"` // is there once
	Replace string `json:"replace"`
	line    int    // counts from 1
}

// String says where the mistake is and what is planted there, or that people found it.
func (m Mutation) String() string {
	if m.File == "" {
		return "what people found in this work"
	}
	return fmt.Sprintf("%s:%d: %s in place of %s", m.File, m.line, strings.TrimSpace(m.Replace), strings.TrimSpace(m.Find))
}

// Missed is a defect that a review did not find.
type Missed struct {
	Case string `json:"case"`
	Mutation
}

// Silent is a review that gave no verdict.
type Silent struct {
	Case string `json:"case"`
	Why  string `json:"why"`
}

// worthOf sums up the reviews of a variant.
func worthOf(variant string, all []Result) Worth {
	w := Worth{Variant: variant, Missed: []Missed{}, Silent: []Silent{}}
	n := 0
	for _, r := range all {
		if r.Variant != variant {
			continue
		}
		n++
		w.USD += r.Facts.Cost.USD
		switch {
		case r.Why != "":
			w.Silent = append(w.Silent, Silent{r.of, r.Why})
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
			w.Missed = append(w.Missed, Missed{r.of, *r.planted})
		}
	}
	w.Recall, w.Precision, w.USD = wilson(w.Found, w.Planted), wilson(w.Found, w.Refusals()), w.USD/float64(max(1, n))
	return w
}
