package page

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// writer has what all texts about a run are made from: the run, where it is,
// what is known beside its record, and the words. What is read on GitHub is a
// type of its own over it.
type writer struct {
	prompts.Catalogue
	view.State
	notices Notices
}

func newWriter(plan *pipelines.Pipeline, run metadata.Run, t Notices) writer {
	return writer{prompts.Words(run.Language), view.StateOf(plan, run), t}
}

// speaker says things that are about no run.
func speaker(language string) writer {
	return newWriter(nil, metadata.Run{Language: prompts.Words(language).Language}, Notices{})
}

// word translates a word of the record.
func (w writer) word(kind, key string) string {
	if word := w.Word(kind, key); word != key {
		return word
	}
	return clean.Inline(key, 40)
}

// within joins as many of the lines as fit into a number of UTF-16 units, and
// says so if that is not all.
func (w writer) within(limit int, lines []string) string {
	used := 0
	for i, l := range lines {
		if used += clean.Units(l) + 1; used > limit {
			return strings.Join(append(lines[:i:i], "", w.Say("comment.more", "n", len(lines)-i)), "\n")
		}
	}
	return strings.Join(lines, "\n")
}

// file names a file of the branch, as a link where that is possible.
func (w writer) file(name string) string {
	return cmp.Or(clean.Link(clean.Inline(text.Last(name), 80), clean.FileURL(w.notices.Files, name)), clean.Code(clean.Truncate(name, 200)))
}

// title is what people read in the place of the name of a phase.
func (w writer) title(phase string) string { return view.TitleOf(w.Plan, phase) }

// back is an entry of the history without its reason.
func (w writer) back(e metadata.Rollback) string {
	return w.RolledBack(clean.Inline(w.title(e.FromPhase), 60), clean.Inline(w.title(e.ToPhase), 60), clean.Inline(string(e.ToStep), 20), clean.Inline(e.By, 60), e.TriggeredBy == metadata.Automatic)
}

// parent names the issue of the run, as a link where that is possible.
func (w writer) parent() string {
	text := clean.Inline(text.Join(" ", w.Run.IssueNumber, w.Run.IssueTitle), 200)
	return cmp.Or(clean.Link(text, w.Run.IssueURL), clean.Code(w.Run.IssueNumber))
}

// folded is a list behind a fold, with how many items it has; nothing without
// any. It has at most so many UTF-16 units.
func (w writer) folded(title string, limit int, items []string) string {
	if len(items) == 0 {
		return ""
	}
	return clean.Details(fmt.Sprintf("%s · %d", title, len(items)), w.within(limit, items), false)
}

// body joins the parts of a body that fit.
func (w writer) body(blocks []string) string {
	return fit(clean.MaxComment, w.Say("tell.bodyCut"), blocks)
}

// reply joins the parts of a reply that fit, behind its marker.
func (w writer) reply(marker string, blocks []string) string {
	return marker + "\n" + fit(clean.MaxComment-clean.Units(marker)-6, w.Say("tell.replyCut"), blocks)
}

// fit joins the parts that fit into a number of UTF-16 units, and says with the
// words given if those are not all.
func fit(limit int, cut string, blocks []string) string {
	body, whole := clean.Fit(blocks, limit-clean.Units(cut)-4)
	if !whole {
		body = text.Join("\n\n", body, cut)
	}
	return body + "\n"
}

// adviceOn explains a reason code, also one that is not known.
func (w writer) adviceOn(reason metadata.Code) prompts.Advice {
	code := string(reason)
	if key := code + ".meaning"; w.Word("codes", key) == key { // it may be from anywhere
		code = clean.Inline(code, 60)
	}
	return w.Explain(code)
}

// codes makes each text inline code; those that are empty are left out.
func codes(texts []string) []string {
	var out []string
	for _, t := range texts {
		if t = clean.Code(clean.Truncate(t, 200)); t != "" {
			out = append(out, t)
		}
	}
	return out
}
