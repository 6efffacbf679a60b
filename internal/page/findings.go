package page

import (
	"cmp"
	"fmt"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// findings are what reviews, checks and gates say about the work.
type findings struct{ writer }

// open are what stands against the work of phases that are not done.
// They are open to view where a person has to read them.
func (w findings) open() string {
	var items []string
	most := view.FailureLines // of the first check; the others have less room on a phone
	for _, r := range w.Rows {
		for _, x := range r.Checks {
			items = append(items, w.check(r.Rec.Name, x, most))
			most = 5
		}
		for _, f := range r.Findings {
			items = append(items, w.finding(r.Rec.Name, f))
		}
		for _, g := range r.Gates {
			title := "**" + w.Say("comment.gate") + "** " + clean.Inline(g.Gate, 300) + " (" + clean.Inline(r.Title, 60) + ")"
			items = append(items, clean.Item(title, clean.Truncate(g.Why, 600)))
		}
	}
	if len(items) == 0 {
		return ""
	}
	return clean.Details(fmt.Sprintf("%s · %d", w.Say("findings"), len(items)), w.within(20_000, items), w.Run.Stop != nil)
}

// finding is an item of a list: the title and the place, then what is wrong
// and what would help.
func (w findings) finding(phase string, f metadata.Finding) string {
	where := clean.Inline(w.title(phase), 60)
	if at := w.place(f); at != "" {
		where += ", " + at
	}
	if f.Status == metadata.StillOpen {
		where += ", " + w.word("changes", string(f.Status))
	}
	title := "**" + w.word("severities", string(f.Severity)) + " " + clean.Inline(f.ID, 40) + "** " + clean.Inline(f.Title, 300) + " (" + where + ")"
	return clean.Item(title, clean.Truncate(f.Problem, 800), clean.PrefixedText("→ ", clean.Truncate(f.Solution, 800)))
}

// place says where a finding is, as a link to the line where that is possible.
func (w findings) place(f metadata.Finding) string {
	at := clean.Code(clean.Truncate(view.Place(f), 200))
	to := clean.FileURL(w.notices.Files, f.File)
	if f.File == "" || to == "" {
		return at
	}
	if f.Line > 0 {
		if strings.EqualFold(path.Ext(f.File), ".md") {
			to += "?plain=1" // as a page, Markdown has no lines
		}
		to += fmt.Sprintf("#L%d", f.Line)
	}
	return cmp.Or(clean.Link(at, to), at)
}

// check is an item with what a failed check printed: of much the lines that
// say what failed, and where all of it is.
func (w findings) check(phase string, x metadata.CheckResult, most int) string {
	title := "**" + w.Say("comment.check") + "** " + clean.Inline(x.Name, 80) + " (" + clean.Inline(w.title(phase), 60) + ", " + w.Say("comment.exit", "code", x.ExitCode) + "): " + clean.Code(clean.Truncate(x.Run, 200))
	lines, left := view.Excerpt(x.Output, most)
	if len(lines) == 0 {
		return clean.Item(title)
	}
	out := clean.Item(title) + "\n\n" + clean.Indent(clean.Fenced(strings.Join(lines, "\n")), "  ")
	if left > 0 {
		out += "\n\n  " + w.Say("comment.moreLines", "n", left, "file", w.file(w.checksFile(phase)))
	}
	return out
}

// setup is the end of what a command of the setup printed that has stopped the run.
func (w findings) setup() string {
	c := phases.Broken(w.Run.Setup)
	if c == nil || w.Run.Stop == nil || w.Run.Stop.Code != metadata.SetupFailed {
		return ""
	}
	lines, _ := view.Excerpt(c.Output, 30)
	return text.Join("\n\n", clean.Code(clean.Truncate(c.Run, 200)), clean.Fenced(strings.Join(lines, "\n")))
}

// checksFile is the path of the file that has all that the checks of a phase
// printed.
func (w findings) checksFile(phase string) string {
	return path.Join(phases.Folder(w.Run.IssueNumber), view.RowOf(w.Rows, phase).Folder, phases.ChecksFile)
}

// suggestions are what passing reviews had to say.
func (w findings) suggestions() string {
	var items []string
	for _, r := range w.Rows {
		for _, f := range r.Suggests {
			items = append(items, w.finding(r.Rec.Name, f))
		}
	}
	return w.folded(w.Say("comment.suggestions"), 6_000, items)
}
