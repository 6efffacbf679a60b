package eval

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
)

// Report is what an evaluation has found out, for programs.
type Report struct {
	Suite       string       `json:"suite"`
	Variants    []Score      `json:"variants"`
	Cases       []Score      `json:"cases"`
	Comparisons []Comparison `json:"comparisons"`
	Results     []Result     `json:"results"`
	Missing     int          `json:"missing"`           // trials that are not over
	Short       bool         `json:"budget_ended"`      // before all were over
	Unanswered  []string     `json:"unanswered"`        // trials that are not over, as no service answered, and why
	USD         float64      `json:"cost_usd"`          // of all that are over
	Folder      string       `json:"results_in"`        // where the results are kept
	Earlier     int          `json:"taken_earlier"`     // results that were there already
	Replayed    bool         `json:"replayed"`          // with recorded answers: the costs are those of the recording
	Reviews     []Worth      `json:"reviews,omitempty"` // of --review: what those of each variant are worth
}

// reportOn sums up results of a suite, of which so many trials were asked for.
func reportOn(s *Suite, all []Result, asked int) Report {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Result) int { return a.Trial.order(b.Trial) })
	r := Report{Suite: s.dir, Variants: []Score{}, Cases: []Score{}, Results: text.List(all), Missing: asked - len(all)}
	var names []string
	for _, v := range s.Variants {
		names = append(names, v.Name)
		r.Variants = append(r.Variants, scoreOf(all, v.Name, ""))
	}
	for _, c := range s.Cases {
		for _, v := range s.Variants {
			r.Cases = append(r.Cases, scoreOf(all, v.Name, c.Name))
		}
	}
	r.Comparisons = compare(all, names)
	for _, one := range all {
		r.USD += one.Facts.Cost.USD
	}
	return r
}

// allSolved reports whether every trial was solved, and none is missing.
func (r Report) allSolved() bool {
	for _, one := range r.Results {
		if !one.Solved {
			return false
		}
	}
	return r.Missing == 0
}

// show prints the report for people.
func (r Report) show(out terminal.Report) {
	if r.Reviews != nil {
		r.showReviews(out)
	} else {
		r.showCases(out)
	}
	r.showEnd(out)
}

// showCases prints what was solved.
func (r Report) showCases(out terminal.Report) {
	t := text.Table{Align: "lrrrrrr"}
	t.Add("variant", "solved", "95 % between", "cost", "time", "calls", "revises")
	for _, s := range r.Variants {
		t.Add(s.Variant, s.share(), bounds(s.Share), text.USD(s.USD), took(s.Seconds), decimal(s.Calls), decimal(s.Revises))
	}
	r.table(out, t)
	t = text.Table{Align: "llrrrrr"}
	t.Add("case", "variant", "solved", "cost", "time", "calls", "revises")
	before := ""
	for _, s := range r.Cases {
		t.Add(text.If(s.Case != before, s.Case), s.Variant, s.share(), text.USD(s.USD), took(s.Seconds), decimal(s.Calls), decimal(s.Revises))
		before = s.Case
	}
	out.Line("")
	r.table(out, t)
	out.Line("")
	for _, c := range r.Comparisons {
		out.Line("%s", c)
	}
	few(out, "not solved: ", r.misses())
}

// showEnd prints what is said of every evaluation.
func (r Report) showEnd(out terminal.Report) {
	if stale := r.stale(); len(stale) > 0 {
		out.Line("%s", out.Yellow(fmt.Sprintf("Stale: %s. What was recorded answers other prompts; record it anew: reprise eval %s --record --fresh", strings.Join(stale, ", "), text.QuoteShell(r.Suite))))
	}
	if r.Replayed {
		out.Line("%s with recorded answers, which had cost %s; now nothing was spent", text.Plural(len(r.Results), "run"), text.USD(r.USD))
	} else {
		out.Line("%s, %s in all; the results are in %s", text.Plural(len(r.Results), "run"), text.USD(r.USD), r.Folder)
	}
	few(out, "not over: ", r.Unanswered)
	if r.Missing > 0 {
		why := "the same command goes on with them"
		if r.Short {
			why = "the budget has less left than they cost; with a larger --budget-usd the same command goes on with them"
		}
		out.Line("%s", out.Yellow(fmt.Sprintf("This is a part: %s not over (%s)", text.Plural(r.Missing, "run")+text.If(r.Missing == 1, " is")+text.If(r.Missing != 1, " are"), why)))
	}
}

// stale names the cases with a run that asks otherwise than it was recorded.
func (r Report) stale() (cases []string) {
	for _, one := range r.Results {
		if len(one.Stale) > 0 && !slices.Contains(cases, one.Case) {
			cases = append(cases, one.Case)
		}
	}
	slices.Sort(cases)
	return cases
}

func (r Report) table(out terminal.Report, t text.Table) {
	out.Fitted(&t, func(i int, line string) string {
		if i == 0 {
			return out.Faint(line)
		}
		return line
	})
}

// few prints what is to be told, as far as people read it, each behind a word that says why.
func few(out terminal.Report, why string, all []string) {
	const most = 20
	for _, one := range all[:min(len(all), most)] {
		out.Line("%s", out.Red(why)+text.Flat(one))
	}
	if more := len(all) - most; more > 0 {
		out.Line("and %d more, see --json", more)
	}
}

// misses says, for each case and variant, why the first run that is not solved is not.
func (r Report) misses() (all []string) {
	for _, s := range r.Cases {
		at := slices.IndexFunc(r.Results, func(one Result) bool { return one.Variant == s.Variant && one.Case == s.Case && !one.Solved })
		if at >= 0 {
			one := r.Results[at]
			all = append(all, one.Trial.String()+": "+one.Misses[0]+text.If(len(one.Misses) > 1, fmt.Sprintf(" (and %d more)", len(one.Misses)-1)))
		}
	}
	return all
}

// share writes "18 of 20".
func (s Score) share() string { return fmt.Sprintf("%d of %d", s.Solved, s.Runs) }

// bounds writes "64 and 95 %".
func bounds(i Interval) string { return fmt.Sprintf("%.0f and %.0f %%", 100*i.Low, 100*i.High) }

func took(seconds float64) string {
	return text.Duration(time.Duration(seconds * float64(time.Second)))
}

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// String says in a sentence what can be seen.
func (c Comparison) String() string {
	if c.Runs == 0 {
		return fmt.Sprintf("%s and %s: no case was run by both", c.First, c.Second)
	}
	if !c.Differs {
		return fmt.Sprintf("%s and %s: no difference can be seen with %s of each", c.First, c.Second, text.Plural(c.Runs, "run"))
	}
	better, more := c.First, c.More
	if more < 0 {
		better, more = c.Second, -more
	}
	return fmt.Sprintf("%s and %s: %s solves %d of %s more", c.First, c.Second, better, more, text.Plural(c.Runs, "run"))
}
