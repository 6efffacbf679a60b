// Package report is the page of a run: one HTML file that shows what was done,
// what it found, what it cost and what a person can do next. It needs no script
// and loads nothing, so it can be kept, sent and opened anywhere.
//
// The package is pure: it gets the run as a value and reads nothing. All text of
// a run is from outside, and html/template escapes it by where it stands.
package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

//go:embed head.html
var headText string

//go:embed page.html
var pageText string

// Page gives the page of a run, in its language.
func Page(f Facts) ([]byte, error) {
	x := words{prompts.Words(f.Run.Language), view.StateOf(phases.On(f.Plan, f.Run))}
	return x.page(pageText, struct {
		words
		Title    string
		Timeline timeline
		Whole    passage
		Attempts []attempt
		Told     Facts
	}{
		x, text.IssueHead(f.Run.IssueNumber, line(f.Run.IssueTitle, 300)), x.timeline(), x.diff(f.Whole, &space{remaining: mostOfAll}), x.attempts(f), f,
	})
}

// page gives a page whose text begins with the head that all pages have.
func (w words) page(text string, content any) ([]byte, error) {
	var out bytes.Buffer
	page, err := template.New("page").Funcs(w.funcs()).Parse(headText + text)
	if err == nil {
		err = page.Execute(&out, content)
	}
	return out.Bytes(), err
}

// funcs are what the pages are written with. Texts from outside are made fit to be shown.
func (w words) funcs() template.FuncMap {
	return template.FuncMap{
		"policy": policy, "style": func() template.CSS { return template.CSS(styleText) },
		"words": func(command string) []string { return strings.Split(command, " ") },
		"line":  line, "paragraph": paragraph, "ending": ending, "link": link, "class": func(of any) string { return class(fmt.Sprint(of)) },
		"in": func(why metadata.Reason) string { return why.In(w.Catalogue) }, "cap": text.Capitalize, "badge": w.badge, "word": w.word, "phase": w.phase,
		"clock": text.Clock, "usd": view.Dollars.CostShort, "tokens": text.Tokens, "duration": text.Duration, "part": func(usd float64) string { return part(usd, w.Run.Cost.USD) }, "add": func(a, b int) int { return a + b },
		"ms":    func(n int64) string { return text.Duration(time.Duration(n) * time.Millisecond) },
		"head":  func(run metadata.Run) string { return text.IssueHead(run.IssueNumber, line(run.IssueTitle, 120)) },
		"where": w.where, "facts": w.facts, "next": w.next, "wayBack": w.wayBack, "people": w.people, "reviewed": w.reviewed, "checked": w.checked,
		"place": view.Place, "checkLine": func(c metadata.CheckResult) string { return view.CheckLine(w.Catalogue, c) },
		"spent": func() string { return view.Spent(w.Run) }, "costOf": view.DollarsOf, "budgetUsed": w.budgetUsed, "cacheHits": w.cacheHits, "byPhase": w.byPhase, "byModel": w.byModel,
		"round": w.round, "figures": w.figures, "why": w.why, "allowing": view.Allowing, "atHand": phases.AtHand,
	}
}

// badge is a word with a colour.
type badge struct{ Class, Word string }

func (w words) badge(kind string, key any) badge {
	return badge{class(fmt.Sprint(key)), w.word(kind, key)}
}

// fact is a line of the headline.
type fact struct{ Name, Value, Link string }

// where says at which phase and step the run is.
func (w words) where() string {
	switch at := w.At; {
	case at.Number == 0 || w.Run.Status == metadata.Completed:
		return w.Shown("phases", "n", w.Done, "m", w.All)
	case w.Now.Do == "": // it stopped between steps
		return w.Shown("place", "phase", text.Flat(at.Title), "n", at.Number, "m", w.All)
	default:
		return w.Headline(at.Number, w.All, text.Flat(at.Title), string(w.Now.Do))
	}
}

func (w words) facts() []fact {
	run, spent := w.Run, phases.SpentOf(w.Run)
	all := []fact{
		{w.Say("cost"), view.Spent(run), ""},
		{w.Say("elapsed"), text.Duration(run.UpdatedAt.Sub(run.CreatedAt)), ""},
		{w.Shown("page work"), text.Duration(time.Duration(spent.Seconds) * time.Second), ""},
		{w.Shown("page at once"), view.Together(w.Catalogue, run), ""},
		{w.Say("attempts"), text.Tokens(int64(spent.Attempts)), ""},
		{w.Say("pipeline"), line(text.Join(" ", run.Pipeline.Name), 60), ""},
		{w.Say("branch"), line(run.BranchName, 120), ""},
		{w.Shown("page issue"), named(run.IssueURL), link(run.IssueURL)},
		{w.Say("pullRequest"), named(run.PRURL), link(run.PRURL)},
		{w.Shown("page begun"), text.Clock(run.CreatedAt), ""},
	}
	return slices.DeleteFunc(all, func(f fact) bool { return f.Value == "" })
}

