package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// history is what was asked of a run, and where it was taken back.
type history struct{ writer }

// rollbacks is the history of rollbacks, the newest first.
func (w history) rollbacks() string {
	var items []string
	for _, e := range slices.Backward(w.Run.RollbackHistory) {
		items = append(items, clean.Item(e.Timestamp.UTC().Format("2006-01-02 15:04 UTC")+" · "+w.back(e), clean.Truncate(e.Reason, 600)))
		if len(items) == 100 {
			break // as many as there is ever room for
		}
	}
	if len(items) == 0 {
		return ""
	}
	return clean.Details(fmt.Sprintf("%s · %d", w.Say("rollbacks"), len(w.Run.RollbackHistory)), w.within(10_000, items), false)
}

// merges are those of the base into the branch, the newest first.
func (w history) merges() string {
	var items []string
	for _, d := range slices.Backward(w.Run.Decisions) {
		if d.Step == "merge" && len(items) < 100 {
			items = append(items, "- "+d.At.UTC().Format("2006-01-02 15:04 UTC")+" · "+clean.Inline(d.Why.In(w.Catalogue), 600))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return clean.Details(fmt.Sprintf("%s · %d", text.Capitalize(w.Shown("page key base")), len(items)), w.within(6_000, items), false)
}

// commands is the history of commands, the newest first.
func (w history) commands() string {
	const most = 100 // as many as there is ever room for
	all := slices.Concat(commandsOf(w.Run), w.notices.Requests)
	if len(all) == 0 {
		return ""
	}
	slices.SortStableFunc(all, func(a, b Requested) int { return b.At.Compare(a.At) })
	var items []string
	for _, a := range all[:min(len(all), most)] {
		items = append(items, askedItem(a))
	}
	return clean.Details(fmt.Sprintf("%s · %d", w.Say("commands"), len(all)), w.within(6_000, items), false)
}

// askedItem is a command in a line: when, who, what, and what came of it.
func askedItem(a Requested) string {
	when := a.At.UTC().Format("2006-01-02 15:04 UTC")
	if to := clean.Link(when, a.URL); to != "" {
		when = to
	}
	first, _, _ := strings.Cut(strings.TrimSpace(a.Command), "\n")
	return "- " + text.Join(" · ", when, clean.Code(clean.Truncate(a.By, 60)), clean.Code(clean.Truncate(first, 200)), clean.Inline(a.Outcome, 300))
}

// commandsOf gives the commands that the record has, oldest first.
func commandsOf(run metadata.Run) []Requested {
	var all []Requested
	for _, d := range run.Decisions {
		if d.By == "" && d.Comment == 0 {
			continue // the engine's own
		}
		a := Requested{At: d.At, By: d.By, Command: cmp.Or(d.Command, "/"+text.Join(" ", d.Step, d.Phase)), Outcome: d.Why.In(prompts.Words(run.Language))}
		if d.Comment > 0 && run.IssueURL != "" {
			a.URL = fmt.Sprintf("%s#issuecomment-%d", run.IssueURL, d.Comment)
		}
		all = append(all, a)
	}
	return all
}
