package terminal

import (
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"golang.org/x/term"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// ShowOptions says how reports are printed to a terminal, or to whatever else
// standard output is: then without colour, and nothing is cut.
func ShowOptions(env environ.Env) Options {
	return Options{Color: text.WantsColor(env.Getenv, environ.IsTerminal(env.Stdout)), Width: Width(env.Stdout)}
}

// AskOptions says the same of what people are asked, on standard error.
func AskOptions(env environ.Env) Options { return Options{Width: Width(env.Stderr)} }

// Report prints what the show functions say.
type Report struct {
	text.Printer
	width             int
	prompts.Catalogue // of English unless it is about a run, see In
}

// NewReport gives a report in English that is printed to w. Of o it takes width
// and colour.
func NewReport(w io.Writer, o Options) Report {
	return Report{text.Printer{W: w, Palette: text.Palette(o.Color)}, o.Width, prompts.Words("en")}
}

// In gives the report in the language of a run.
func (r Report) In(language string) Report {
	r.Catalogue = prompts.Words(language)
	return r
}

// about gives words with one value, or nothing where there is no value.
func (r Report) about(what, name, value string) string {
	return text.If(value != "", r.Shown(what, name, value))
}

// list puts into one line what is not empty.
func (r Report) list(parts ...string) string {
	return r.List(slices.DeleteFunc(parts, func(p string) bool { return p == "" }))
}

// status, step and verdict are words of the record as people write them.
func (r Report) status(s string) string { return WordFor(r.Catalogue, "statuses", s) }

func (r Report) step(s metadata.Step) string {
	if s == metadata.Check {
		return r.Shown("check step") // one of them, of several checks
	}
	return WordFor(r.Catalogue, "steps", string(s))
}

func (r Report) verdict(v string) string { return WordFor(r.Catalogue, "verdicts", v) }

// code is one of the record: in English as people write it.
func (r Report) code(s string) string {
	if r.Language != "en" {
		return text.Flat(s)
	}
	return text.Words(s)
}

// WordFor gives the word for a key, or the key itself as people write it.
func WordFor(c prompts.Catalogue, kind, key string) string {
	if word := c.Word(kind, key); word != key {
		return word
	}
	return text.Words(key)
}

// headed begins a part that has so many entries; without any there is none.
func (r Report) headed(n int, title string) {
	if n > 0 {
		r.Heading(title)
	}
}

// Heading begins a part.
func (r Report) Heading(text string) {
	r.Line("")
	r.Line("%s", r.Bold(text))
}

// Table prints a table, indented. It is never cut.
func (r Report) Table(t *text.Table, indent string) {
	for _, l := range t.Lines() {
		r.Line("%s%s", indent, l)
	}
}

// Text prints text from outside line by line, indented. It is never cut; on a terminal
// it is broken between words.
func (r Report) Text(body, indent string) {
	for _, l := range strings.Split(strings.TrimSpace(body), "\n") {
		r.Line("%s%s", indent, strings.ReplaceAll(folded(text.Flat(l), r.width-len(indent)), "\n", "\n"+indent))
	}
}

// Titled prints what the run is about.
func (r Report) Titled(c phases.Course) {
	r.Line("%s", r.Bold(text.Cut(text.IssueHead(c.Run.IssueNumber, c.Run.IssueTitle), r.width)))
	name := cmp.Or(c.Run.Pipeline.Name, c.Plan.Name)
	r.prose(r.Faint(text.Join(" · ", r.Shown("pipeline", "name", text.Flat(name)), r.Shown("branch", "name", text.Flat(c.Run.BranchName)), text.Flat(c.Run.PRURL))))
}

// facts prints names and values, without those that have none.
func (r Report) facts(t *text.Table, indent string) {
	t.Rows = slices.DeleteFunc(t.Rows, func(row []string) bool { return row[1] == "" })
	for i, l := range t.Lines() {
		value := strings.TrimRight(t.Rows[i][1], " ")
		if strings.HasPrefix(value, " ") { // output, whose spaces say something
			r.Line("%s", indent+l)
			continue
		}
		r.Hung(indent+strings.TrimSuffix(l, value), value)
	}
}

// joined prints a table; where a terminal has no room for it, what stands behind the first
// column is one value, which is broken between words.
func (r Report) joined(t *text.Table, indent string) {
	if !r.tooWide(t, indent) {
		r.Table(t, indent)
		return
	}
	for i, row := range t.Rows {
		t.Rows[i] = []string{row[0], r.list(row[1:]...)}
	}
	r.facts(t, indent)
}

// tooWide says whether a terminal has no room for the lines of a table.
func (r Report) tooWide(t *text.Table, indent string) bool {
	return r.width > 0 && slices.ContainsFunc(t.Lines(), func(l string) bool { return ansi.StringWidth(indent+l) > r.width })
}

// Hung prints a value behind what leads to it. A terminal has it broken between words,
// with later lines below the first.
func (r Report) Hung(lead, value string) {
	r.Line("%s%s", lead, Hanging(value, ansi.StringWidth(lead), r.width))
}

// prose prints a line, which a terminal has broken between words.
func (r Report) prose(line string) { r.Line("%s", folded(line, r.width)) }

// withAsker adds to the way of a rollback who asked for it.
func (r Report) withAsker(way string, e metadata.Rollback) string {
	by := r.Shown("by nobody")
	switch {
	case e.By != "":
		by = r.Shown("person", "who", text.Flat(e.By))
	case e.TriggeredBy == metadata.Automatic:
		by = r.Shown("by pipeline")
	}
	return r.Shown("asked", "way", way, "by", by)
}

// wayBack says from where to where a run was taken back.
func (r Report) wayBack(e metadata.Rollback) string {
	if e.FromPhase == "" {
		return r.Shown("to", "to", r.at(e.ToPhase, e.ToStep))
	}
	return r.Shown("from to", "from", r.at(e.FromPhase, e.FromStep), "to", r.at(e.ToPhase, e.ToStep))
}

// at is a step of a phase.
func (r Report) at(phase string, step metadata.Step) string {
	return text.Join(" ", text.Flat(phase), r.step(step))
}

// Fitted prints a table of which each line fits the terminal. Paint, if not nil,
// colours a line, which it is given with its number.
func (r Report) Fitted(t *text.Table, paint func(i int, line string) string) {
	for i, l := range t.Lines() {
		l = text.Cut(l, r.width)
		if paint != nil {
			l = paint(i, l)
		}
		r.Line("%s", l)
	}
}

// Heads makes the first line of a table faint.
func (r Report) Heads(i int, line string) string {
	if i == 0 {
		return r.Faint(line)
	}
	return line
}

// Tinted gives a line about a run the colour for where the run stands.
func (r Report) Tinted(s metadata.Status, line string) string {
	switch s {
	case metadata.Completed:
		return r.Green(line)
	case metadata.Failed:
		return r.Red(line)
	case metadata.Waiting, metadata.Interrupted:
		return r.Yellow(line)
	case metadata.Running:
		return r.Bold(line)
	}
	return r.Faint(line)
}

// Tell prints a message for a person. On a terminal it breaks lines between words; elsewhere a line stays one. What a
// terminal would obey is shown: the message may quote others.
func Tell(w io.Writer, message string) {
	_, _ = io.WriteString(w, folded(text.Visible(message), Width(w))+"\n") // what cannot be told stops nothing
}

// Ask prints what a person is asked, as Tell does, and leaves the cursor behind it.
func Ask(w io.Writer, question string) {
	_, _ = io.WriteString(w, folded(question, Width(w)-1)+" ")
}

// sizeOf gives the size of the terminal that w is, in cells; zeros if it is none.
func sizeOf(w io.Writer) (width, height int) {
	if f, ok := w.(interface{ Fd() uintptr }); ok {
		width, height, _ = term.GetSize(int(f.Fd())) // zeros with an error
	}
	if width <= 0 || height <= 0 {
		return 0, 0
	}
	return width, height
}

// Width is that of the terminal that w is, in cells; 0 if it is none.
func Width(w io.Writer) int {
	width, _ := sizeOf(w)
	return width
}

// Hanging breaks what stands behind so many cells of a line between words, for a terminal of a
// width: later lines begin below the first. 0 is no terminal.
func Hanging(value string, behind, width int) string {
	if room := width - behind; width > 0 && room > 20 {
		return strings.ReplaceAll(folded(value, room), "\n", "\n"+strings.Repeat(" ", behind))
	}
	return value
}

// Fold breaks the lines of a text between words, for a terminal of a width. What goes on of a
// line that is indented, or an entry of a list, is indented as far. 0 is no terminal.
func Fold(body string, width int) string {
	lines := strings.Split(body, "\n")
	for i, l := range lines {
		lead := listed().FindString(l)
		lines[i] = lead + Hanging(l[len(lead):], len(lead), width)
	}
	return strings.Join(lines, "\n")
}

// listed is how a line begins that is indented, or is an entry of a list.
var listed = text.Pattern(`^ *([0-9]+\. |- )?`)

// Paragraphs breaks a text anew, between words. Paragraphs are parted by empty lines;
// one with lines that are indented stays as it is.
func Paragraphs(body string, width int) string {
	all := strings.Split(body, "\n\n")
	for i, p := range all {
		if !strings.HasPrefix(p, " ") && !strings.Contains(p, "\n ") {
			all[i] = folded(strings.ReplaceAll(p, "\n", " "), width)
		}
	}
	return strings.Join(all, "\n\n")
}

// folded breaks lines at spaces alone, so that what is copied is whole: a path, an address, or a command at the end of a
// line, which gets a line of its own where it does not fit. A width of 0 or less breaks nothing.
func folded(message string, width int) string {
	if width <= 0 {
		return message
	}
	var out strings.Builder
	for i, line := range strings.Split(message, "\n") {
		if i > 0 {
			out.WriteByte('\n')
		}
		if strings.HasPrefix(line, "  reprise ") {
			out.WriteString(line) // a command alone
			continue
		}
		used, command, space := 0, "", ""
		if at := strings.LastIndex(line, ": reprise "); at >= 0 {
			line, command = line[:at+2], line[at+2:]
		}
		for _, part := range append(strings.SplitAfter(line, " "), command) {
			word := strings.TrimSuffix(part, " ")
			if part == "" {
				continue
			}
			if used > 0 && used+ansi.StringWidth(space+word) > width {
				out.WriteByte('\n')
				used, space = 0, "" // at the end of a full line, it would begin the next one
			}
			out.WriteString(space + word)
			used += ansi.StringWidth(space + word)
			space = part[len(word):]
		}
		out.WriteString(space)
	}
	return out.String()
}
