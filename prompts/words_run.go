package prompts

import (
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/prompts/clean"
)

// Stop ends a sentence.
func (c Catalogue) Stop() string { return c.Say("stop") }

// Headline says where a run is: phase n of m, by name, and the step.
func (c Catalogue) Headline(n, m int, phase, step string) string {
	return c.Say("headline", "n", n, "m", m, "phase", phase, "step", c.Word("steps", step))
}

// Spent says what was spent, in US dollars, of which budget; a budget of 0 is
// none. An estimated amount is marked so.
func (c Catalogue) Spent(usd, budget float64, estimated bool) string {
	amount := fmt.Sprintf("$%.2f", usd)
	switch {
	case usd > 0 && usd < 0.005:
		amount = "<$0.01"
	case estimated:
		amount = c.Say("about", "usd", amount)
	}
	if budget == 0 {
		return c.Say("spent", "usd", amount)
	}
	return c.Say("spentOf", "usd", amount, "budget", fmt.Sprintf("$%.2f", budget))
}

// Duration says how long something took, to the second, or to the minute from
// an hour on.
func (c Catalogue) Duration(d time.Duration) string {
	s := int(max(0, d).Round(time.Second) / time.Second)
	h, m, s := s/3600, s/60%60, s%60
	form := "seconds"
	switch {
	case h > 0:
		form = "hours"
	case m > 0:
		form = "minutes"
	}
	return c.Say(form, "h", h, "m", m, "s", s)
}

// RolledBack is one entry of the history of rollbacks, without its reason. By is the person, or with
// automatic the one who has asked the agent; empty: not known.
func (c Catalogue) RolledBack(from, to, toStep, by string, automatic bool) string {
	form := "rolledBackBy"
	switch {
	case automatic && by != "":
		form = "rolledBackAsked"
	case automatic:
		form = "automatic"
	case by == "":
		form = "rolledBack"
	}
	return c.Say(form, "from", from, "to", to, "step", c.Word("steps", toStep), "by", by)
}

// WaitingFor says for whom a phase waits: a role, or any person if empty.
func (c Catalogue) WaitingFor(role, phase string) string {
	if role == "" {
		return c.Say("waitingFor", "phase", phase)
	}
	return c.Say("waitingForRole", "role", role, "phase", phase)
}

// RemovedFrom lists what was taken out of a text, one line for each kind.
func (c Catalogue) RemovedFrom(removed []clean.Removal) []string {
	var lines []string
	for _, r := range removed {
		lines = append(lines, c.Say("removal", "kind", c.Word("kinds", string(r.Kind)), "count", r.Count, "sample", r.Sample))
	}
	return lines
}

// Explain says what a reason code means and what to do.
func (c Catalogue) Explain(code string) Advice {
	if _, known := c.words["codes."+code+".meaning"]; known {
		return Advice{c.Say("codes." + code + ".meaning"), c.Say("codes." + code + ".do")}
	}
	return Advice{c.Say("unknownCode.meaning", "code", code), c.Say("unknownCode.do")}
}

// List puts names into one line.
func (c Catalogue) List(items []string) string { return strings.Join(items, c.Say("listed")) }

// Sentences puts reasons into one line.
func (c Catalogue) Sentences(all []string) string { return strings.Join(all, c.Say("sentences")) }
