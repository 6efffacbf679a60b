package eval

import (
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// TestWorth counts what is found, what is refused for another reason, and false alarms.
func TestWorth(t *testing.T) {
	planted := &mutation{File: "a.go", line: 10}
	says := func(r metadata.Ruling, file string, line int) metadata.Verdict {
		v := metadata.Verdict{Verdict: r, Gates: []metadata.Gate{{Gate: "It is right.", Pass: r != metadata.Fail}}}
		if file != "" {
			v.Findings = []metadata.Finding{{File: file, Line: line}}
		}
		return v
	}
	said := func(planted *mutation, v metadata.Verdict, usd float64) result {
		r := result{trial: trial{Variant: "v"}, Review: &v, of: "c", planted: planted}
		r.Facts.Cost.USD, r.Facts.Cost.Unpriced = usd, 1
		return r
	}
	people := &mutation{}
	all := []result{
		said(planted, says(metadata.Fail, "a.go", 12), 1),
		said(planted, says(metadata.Fail, "a.go", 0), 0),
		said(planted, says(metadata.Fail, "a.go", 14), 0),
		said(planted, says(metadata.Fail, "b.go", 10), 0),
		said(planted, says(metadata.Pass, "a.go", 10), 0),
		said(planted, metadata.Verdict{}, 0),
		said(nil, says(metadata.Fail, "a.go", 10), 0),
		said(nil, says(metadata.Pass, "", 0), 1),
		{trial: trial{Variant: "other"}, planted: planted},
	}
	w := worthOf("v", all)
	seen := worthOf("v", []result{said(people, says(metadata.Fail, "", 0), 0), said(people, says(metadata.Pass, "", 0), 0), {trial: trial{Variant: "v"}, Why: "it crashed"}})
	if seen.Planted != 2 || seen.Found != 1 || seen.Good != 0 || len(seen.Silent) != 1 || seen.Missed[0].String() != "what people found in this work" {
		t.Errorf("%+v", seen)
	}
	if w.Planted != 6 || w.Found != 2 || w.Beside != 2 || w.Good != 2 || w.Wolf != 1 || w.refusals() != 5 || w.CostShort() != "$0.25+?" || len(w.Missed) != 4 {
		t.Errorf("%+v", w)
	}
	if !w.Recall.holds(2.0/6) || !w.Precision.holds(2.0/5) || w.Recall.holds(0.9) {
		t.Errorf("recall %v, precision %v", w.Recall, w.Precision)
	}
}
