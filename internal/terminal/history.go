package terminal

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// happening is an entry of the history.
type happening struct {
	at    time.Time
	cells []string
}

// ShowHistory prints every attempt and every rollback of a run, what rules did
// and what people said, oldest first.
func ShowHistory(w io.Writer, run metadata.Run, o Options) {
	out := bufio.NewWriter(w)
	defer func() { _ = out.Flush() }() // as with any other line
	r := historyReport{NewReport(out, o).In(run.Language)}
	var all []happening
	for _, a := range run.Attempts {
		all = append(all, happening{a.StartedAt, r.attempt(run, a)})
	}
	for _, b := range run.RollbackHistory {
		all = append(all, happening{b.Timestamp, []string{
			"<-", text.Flat(b.FromPhase), r.step(b.FromStep), "", "", "", "", "",
			text.Join(": ", r.withAsker(r.Shown("back to", "to", r.at(b.ToPhase, b.ToStep)), b), text.Cut(text.JoinLines(b.Reason), 200)),
		}})
	}
	all = append(all, r.people(run)...)
	if len(all) == 0 {
		r.Line("%s", r.Shown("nothing yet"))
		return
	}
	slices.SortStableFunc(all, func(a, b happening) int { return a.at.Compare(b.at) })
	t := text.Table{Align: "lrllllrrr"}
	t.Add(r.Shown("clock column"), r.Shown("attempt column"), r.Shown("phase column"), r.Shown("step column"), r.Shown("agent column"),
		r.Shown("result column"), r.Shown("tokens column"), r.Shown("cost column"), r.Shown("took column"), "")
	for _, h := range all {
		t.Add(append([]string{text.Clock(h.at)}, h.cells...)...)
	}
	r.narrow(&t)
	for i, l := range t.Lines() {
		said := t.Rows[i][len(t.Rows[i])-1]
		if r.width == 0 || ansi.StringWidth(l) <= r.width {
			r.Line("%s", l)
			continue
		}
		l = strings.TrimRight(strings.TrimSuffix(l, said), " ") // there is no room behind it
		if result := t.Rows[i][5]; ansi.StringWidth(l) > r.width && strings.HasSuffix(l, result) {
			l, said = strings.TrimRight(strings.TrimSuffix(l, result), " "), text.Join("; ", result, said)
		}
		r.Line("%s", text.Cut(l, r.width))
		if said != "" {
			r.Hung("    ", said)
		}
	}
}

// narrow leaves out what a terminal has no room for: tokens, of the time the year and the
// seconds, then agents, how long they took, and cost. What is said of an entry goes below it.
func (r historyReport) narrow(t *text.Table) {
	for _, column := range []int{6, 0, 4, 8, 7} {
		widest := 0
		for i, l := range t.Lines() {
			widest = max(widest, ansi.StringWidth(strings.TrimRight(strings.TrimSuffix(l, t.Rows[i][len(t.Rows[i])-1]), " ")))
		}
		if r.width == 0 || widest <= r.width {
			return
		}
		for i, row := range t.Rows {
			switch {
			case column > 0:
				row[column] = ""
			case i > 0 && len(row[0]) == len("2006-01-02 15:04:05"):
				row[0] = row[0][len("2006-"):len("2006-01-02 15:04")]
			}
		}
	}
}

// historyReport says what has happened to a run.
type historyReport struct{ Report }

// attempt is the line of an attempt.
func (r historyReport) attempt(run metadata.Run, a metadata.Attempt) []string {
	agent, given := text.Flat(a.Agent), ""
	if a.Agent == metadata.Given {
		agent, given = r.Shown("a person"), r.Shown("given document", "path", text.Flat(run.ExternalDocuments[a.Phase]))
	}
	if model := text.Flat(a.Model); model != "" {
		agent += " (" + model + ")"
	}
	cells := []string{
		fmt.Sprint(a.N), text.Flat(a.Phase), r.step(a.Step), agent, r.cameTo(a),
		"", "", text.Duration(time.Duration(a.DurationMS) * time.Millisecond), "",
	}
	if n := a.Usage.InputTokens + a.Usage.OutputTokens; n > 0 {
		cells[5] = text.Tokens(n)
	}
	if cells[6] = text.If(a.Usage.Unknown, "?"); a.Usage.USD > 0 {
		cells[6] = text.USD(a.Usage.USD)
	}
	why := string(a.Class)
	why = cmp.Or(why, string(a.Code))
	cells[8] = text.Join("; ", given, text.Join(": ", r.code(why), text.Cut(text.JoinLines(a.Why.In(r.C)), 200)), text.If(a.Resumed, r.Shown("resumed")))
	return cells
}

// cameTo says what an attempt came to: of one that judged the work what it
// said, of others how they ended.
func (r historyReport) cameTo(a metadata.Attempt) string {
	if a.Verdict != "" {
		return r.verdict(string(a.Verdict))
	}
	return r.status(string(a.Status))
}

// people are the lines of the history that are not calls: what rules did, what
// people were asked and said, and what they asked for.
func (r historyReport) people(run metadata.Run) []happening {
	var all []happening
	add := func(h happening, sign, phase, what, body string) {
		h.cells = []string{sign, text.Flat(phase), WordFor(r.C, "events", what), "", "", "", "", "", text.Cut(text.JoinLines(body), 300)}
		all = append(all, h)
	}
	for _, q := range run.Questions {
		add(happening{at: q.AskedAt}, "?", q.Phase, "question", text.Join(": ", q.ID, q.Text))
		if q.AnsweredAt != nil {
			add(happening{at: *q.AnsweredAt}, "!", q.Phase, "answer", text.Join(": ", text.Join(" ", q.ID, r.about("person", "who", q.By)), q.Answer))
		}
	}
	for _, d := range run.Decisions {
		if d.Step == "finish" && d.By == "" {
			continue // the end of the phases, which nobody asked for
		}
		switch d.Step {
		case "rule", "choose", "merge", phases.SkipStep:
			add(happening{at: d.At}, "=", d.Phase, d.Step, d.Why.In(r.C))
		case "changed":
			add(happening{at: d.At}, "~", d.Phase, d.Step, d.Why.In(r.C))
		case "approve", "skip", "pause", "cancel", "finish", "retry", "refresh", "update", phases.IssueTaken:
			why := d.Why.In(r.C)
			if !strings.Contains(why, d.By) {
				why = text.Join(": ", r.about("person", "who", d.By), why)
			}
			add(happening{at: d.At}, "!", d.Phase, d.Step, why)
		}
	}
	return all
}
