package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// warnings say what went wrong beside the run, and why no check runs on its
// branch.
func (c commenter) warnings() string {
	const most = 10 // more would push the run itself out of sight
	var all []string
	if c.told.NoChecks {
		text := c.Tell.NoChecks
		if names := codes(c.told.Dispatched); len(names) > 0 {
			text += " " + c.Tell.Dispatched(names)
		}
		all = append(all, text)
	}
	for i, w := range c.told.Warnings {
		if i == most {
			all = append(all, c.more.left(len(c.told.Warnings)-i))
			break
		}
		if w = inline(w, 500); w != "" {
			all = append(all, w)
		}
	}
	if len(all) > 1 {
		return alert(alertWarning, "- "+strings.Join(all, "\n- "))
	}
	return alert(alertWarning, strings.Join(all, ""))
}

// asked is the history of commands, the newest first.
func (c commenter) asked() string {
	const most = 100 // as many as there is ever room for
	all := slices.Concat(commandsOf(c.run), c.told.Asked)
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b asked) int { return b.At.Compare(a.At) })
	var items []string
	for _, a := range all[:min(len(all), most)] {
		items = append(items, askedItem(a))
	}
	return details(fmt.Sprintf("%s · %d", c.Commands, len(all)), c.within(6_000, items), false)
}

// askedItem is a command in a line: when, who, what, and what came of it.
func askedItem(a asked) string {
	when := a.At.UTC().Format("2006-01-02 15:04 UTC")
	if to := link(when, a.URL); to != "" {
		when = to
	}
	first, _, _ := strings.Cut(strings.TrimSpace(a.Command), "\n")
	return "- " + joined(" · ", when, code(brief(a.By, 60)), code(brief(first, 200)), inline(a.Outcome, 300))
}

// commandsOf gives the commands that the record has, oldest first.
func commandsOf(run metadata.Run) []asked {
	var all []asked
	for _, d := range run.Decisions {
		if d.By == "" && d.Comment == 0 {
			continue // the engine's own
		}
		a := asked{At: d.At, By: d.By, Command: cmp.Or(d.Command, "/"+joined(" ", d.Step, d.Phase)), Outcome: phases.Say(run.Language, d.Why)}
		if d.Comment > 0 && run.IssueURL != "" {
			a.URL = fmt.Sprintf("%s#issuecomment-%d", run.IssueURL, d.Comment)
		}
		all = append(all, a)
	}
	return all
}

// codes makes each text inline code; those that are empty are left out.
func codes(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t = code(brief(t, 200)); t != "" {
			out = append(out, t)
		}
	}
	return out
}
