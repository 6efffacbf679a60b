package report

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts"
)

//go:embed evaluation.html
var evaluationText string

// Evaluation is what the page of an evaluation tells.
type Evaluation struct {
	Language    string // en or ja; empty: en
	Suite       string // its name
	Variants    []Scored
	Cases       []Scored     // those of a case beside each other
	Comparisons []Comparison // of variants
	Unsolved    []Unsolved
	Runs        int
	USD         float64   // of all runs
	Missing     int       // runs that are not over
	Replayed    bool      // with recorded answers
	At          time.Time // when the page is made
}

// Scored is what a variant came to, over all cases or in one.
type Scored struct {
	Case, Variant string // without a case: all
	Solved, Runs  int
	Low, High     float64 // bounds of the share that is solved, from 0 to 1
	// Means of a run.
	USD, Seconds, Calls, Revises float64
}

// Comparison is two variants, run by run.
type Comparison struct {
	First, Second         string
	Pairs                 int // runs of both
	OnlyFirst, OnlySecond int // solved by one alone
	P                     float64
	Differs               bool // one can be seen to solve more
	// What a run of the first costs more, and between which bounds that lies, if one can
	// be seen to cost more.
	CostDiffers    bool
	USD, Low, High float64
}

// Unsolved is a run that is not solved, and why.
type Unsolved struct {
	Case, Variant string
	Run           int
	Stale         bool // what was recorded does not answer its prompts
	Misses        []string
}

// mostUnsolved is of how many runs the page tells why they are not solved.
const mostUnsolved = 200

// WriteEvaluation writes the page of an evaluation.
func WriteEvaluation(w io.Writer, e Evaluation) error {
	return write(w, evaluationText, newEvaluationView(e))
}

// evaluationView is the page of an evaluation as the template writes it.
type evaluationView struct {
	W           words
	Policy      string
	Style       template.CSS
	Title       string
	Facts       []fact
	Note        string
	Variants    []scored
	Comparisons []compared
	Cases       []scoredCase
	Unsolved    []unsolved
	More, Made  string
}

// scored is a row of a table of variants. Its bar is 1000 wide.
type scored struct {
	Name, Share, Between, USD, Took, Calls, Revises string
	Class                                           string // of the share
	From, Wide, At                                  string // the interval, and the share in it
}

type scoredCase struct {
	Name     string
	Variants []scored
}

type compared struct{ Class, Names, Solved, Cost string }

type unsolved struct {
	Badge  badge
	Name   string
	Misses []string
}

func newEvaluationView(e Evaluation) evaluationView {
	w := words{Catalogue: prompts.Words(e.Language)}
	v := evaluationView{
		W: w, Policy: policy(), Style: template.CSS(styleText),
		Title: w.Shown("eval title", "suite", line(e.Suite, 100)),
		Facts: []fact{{w.Shown("eval runs"), text.Tokens(int64(e.Runs)), ""}, {w.Cost, text.USD(e.USD), ""}},
		Made:  w.Shown("page made", "when", text.Clock(e.At)),
	}
	if e.Missing > 0 {
		v.Facts = append(v.Facts, fact{w.Shown("eval missing"), text.Tokens(int64(e.Missing)), ""})
	}
	if e.Replayed {
		v.Note = w.Shown("eval replayed")
	}
	for _, s := range e.Variants {
		v.Variants = append(v.Variants, scoredOf(w, s))
	}
	for _, s := range e.Cases {
		if n := len(v.Cases); n == 0 || v.Cases[n-1].Name != line(s.Case, 60) {
			v.Cases = append(v.Cases, scoredCase{Name: line(s.Case, 60)})
		}
		of := &v.Cases[len(v.Cases)-1]
		of.Variants = append(of.Variants, scoredOf(w, s))
	}
	for _, c := range e.Comparisons {
		v.Comparisons = append(v.Comparisons, comparedOf(w, c))
	}
	for i, u := range e.Unsolved {
		if i == mostUnsolved {
			v.More = w.Shown("eval more", "n", len(e.Unsolved)-i)
			break
		}
		one := unsolved{badge{"bad", w.Shown("eval not solved")}, line(u.Case, 60) + ", " + line(u.Variant, 60) + " #" + strconv.Itoa(u.Run), nil}
		if u.Stale {
			one.Badge = badge{"open", w.Shown("eval stale")}
		}
		for _, m := range u.Misses {
			one.Misses = append(one.Misses, paragraph(m))
		}
		v.Unsolved = append(v.Unsolved, one)
	}
	return v
}

func scoredOf(w words, s Scored) scored {
	out := scored{
		Name: line(s.Variant, 60), Share: fmt.Sprintf("%d/%d", s.Solved, s.Runs),
		Between: w.Shown("eval between", "low", percent(s.Low), "high", percent(s.High)),
		USD:     text.USD(s.USD), Took: text.Duration(time.Duration(s.Seconds * float64(time.Second))),
		Calls: decimal(s.Calls), Revises: decimal(s.Revises), Class: "open",
		From: decimal(1000 * s.Low), Wide: decimal(1000 * max(0, s.High-s.Low)), At: "0.0",
	}
	if s.Runs > 0 {
		out.At = decimal(986 * float64(s.Solved) / float64(s.Runs)) // the mark is 14 wide
	}
	switch {
	case s.Solved == s.Runs && s.Runs > 0:
		out.Class = "good"
	case s.Solved == 0:
		out.Class = "bad"
	}
	return out
}

func comparedOf(w words, c Comparison) compared {
	out := compared{Class: "none", Names: line(c.First, 60) + " – " + line(c.Second, 60)}
	p := "= " + strconv.FormatFloat(c.P, 'f', 3, 64)
	if c.P < 0.001 {
		p = "< 0.001"
	}
	switch {
	case c.Pairs == 0:
		out.Solved = w.Shown("eval no pairs")
		return out
	case c.Differs:
		better, alone, other := c.First, c.OnlyFirst, c.OnlySecond
		if c.OnlySecond > c.OnlyFirst {
			better, alone, other = c.Second, c.OnlySecond, c.OnlyFirst
		}
		out.Class = "good"
		out.Solved = w.Shown("eval better", "variant", line(better, 60), "alone", alone, "other", other, "n", c.Pairs, "p", p)
	default:
		out.Solved = w.Shown("eval no difference", "n", c.Pairs, "p", p)
	}
	out.Cost = w.Shown("eval same cost")
	if c.CostDiffers {
		dearer, more, low, high := c.First, c.USD, c.Low, c.High
		if more < 0 {
			dearer, more, low, high = c.Second, -more, -high, -low
		}
		out.Cost = w.Shown("eval dearer", "variant", line(dearer, 60), "usd", text.USD(more), "low", text.USD(low), "high", text.USD(high))
	}
	return out
}

func percent(share float64) string { return fmt.Sprintf("%.0f", 100*share) }

func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
