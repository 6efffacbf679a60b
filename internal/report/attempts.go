package report

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// attempt is one call of an agent or one run of checks, with the rollbacks that
// came right before it.
type attempt struct {
	N       int
	Back    []rollback // before it
	Phase   string
	Step    string
	Outcome badge
	Class   string // for the colour of its edge
	Round   string
	Facts   []string
	Why     string
	Refused string // hosts that its network does not have
	Allow   string // what would open it to them
	Stderr  string
	Diff    diff
	Talk    talk
	Void    bool // its phase was taken back since
}

func attemptsOf(w words, f Facts) []attempt {
	space, of := &space{remaining: mostOfAll}, map[int][]Change{}
	for _, c := range f.Changes {
		of[c.Attempt] = append(of[c.Attempt], c)
	}
	back := rollbacksOf(w, f.Run)
	var all []attempt
	for _, a := range f.Run.Attempts {
		one := attemptOf(w, f.Run, a)
		one.Stderr = space.take(lastLines(a.Stderr))
		one.Diff = diffOf(w, of[a.N], space)
		for len(back) > 0 && !back[0].at.After(a.StartedAt) {
			one.Back, back = append(one.Back, back[0]), back[1:]
		}
		all = append(all, one)
	}
	talks := talksOf(w, f.Transcripts, space.remaining)
	for i := range all {
		all[i].Talk = talks[all[i].N]
	}
	return all
}

func attemptOf(w words, run metadata.Run, a metadata.Attempt) attempt {
	result := string(a.Status)
	outcome := badge{class(result), w.status(result)}
	if a.Verdict != "" {
		outcome = badge{class(string(a.Verdict)), w.word("verdicts", string(a.Verdict))}
	}
	rec := run.Phase(a.Phase)
	one := attempt{
		N: a.N, Phase: w.phase(a.Phase), Step: w.word("steps", string(a.Step)), Outcome: outcome, Class: outcome.Class,
		Facts: figuresOf(w, a), Why: whyOf(w, a),
		Refused: line(a.Refused, mostOfHosts), Allow: line(view.Allowing(a), mostOfHosts),
		Void: rec != nil && a.Generation < rec.Generation,
	}
	if a.Round > 0 && a.Round < 1000 {
		one.Round = w.Say("round", "n", a.Round+1) // the record counts those before
	}
	return one
}

// mostOfHosts is how much is shown of hosts, in cells.
const mostOfHosts = 1000

// why says why an attempt did not succeed.
func whyOf(w words, a metadata.Attempt) string {
	code := cmp.Or(string(a.Class), string(a.Code))
	return text.Join(": ", line(code, 60), paragraph(a.Why.In(w.Catalogue)))
}

// figures are who did an attempt and what it took.
func figuresOf(w words, a metadata.Attempt) []string {
	all := []string{line(text.Join(" ", a.Agent, text.If(a.Model != "", "("+a.Model+")")), 100), text.Clock(a.StartedAt), text.Duration(took(a))}
	if n := a.Usage.InputTokens + a.Usage.OutputTokens; n > 0 {
		all = append(all, w.Shown("page tokens of", "n", text.Tokens(n)))
	}
	if a.Usage.CachedTokens > 0 {
		all = append(all, w.Shown("page cached of", "n", text.Tokens(a.Usage.CachedTokens)))
	}
	if a.Usage.USD > 0 {
		all = append(all, text.USD(a.Usage.USD))
	}
	if a.Usage.Unknown {
		all = append(all, w.Shown("unpriced", "n", 1))
	}
	if a.Usage.ByGate {
		all = append(all, w.Shown("page by gate"))
	}
	if a.Usage.Turns > 0 {
		all = append(all, w.Shown("page turns", "n", fmt.Sprint(a.Usage.Turns)))
	}
	all = append(all, text.If(a.Resumed, w.Shown("resumed")))
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func took(a metadata.Attempt) time.Duration {
	return time.Duration(min(max(a.DurationMS, 0), mostTime.Milliseconds())) * time.Millisecond
}

// mostTime is more than any attempt takes; a record that says more is wrong.
const mostTime = 30 * 24 * time.Hour
