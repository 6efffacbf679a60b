package page

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Denial is something that was refused.
type Denial struct {
	Code  metadata.Code
	By    string          // login; empty if unknown
	What  string          // what was asked for, such as the command; may be empty
	Why   metadata.Reason // where it says more than the code; may be none
	Known bool            // it is a command, which the run as it stands does not allow
	Kept  bool            // not for the issue: the record of the run has it, or whoever asked does not have the right
}

// Words are the reason and its code, for a line.
func (d Denial) Words(language string) string {
	return fmt.Sprintf("%s: %s", d.Code, d.Why.In(prompts.Words(language)))
}

// refusal tells people what was refused.
type refusal struct{ writer }

// text says what was refused, why, and how to change that.
func (w refusal) text(d Denial) string {
	a := w.adviceOn(d.Code)
	if d.Known && d.Code == metadata.AlreadyRunning { // it was not put off: it has no effect on a run that goes on
		a = w.adviceOn(metadata.NotACommand)
	}
	do := a.Do
	switch asked := d.Why.Code(); {
	case asked == "undiagnosed", asked == "not_asked" && d.Code == metadata.BudgetExceeded:
		do = w.Say("tell.nameDo")
	case asked == "not_asked" && d.Code == metadata.NotACommand:
		do = w.Say("tell.seenDo")
	case d.Known && (d.Code == metadata.NotACommand || d.Code == metadata.AlreadyRunning):
		do = w.Say("tell.refusedDo")
	}
	return text.Join("\n\n",
		text.Join(" · ", "**"+clean.Code(clean.Truncate(string(d.Code), 60))+"**", clean.Code(clean.Truncate(d.By, 60)), clean.Code(clean.Truncate(text.FirstLine(d.What), 200))),
		w.because(a.Meaning, d.Why), clean.Named(w.Say("whatNow"), do))
}

// because adds the words of a program to what a code means: several lines, such
// as all mistakes of a file, are a list.
func (w refusal) because(meaning string, reason metadata.Reason) string {
	why := strings.TrimSpace(reason.In(w.Catalogue))
	lines := strings.Split(why, "\n")
	if len(lines) == 1 {
		if why = clean.Inline(why, 600); why == "" {
			return meaning
		}
		return strings.TrimRight(meaning, ".。") + w.Say("tell.colon") + why
	}
	var items []string
	for _, l := range lines {
		if l = clean.Inline(l, 600); l != "" {
			items = append(items, "- "+l)
		}
	}
	return text.Join("\n\n", meaning, w.within(10_000, items))
}
