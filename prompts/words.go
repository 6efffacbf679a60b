package prompts

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Catalogue is what reprise says to people about a run, in one language.
// Fields are words and sentences as they are; what takes values is a method.
type Catalogue struct {
	Language string // "en" or "ja"

	Pipeline, Phase, Step, Status, Attempts, Cost, Elapsed, Agent, Model string
	Job, Branch, PullRequest, Artifact, Result, Report                   string
	Findings, Questions, Rollbacks, Commands, Progress                   string
	Removed, RemovedNote                                                 string // heading and explanation of what was taken out of the issue
	Stopped, WhatNow, None, DryRun                                       string

	Steps      map[string]string // execute, review, revise, check
	Statuses   map[string]string // of runs, phases and attempts
	Verdicts   map[string]string // pass, pass_with_suggestions, fail
	Severities map[string]string // blocker, suggestion
	Changes    map[string]string // of a finding: new, still_open, fixed
	Kinds      map[string]string // of removals
	Codes      map[string]Advice // by reason code
	Reasons    map[string]string // by the code of a reason in the record, see Reason
	Log        map[string]string // of the log of a run, see Logged
	Tell       Telling
	Files      Filing

	headline, round, spent, spentOf, about, tokens, open string
	rolledBack, rolledBackBy, automatic, removal         string
	waitingFor, waitingForRole, minutes, hours, seconds  string
	listed, sentences                                    string // between names, and between sentences
	unknownCode                                          Advice
}

// Advice explains a reason code.
type Advice struct {
	Meaning string // one sentence: what happened
	Do      string // one sentence: what to do about it
}

// Words returns the catalogue of a language; of one it does not know, the
// English one.
func Words(language string) Catalogue {
	if language == "ja" {
		return japanese()
	}
	return english()
}

// Headline says where a run is: phase n of m, by name, and the step.
func (c Catalogue) Headline(n, m int, phase, step string) string {
	return fill(c.headline, "n", strconv.Itoa(n), "m", strconv.Itoa(m), "phase", phase, "step", Word(c.Steps, step))
}

// Round names a round of review, counted from 1.
func (c Catalogue) Round(n int) string { return fill(c.round, "n", strconv.Itoa(n)) }

// Spent says what was spent, in US dollars, of which budget; a budget of 0 is
// none. An estimated amount is marked so.
func (c Catalogue) Spent(usd, budget float64, estimated bool) string {
	amount := fmt.Sprintf("$%.2f", usd)
	if estimated {
		amount = fill(c.about, "usd", amount)
	}
	if budget == 0 {
		return fill(c.spent, "usd", amount)
	}
	return fill(c.spentOf, "usd", amount, "budget", fmt.Sprintf("$%.2f", budget))
}

// Tokens says how many tokens went in and out.
func (c Catalogue) Tokens(in, out int64) string {
	return fill(c.tokens, "in", strconv.FormatInt(in, 10), "out", strconv.FormatInt(out, 10))
}

// Duration says how long something took, to the second, or to the minute from
// an hour on.
func (c Catalogue) Duration(d time.Duration) string {
	s := int(max(0, d).Round(time.Second) / time.Second)
	h, m, s := s/3600, s/60%60, s%60
	form := c.seconds
	switch {
	case h > 0:
		form = c.hours
	case m > 0:
		form = c.minutes
	}
	return fill(form, "h", strconv.Itoa(h), "m", strconv.Itoa(m), "s", strconv.Itoa(s))
}

// OpenFindings counts what is open.
func (c Catalogue) OpenFindings(blockers, suggestions int) string {
	return fill(c.open, "blockers", strconv.Itoa(blockers), "suggestions", strconv.Itoa(suggestions))
}

// RolledBack is one entry of the history of rollbacks, without its reason.
// An empty by is a person whose name is not known.
func (c Catalogue) RolledBack(from, to, toStep, by string, automatic bool) string {
	form := c.rolledBackBy
	switch {
	case automatic:
		form = c.automatic
	case by == "":
		form = c.rolledBack
	}
	return fill(form, "from", from, "to", to, "step", Word(c.Steps, toStep), "by", by)
}

// WaitingFor says for whom a phase waits: a role, or any person if empty.
func (c Catalogue) WaitingFor(role, phase string) string {
	if role == "" {
		return fill(c.waitingFor, "phase", phase)
	}
	return fill(c.waitingForRole, "role", role, "phase", phase)
}

// RemovedFrom lists what Clean removed, one line for each kind.
func (c Catalogue) RemovedFrom(removed []Removal) []string {
	var lines []string
	for _, r := range removed {
		lines = append(lines, fill(c.removal, "kind", Word(c.Kinds, string(r.Kind)), "count", strconv.Itoa(r.Count), "sample", r.Sample))
	}
	return lines
}

// Explain says what a reason code means and what to do.
func (c Catalogue) Explain(code string) Advice {
	if a, ok := c.Codes[code]; ok {
		return a
	}
	return Advice{fill(c.unknownCode.Meaning, "code", code), c.unknownCode.Do}
}

// Word gives the word for a key, or for one without a word the key.
func Word(words map[string]string, key string) string {
	if w, ok := words[key]; ok {
		return w
	}
	return key
}

// fill puts values in the place of {name}. Values are not looked at again.
func fill(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
