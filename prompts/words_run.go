package prompts

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/prompts/clean"
)

// Stop ends a sentence.
func (c Catalogue) Stop() string { return c.Forms.Stop }

// Headline says where a run is: phase n of m, by name, and the step.
func (c Catalogue) Headline(n, m int, phase, step string) string {
	return fill(c.Forms.Headline, "n", strconv.Itoa(n), "m", strconv.Itoa(m), "phase", phase, "step", Word(c.Steps, step))
}

// Round names a round of review, counted from 1.
func (c Catalogue) Round(n int) string { return fill(c.Forms.Round, "n", strconv.Itoa(n)) }

// Spent says what was spent, in US dollars, of which budget; a budget of 0 is
// none. An estimated amount is marked so.
func (c Catalogue) Spent(usd, budget float64, estimated bool) string {
	amount := fmt.Sprintf("$%.2f", usd)
	switch {
	case usd > 0 && usd < 0.005:
		amount = "<$0.01"
	case estimated:
		amount = fill(c.Forms.About, "usd", amount)
	}
	if budget == 0 {
		return fill(c.Forms.Spent, "usd", amount)
	}
	return fill(c.Forms.SpentOf, "usd", amount, "budget", fmt.Sprintf("$%.2f", budget))
}

// Tokens says how many tokens went in and out.
func (c Catalogue) Tokens(in, out int64) string {
	return fill(c.Forms.Tokens, "in", strconv.FormatInt(in, 10), "out", strconv.FormatInt(out, 10))
}

// Duration says how long something took, to the second, or to the minute from
// an hour on.
func (c Catalogue) Duration(d time.Duration) string {
	s := int(max(0, d).Round(time.Second) / time.Second)
	h, m, s := s/3600, s/60%60, s%60
	form := c.Forms.Seconds
	switch {
	case h > 0:
		form = c.Forms.Hours
	case m > 0:
		form = c.Forms.Minutes
	}
	return fill(form, "h", strconv.Itoa(h), "m", strconv.Itoa(m), "s", strconv.Itoa(s))
}

// Roughly says about how long something takes, to the minute.
func (c Catalogue) Roughly(d time.Duration) string {
	m := max(1, int(d.Round(time.Minute)/time.Minute))
	if m >= 60 {
		return c.Duration(time.Duration(m) * time.Minute)
	}
	return fill(c.Forms.WholeMinutes, "m", strconv.Itoa(m))
}

// OpenFindings counts what is open.
func (c Catalogue) OpenFindings(blockers, suggestions int) string {
	return fill(c.Forms.Open, "blockers", strconv.Itoa(blockers), "suggestions", strconv.Itoa(suggestions))
}

// RolledBack is one entry of the history of rollbacks, without its reason.
// An empty by is a person whose name is not known; with automatic it is the
// person who has asked the agent that took the run back.
func (c Catalogue) RolledBack(from, to, toStep, by string, automatic bool) string {
	form := c.Forms.RolledBackBy
	switch {
	case automatic && by != "":
		form = c.Forms.RolledBackAsked
	case automatic:
		form = c.Forms.Automatic
	case by == "":
		form = c.Forms.RolledBack
	}
	return fill(form, "from", from, "to", to, "step", Word(c.Steps, toStep), "by", by)
}

// WaitingFor says for whom a phase waits: a role, or any person if empty.
func (c Catalogue) WaitingFor(role, phase string) string {
	if role == "" {
		return fill(c.Forms.WaitingFor, "phase", phase)
	}
	return fill(c.Forms.WaitingForRole, "role", role, "phase", phase)
}

// RemovedFrom lists what was taken out of a text, one line for each kind.
func (c Catalogue) RemovedFrom(removed []clean.Removal) []string {
	var lines []string
	for _, r := range removed {
		lines = append(lines, fill(c.Forms.Removal, "kind", Word(c.Kinds, string(r.Kind)), "count", strconv.Itoa(r.Count), "sample", r.Sample))
	}
	return lines
}

// Explain says what a reason code means and what to do.
func (c Catalogue) Explain(code string) Advice {
	if a, ok := c.Codes[code]; ok {
		return a
	}
	return Advice{fill(c.Forms.UnknownCode.Meaning, "code", code), c.Forms.UnknownCode.Do}
}

// List puts names into one line.
func (c Catalogue) List(items []string) string { return strings.Join(items, c.Forms.Listed) }

// Sentences puts reasons into one line.
func (c Catalogue) Sentences(all []string) string { return strings.Join(all, c.Forms.Sentences) }

// Word gives the word for a key, or for one without a word the key.
func Word(words map[string]string, key string) string {
	if w, ok := words[key]; ok {
		return w
	}
	return key
}
