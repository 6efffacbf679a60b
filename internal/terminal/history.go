package terminal

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// happening is an entry of the history.
type happening struct {
	at, placed time.Time // when, and of what it stands beside
	cells      []string
}

// ShowHistory prints every attempt and every rollback of a run, what rules did
// and what people said, oldest first.
func ShowHistory(w io.Writer, run metadata.Run, o Options) {
	out := bufio.NewWriter(w)
	defer out.Flush() // as with any other line
	r := NewReport(out, o).In(run.Language)
	var all []happening
	for _, a := range run.Attempts {
		all = append(all, happening{a.StartedAt, a.StartedAt, r.attempt(run, a)})
	}
	for _, b := range run.RollbackHistory {
		all = append(all, happening{b.Timestamp, b.Timestamp, []string{
			"<-", text.Flat(b.FromPhase), r.step(b.FromStep), "", "", "", "", "",
			text.Join(": ", r.withAsker(r.Shown("back to", "to", r.at(b.ToPhase, b.ToStep)), b), text.Cut(text.JoinLines(b.Reason), 200)),
		}})
	}
	all = append(all, r.people(run)...)
	if len(all) == 0 {
		r.Line("%s", r.Shown("nothing yet"))
		return
	}
	order := phases.InOrder(run)
	slices.SortStableFunc(all, func(a, b happening) int { return order(a.placed, b.placed) })
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
func (r Report) narrow(t *text.Table) {
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

// attempt is the line of an attempt.
func (r Report) attempt(run metadata.Run, a metadata.Attempt) []string {
	agent, given := text.Flat(a.Agent), ""
	if a.Agent == metadata.Given {
		agent, given = r.Shown("a person"), r.Shown("given document", "path", text.Flat(run.ExternalDocuments[a.Phase]))
	}
	cameTo := r.verdict(string(a.Verdict)) // of one that judged the work; of others how they ended
	if a.Verdict == "" {
		cameTo = r.status(string(a.Status))
	}
	n := a.Usage.InputTokens + a.Usage.OutputTokens
	return []string{
		fmt.Sprint(a.N), text.Flat(a.Phase), r.step(a.Step), view.WithModel(agent, text.Flat(a.Model)), cameTo, text.If(n > 0, text.Tokens(n)),
		cmp.Or(text.If(a.Usage.USD > 0, text.USD(a.Usage.USD)), text.If(a.Usage.Unknown, "?")), text.Duration(time.Duration(a.DurationMS) * time.Millisecond),
		text.Join("; ", given, text.Join(": ", r.code(cmp.Or(string(a.Class), string(a.Code))), text.Cut(text.JoinLines(a.Why.In(r.Catalogue)), 200)), text.If(a.Resumed, r.Shown("resumed"))),
	}
}

// people are the lines of the history that are not calls: what rules did, what
// people were asked and said, and what they asked for.
func (r Report) people(run metadata.Run) (all []happening) {
	add := func(at time.Time, sign, phase, what, body string) {
		all = append(all, happening{at, at, []string{sign, text.Flat(phase), WordFor(r.Catalogue, "events", what), "", "", "", "", "", text.Cut(text.JoinLines(body), 300)}})
	}
	for _, q := range run.Questions {
		add(q.AskedAt, "?", q.Phase, "question", text.Join(": ", q.ID, q.Text))
		if n := q.Attempt - 1; n >= 0 && n < len(run.Attempts) {
			all[len(all)-1].placed = run.Attempts[n].StartedAt
		}
		if q.AnsweredAt != nil {
			add(*q.AnsweredAt, "!", q.Phase, "answer", text.Join(": ", text.Join(" ", q.ID, r.about("person", "who", q.By)), q.Answer))
		}
	}
	for _, d := range run.Decisions {
		if d.Step == "finish" && d.By == "" {
			continue // the end of the phases, which nobody asked for
		}
		switch d.Step {
		case "rule", "choose", "merge", phases.SkipStep:
			add(d.At, "=", d.Phase, d.Step, d.Why.In(r.Catalogue))
		case "changed":
			add(d.At, "~", d.Phase, d.Step, d.Why.In(r.Catalogue))
		case "approve", "skip", "pause", "cancel", "finish", "retry", "refresh", "update", phases.IssueTaken:
			why := d.Why.In(r.Catalogue)
			if !strings.Contains(why, d.By) {
				why = text.Join(": ", r.about("person", "who", d.By), why)
			}
			add(d.At, "!", d.Phase, d.Step, why)
		}
	}
	return all
}

// ShowRollback prints what a rollback changes: phases before and after, and files that it sets aside. Of one that is only
// planned it prints all phases, what the next agent is told, the entry of the history, and every file.
func ShowRollback(w io.Writer, plan *pipelines.Pipeline, back phases.RollbackPlan, planned bool, o Options) {
	r := NewReport(w, o).In(back.Run.Language)
	e := back.Entry
	r.prose(r.Bold(r.Shown("rollback", "way", r.withAsker(r.wayBack(e), e))))
	r.Line("")
	r.beforeAndAfter(view.StateOf(phases.On(plan, back.Before)), view.StateOf(phases.On(plan, back.Run)), planned)
	if planned {
		r.context(back.Run.Phase(e.ToPhase))
		r.entry(e, len(back.Before.RollbackHistory))
	}
	r.headed(len(back.Moves), r.Shown("set aside"))
	for _, from := range slices.Sorted(maps.Keys(back.Moves)) {
		r.Hung("  ", text.Flat(from)+" -> "+text.Flat(back.Moves[from]))
	}
	if !planned {
		r.Line("")
		return
	}
	r.headed(len(back.Paths), r.Shown("restored"))
	for _, p := range back.Paths {
		r.Line("  %s", text.Flat(p))
	}
	r.Heading(r.Shown("writes", "file", text.Flat(back.ReasonFile)))
	r.Text(string(phases.WrittenReason(back)), "  ")
	r.Line("") // what comes then is no part of the reason
}

// beforeAndAfter prints the phases that change or, where those are marked, all of them.
func (r Report) beforeAndAfter(before, after view.State, all bool) {
	t := text.Table{}
	t.Add("   "+r.Shown("phase column"), r.Shown("before"), r.Shown("after"))
	for _, b := range before.Rows {
		was, is := r.where(b.Rec), r.where(after.Row(b.Rec.Name).Rec)
		if sign := map[bool]string{true: "   ", false: "*  "}[was == is]; all || was != is {
			t.Add(sign+text.Flat(b.Rec.Name), was, text.If(was != is, "-> "+is))
		}
	}
	r.joined(&t, "")
}

// where says where a phase stands.
func (r Report) where(p metadata.Phase) string {
	return r.list(r.status(string(p.Status)), r.step(p.CurrentStep),
		text.If(p.RetryCount > 0, r.Shown("revises", "n", p.RetryCount)), r.about("verdict", "verdict", r.verdict(p.ReviewResult)))
}

// context prints what the phase keeps for the next agent.
func (r Report) context(p *metadata.Phase) {
	if p == nil || p.RollbackContext == nil {
		return
	}
	c := p.RollbackContext
	r.Heading(r.Shown("told first"))
	r.Text(c.Reason, "  ")
	t := text.Table{}
	if d := c.Details; d != nil {
		t.Add(r.Shown("open then"), text.If(d.BlockerCount+d.SuggestionCount > 0, r.list(r.Shown("blockers", "n", d.BlockerCount), r.Shown("suggestions", "n", d.SuggestionCount))))
		t.Add(r.Shown("tests"), r.list(text.FlatAll(d.AffectedTests)...))
	}
	t.Add(r.Shown("review"), text.Flat(c.ReviewResult))
	r.facts(&t, "  ")
}

// entry prints the line that the history gains.
func (r Report) entry(e metadata.Rollback, n int) {
	r.Heading(r.Shown("entry", "n", n+1))
	t := text.Table{}
	t.Add(r.Shown("clock column"), text.Clock(e.Timestamp))
	t.Add(r.Shown("from row"), r.at(e.FromPhase, e.FromStep))
	t.Add(r.Shown("to row"), r.at(e.ToPhase, e.ToStep))
	t.Add(r.Shown("triggered"), text.Join(" ", WordFor(r.Catalogue, "tell.triggers", string(e.TriggeredBy)), text.If(e.By != "", "("+text.Flat(e.By)+")")))
	t.Add(r.Shown("comment"), text.Flat(e.CommentURL))
	r.facts(&t, "  ")
}
