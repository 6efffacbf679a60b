// Package page is what people read on GitHub: the comment that follows a run,
// answers to commands, the pull request and issues that a run opens, and the
// summary of a job. It gives Markdown and sends nothing.
//
// The parts of a page are in pages.tmpl; what chooses them is here. A text has a limit: what
// has no room is left out, and that is said.
package page

import (
	"cmp"
	_ "embed"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"text/template"
	"time"

	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// writer has what all texts about a run are made from: the words, where the run is, and
// what is known beside its record.
type writer struct {
	prompts.Catalogue
	view.State
	Notices
	pages *template.Template
}

func newWriter(c phases.Course, t Notices) *writer {
	w := &writer{prompts.Words(c.Run.Language), view.StateOf(c), t, template.Must(pages().Clone())}
	w.pages.Funcs(w.funcs())
	return w
}

// speaker says things that are about no run.
func speaker(language string) *writer {
	return newWriter(phases.On(nil, metadata.Run{Language: language}), Notices{})
}

//go:embed pages.tmpl
var pagesText string

var pages = sync.OnceValue(func() *template.Template {
	return template.Must(template.New("pages").Funcs(new(writer).funcs()).Parse(pagesText))
})

// next stands before each item of a list, until it is known which have room.
const next = "\x1e"

// put writes a part of a page. A mistake in the part stands in its place: it is none in the run.
func (w *writer) put(name string, dot any) string {
	var b strings.Builder
	if err := w.pages.ExecuteTemplate(&b, name, dot); err != nil {
		return clean.Code(err.Error())
	}
	return strings.TrimSpace(b.String())
}

// items gives the items of a part that is a list.
func (w *writer) items(name string, dot any) (all []string) {
	for _, one := range strings.Split(w.put(name, dot), next)[1:] {
		all = append(all, strings.TrimRight(one, " \n"))
	}
	return all
}

// list is a list of at most so many UTF-16 units.
func (w *writer) list(limit int, name string, dot any) string {
	return w.within(limit, "\n", w.items(name, dot))
}

// folded is a list behind a fold, with how many items it has; nothing without any.
func (w *writer) folded(title string, limit int, name string, dot any) string {
	return w.details(title, limit, w.items(name, dot), false)
}

func (w *writer) details(title string, limit int, items []string, open bool) string {
	if len(items) == 0 {
		return ""
	}
	return clean.Details(fmt.Sprintf("%s · %d", title, len(items)), w.within(limit, "\n", items), open)
}

// within joins as many items as fit into a number of UTF-16 units, and says so if
// that is not all.
func (w *writer) within(limit int, sep string, items []string) string {
	used := 0
	for i, l := range items {
		if used += clean.Units(l) + len(sep); used > limit {
			return strings.Join(append(items[:i:i], "", w.Say("comment.more", "n", len(items)-i)), "\n")
		}
	}
	return strings.Join(items, sep)
}

// reply joins the parts of a reply that fit, behind its marker.
func (w *writer) reply(marker string, blocks ...string) string {
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

// funcs are what the parts of pages are written with.
func (w *writer) funcs() template.FuncMap {
	return template.FuncMap{
		"blocks": joiner("\n\n"), "dots": joiner(" · "), "commas": joiner(w.Say("listed")), "spaced": joiner(" "), "colon": joiner(": "),
		"joined": func(sep, list string) string { return text.Join(sep, strings.Split(list, next)...) },
		"next":   func() string { return next },
		"add":    func(a, b int) int { return a + b },
		"args":   func(all ...any) []any { return all },
		"put":    w.put,
		"when": func(is, then any) any {
			if yes, _ := template.IsTrue(is); yes {
				return then
			}
			return ""
		},

		"inline": func(of any, most int) string { return clean.Inline(fmt.Sprint(of), most) },
		"code":   code, "codes": codes, "cut": clean.Truncate, "fenced": clean.Fenced, "item": clean.Item, "quote": clean.Quote, "details": clean.Details,
		"bold": clean.Bold, "named": clean.Named, "prefixed": clean.PrefixedText, "link": clean.Link, "alert": alert,
		"indent": func(body string) string { return clean.Indent(body, "  ") },
		"fact":   func(key, value string) string { return clean.PrefixedText(next+"- ", clean.Named(w.Say(key), value)) },

		"say": w.Say, "shown": w.Shown, "list": w.List, "in": w.in, "word": w.word, "duration": w.Duration, "back": w.back, "title": w.title, "file": w.file, "place": w.place,
		"cap": text.Capitalize, "usd": view.Dollars.CostShort, "firstLine": text.FirstLine, "size": sandbox.Size, "allowing": view.Allowing, "removedFrom": w.RemovedFrom,
		"minute":  func(t time.Time) string { return t.UTC().Format("2006-01-02 15:04 UTC") },
		"fileURL": func(name string) string { return clean.FileURL(w.Files, name) },
		"waiting": func(role, phase string) string { return w.WaitingFor(clean.Inline(role, 40), w.title(phase)) },
		"newest":  newest[metadata.Rollback], "latest": newest[metadata.Decision],
		"excerpt": func(output string, most int) any {
			lines, left := view.Excerpt(output, most)
			return struct {
				Text string
				Left int // lines that are not shown
			}{strings.Join(lines, "\n"), left}
		},

		"marker": MarkerOf, "headline": w.headline, "bar": w.bar, "facts": w.facts, "standing": w.standing, "sign": w.phaseSign, "reason": w.Code, "wayBack": w.wayBack,
		"failing": phases.WhyChecksFailed, "over": phases.IsOver, "broken": view.BrokenSetup, "checksNothing": phases.ChecksNothing, "cutOff": view.CutOff, "becomes": w.becomes, "commands": w.commands, "opened": w.opened, "refused": w.refused,
		"pullRequest": func() string { return cmp.Or(w.PullRequest, w.Run.PRURL) },
		"step":        w.step,
		"mermaid":     func() string { return view.Mermaid(w.Course) },
		"lastWords":   func() string { return strings.Join(view.LastLines(view.Stderr(w.Run), view.FailureLines), "\n") },
		"ask":         func(phase string) string { return w.in(w.Run.Phase(phase).Ask) },
		"approvals":   func() []string { return phases.Approvals(w.Course) },
		"proposal":    w.proposal,
		"checksFile": func(r view.Row) string {
			return path.Join(phases.Folder(w.Run.IssueNumber), r.Folder, phases.ChecksFile)
		},

		"proven": w.Proven,
		"line":   func(p view.Proof) string { return p.Line(w.Catalogue) },

		"before":     func(run metadata.Run) []view.Row { return view.StateOf(phases.On(w.Plan, run)).Rows },
		"after":      func(phase string) metadata.Phase { return w.Row(phase).Rec },
		"reasonText": func(r phases.RollbackPlan) string { return string(phases.WrittenReason(r)) },
	}
}

// joiner joins texts, and lists of them, that are not empty.
func joiner(sep string) func(parts ...any) string {
	return func(parts ...any) string {
		var all []string
		for _, p := range parts {
			if list, is := p.([]string); is {
				all = append(all, list...)
			} else {
				all = append(all, fmt.Sprint(p))
			}
		}
		return text.Join(sep, all...)
	}
}

// newest gives a list from its end, at most as many as there is ever room for.
func newest[T any](all []T) []T {
	all = slices.Clone(all[max(len(all)-2_000, 0):])
	slices.Reverse(all)
	return all
}

func (w *writer) in(why metadata.Reason) string { return why.In(w.Catalogue) }

// word translates a word of the record.
func (w *writer) word(kind string, key any) string {
	if word := w.Word(kind, fmt.Sprint(key)); word != fmt.Sprint(key) {
		return word
	}
	return clean.Inline(fmt.Sprint(key), 40)
}

// title is what people read in the place of the name of a phase.
func (w *writer) title(phase string) string { return clean.Inline(view.TitleOf(w.Plan, phase), 60) }

// file names a file of the branch, as a link where that is possible.
func (w *writer) file(name string) string {
	return cmp.Or(clean.Link(clean.Inline(text.Last(name), 80), clean.FileURL(w.Files, name)), code(name, 200))
}

// place says where a finding is, as a link to the line where that is possible.
func (w *writer) place(f metadata.Finding) string {
	at, to := code(view.Place(f), 200), clean.FileURL(w.Files, f.File)
	if to != "" && f.Line > 0 {
		to += text.If(strings.EqualFold(path.Ext(f.File), ".md"), "?plain=1") + fmt.Sprintf("#L%d", f.Line) // as a page, Markdown has no lines
	}
	return cmp.Or(clean.Link(at, to), at)
}

// back is an entry of the history without its reason.
func (w *writer) back(e metadata.Rollback) string {
	return w.RolledBack(w.title(e.FromPhase), w.title(e.ToPhase), clean.Inline(string(e.ToStep), 20), clean.Inline(e.By, 60), e.TriggeredBy == metadata.Automatic)
}

// parent names the issue of the run, as a link where that is possible.
func (w *writer) parent() string {
	text := clean.Inline(text.Join(" ", w.Run.IssueNumber, w.Run.IssueTitle), 200)
	return cmp.Or(clean.Link(text, w.Run.IssueURL), clean.Code(w.Run.IssueNumber))
}

// code makes text from outside inline code.
func code(of any, most int) string { return clean.Code(clean.Truncate(fmt.Sprint(of), most)) }

// codes makes each text inline code; those that are empty are left out.
func codes(texts []string) (all []string) {
	for _, t := range texts {
		if t = code(t, 200); t != "" {
			all = append(all, t)
		}
	}
	return all
}

// The alerts of GitHub that are used: what a person is asked, what went wrong,
// what is good to know, and what is done. Other forges show them as quotes.
const (
	alertTip       = "TIP"
	alertImportant = "IMPORTANT"
	alertWarning   = "WARNING"
	alertNote      = "NOTE"
)

// alert is Markdown in a box of a kind; nothing without a body.
func alert(kind, body string) string {
	return clean.PrefixedText("> [!"+kind+"]\n", text.If(body != "", clean.Indent(body, "> ")))
}