// next is what a person should do.
type next struct {
	Class, Why, Meaning string
	Stderr              string
	Commands            []string
}

func (w words) next() next {
	run := w.Run
	n := next{Class: class(string(run.Status)), Commands: view.NextCommands(w.Course)}
	switch {
	case run.Status == metadata.Completed:
		n.Why = w.Shown("done")
		if len(n.Commands) == 0 {
			n.Commands = view.EndCommands(run)
		}
	case run.Stop != nil:
		n.Meaning = text.Join(" ", text.Flat(w.Explain(string(run.Stop.Code)).Meaning), "("+line(string(run.Stop.Code), 60)+")")
		n.Why = paragraph(run.Stop.Why.In(w.Catalogue))
		n.Stderr = printed(view.Unsaid(view.Stderr(run), n.Why))
	default:
		n.Why = w.Shown("to do idle")
	}
	return n
}

// Facts are what a page tells.
type Facts struct {
	Plan *pipelines.Pipeline // may be nil
	Run  metadata.Run
	// Issue is the text that the run works on.
	Issue string
	// Whole is what the run has changed, as one patch at most.
	Whole []Change
	// Changes are what the commits of attempts changed, in their order.
	Changes []Change
	// NoChanges says that the commits could not be read.
	NoChanges bool
	// Transcripts are what was said in attempts, by their numbers, as far as it is known.
	Transcripts map[int][]agents.Entry
	At          time.Time // when the page is made
}

// Change is what the commit of an attempt changed.
type Change struct {
	Attempt int
	Commit  string
	Patch   string // as git diff prints it
	Cut     bool   // the end of the patch is missing
}

//go:embed page.css
var styleText string

// policy allows a browser the style of the page and nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(styleText))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

// words are what the page says in a language, and of a run.
type words struct {
	prompts.Catalogue
	view.State
}

// phase is what people read in the place of the name of a phase.
func (w words) phase(name string) string {
	if name == "" {
		return ""
	}
	return line(view.TitleOf(w.Plan, name), 60)
}

// line makes a text one line of at most so many cells.
func line(s string, most int) string { return text.Cut(text.Flat(s), most) }

// longest is how many characters of one text are shown: nobody reads more.
const longest = 4000

// paragraph keeps the lines of a text. The end of a very long one is cut off.
func paragraph(s string) string {
	return text.Visible(text.Short(s, longest))
}

// ending is like paragraph, for what a program has printed: it keeps the end.
func ending(s string) string {
	if r := []rune(s); len(r) > longest {
		s = "…" + string(r[len(r)-longest:])
	}
	return text.Visible(s)
}

// link gives an address that a page may lead to, else "". No name of a host has quotes, brackets or
// parentheses, and the page would write those with a percent sign, which leads to another host.
func link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(u.Host, `"'()<>`) {
		return ""
	}
	return u.String()
}

// onForge finds the owner, the repository and the number in the path of an issue's or a pull request's address.
var onForge = text.Pattern(`^/([^/]+/[^/]+)/(?:issues|pull|pulls)/([0-9]+)$`)

// named is how people name an issue or a pull request: OWNER/NAME#NUMBER, or its whole address where that cannot be told.
func named(address string) string {
	if u, err := url.Parse(address); err == nil {
		if m := onForge().FindStringSubmatch(u.Path); m != nil {
			address = m[1] + "#" + m[2]
		}
	}
	return line(address, 200)
}

// word gives the word for a key, or the key itself as people write it.
func (w words) word(kind string, key any) string {
	return line(text.Words(w.Word(kind, fmt.Sprint(key))), 60)
}

// class names the colour for how something stands.
func class(s string) string {
	switch s {
	case "completed", "succeeded", "pass", "fixed":
		return "good"
	case "failed", "fail", "error", "blocked", "blocker":
		return "bad"
	case "waiting", "pass_with_suggestions", "interrupted", "suggestion", "late", "still_open", "cancelled":
		return "open"
	case "running", "in_progress", "started":
		return "busy"
	}
	return "none"
}

// printed gives lines of a program, each with its end.
func printed(lines []string) string { return text.Visible(strings.Join(append(lines, ""), "\n")) }
