package terminal

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// ShowStatus prints where a run is, what it has used, what stands against its
// work, and what a person can do if it does not go on by itself.
func ShowStatus(w io.Writer, c phases.Course, o Options) {
	r := statusReport{NewReport(w, o).In(c.Run.Language), view.StateOf(c)}
	r.Titled(r.Course)
	r.Line("")
	r.headline(o)
	r.Line("")
	r.phases()
	r.Line("")
	s := phases.SpentOf(c.Run)
	r.prose(r.Shown("used", "usd", view.Spent(c.Run), "tokens", text.Tokens(s.Tokens), "n", s.Attempts, "time", text.Duration(r.Took())))
	if at := view.Together(r.Catalogue, c.Run); at != "" {
		r.prose(text.Capitalize(at))
	}
	if said := text.Flat(o.Standing.In(r.Catalogue)); said != "" {
		r.prose(text.Capitalize(said))
		if c.Run.Status != metadata.Cancelled { // it takes nothing any more
			r.commands([]string{view.UpdateCommand(c.Run)})
		}
	}
	if said := text.Flat(o.Near.In(r.Catalogue)); said != "" {
		r.prose(text.Capitalize(said))
	}
	ShowProven(w, c, o)
	r.findings()
	if names := view.CutOff(r.Run); len(names) > 0 { // it does not hold the work up, so nothing else tells of it
		r.Line("")
		r.prose(r.Say("tell.turnsUsedUp", "phases", text.Flat(r.List(names))))
	}
	r.questions()
	r.halts()
	r.opened()
	r.waits()
	r.approvals()
	r.tasks()
	r.children()
	r.lastRollback()
}

// statusReport says where a run is.
type statusReport struct {
	Report
	view.State
}

// headline says in a sentence where the run is.
func (r statusReport) headline(o Options) {
	run, d, at, where := r.Run, r.Now, r.At, ""
	if at.Number > 0 {
		where = r.Shown("place", "phase", text.Flat(d.Phase), "n", at.Number, "m", r.All)
	}
	switch run.Status {
	case metadata.Running:
		agent := text.If(d.Agent != metadata.Given, text.Flat(d.Agent))
		step := text.Join(" ", r.step(d.Step()), r.about("agent", "who", text.If(agent != "", view.WithModel(agent, text.Flat(r.Model)))))
		r.prose(r.list(text.Join(" ", r.Cyan(r.status(string(run.Status))), where), step, text.If(at.Round() > 1, r.Say("round", "n", at.Round()))))
		if why := text.Flat(d.Why.In(prompts.Words(run.Language))); why != "" {
			r.prose(r.Shown("why", "why", why))
		}
		r.Line("")
		r.worker(o.Worker)
	case metadata.Completed:
		r.Line("%s: %s", r.Green(r.status(string(run.Status))), r.Shown("phases", "n", r.Done, "m", r.All))
		commands := view.NextCommands(r.Course)
		if len(commands) == 0 && !o.Merged {
			commands = view.EndCommands(run)
		}
		if len(commands) > 0 {
			r.Line("\n%s", r.Shown("to do"))
			r.commands(commands)
		}
	default:
		r.prose(r.list(text.Join(" ", r.Yellow(r.status(string(run.Status))), where), WordFor(r.Catalogue, "steps", string(d.Do))))
	}
	if run.Stop != nil {
		r.stopped()
	}
	if c := view.BrokenSetup(run); c != nil {
		lines, _ := view.Excerpt(c.Output, 12)
		for _, l := range append([]string{"", "$ " + text.Flat(c.Run)}, lines...) {
			r.Line("  %s", text.Visible(strings.ReplaceAll(l, "\t", "  ")))
		}
	}
}

// worker says since when a process works on a run, and what can be done meanwhile, or that a run may wait for one.
func (r statusReport) worker(pid int) {
	if id := text.Flat(r.Run.IssueNumber); pid > 0 {
		r.prose(r.Shown("works here", "pid", pid, "since", text.Clock(r.Run.UpdatedAt)))
		r.commands([]string{"reprise logs " + id + " --follow", "reprise pause " + id})
		return
	}
	r.prose(r.Shown("to do idle"))
	r.commands(view.NextCommands(r.Course))
}

// phases prints the table of the phases, with a sign before the one at hand if
// there is one.
func (r statusReport) phases() {
	t := text.Table{Align: "lrlllrrrr"}
	t.Add("", "", r.Shown("phase column"), r.Shown("status column"), r.Shown("step column"), r.Shown("round column"), r.Shown("calls column"), r.Shown("cost column"), r.Shown("time column"))
	for _, x := range r.Rows {
		sign := cmp.Or(text.If(r.Run.Status != metadata.Completed && x.Rec.Name == r.Now.Phase, "▸"), x.Sign())
		cells := []string{sign, text.If(x.Part == "", fmt.Sprint(x.Number)), text.Flat(x.Rec.Name), r.status(x.Standing()), r.step(x.Rec.CurrentStep), text.If(x.Round() > 0, fmt.Sprint(x.Round())), "", "", ""}
		if x.Attempts > 0 || x.Took > 0 {
			cells[6], cells[7], cells[8] = fmt.Sprint(x.Attempts), x.CostShort(), text.Duration(x.Took)
		}
		t.Add(cells...)
	}
	for _, column := range []int{6, 5, 8, 4} { // a narrow terminal rather has the cost than calls, rounds, times and steps
		if r.tooWide(&t, "") {
			for _, row := range t.Rows {
				row[column] = ""
			}
		}
	}
	r.Fitted(&t, func(i int, line string) string {
		if i == 0 {
			return line
		}
		return tint(r.Palette, r.Rows[i-1].Colour(), line)
	})
	for _, x := range r.Rows {
		if x.Left != "" {
			r.prose(text.Join(": ", view.Sign(x.Rec.Status)+" "+text.Flat(x.Rec.Name), text.Flat(x.Left.In(r.Catalogue))))
		}
		if x.Given != "" {
			r.prose(text.Flat(x.Rec.Name) + ": " + r.about("given document", "path", text.Flat(x.Given)))
		}
	}
}

// findings prints what stands against the work of the phases that are not done.
func (r statusReport) findings() {
	t := text.Table{}
	for _, x := range r.Rows {
		name := text.Flat(x.Rec.Name)
		for _, f := range x.Findings {
			t.Add(name, findingLine(r.Catalogue, f))
		}
		for _, g := range x.Gates {
			t.Add(name, text.Join(": ", r.Logged("gate", "gate", text.Flat(g.Gate)), text.Cut(text.Flat(g.Why), 160)))
		}
		for _, c := range x.Checks {
			t.Add(name, r.Shown("check fails", "check", text.Flat(c.Name), "code", c.ExitCode, "run", text.Flat(c.Run)))
			lines, _ := view.Excerpt(c.Output, 5)
			for _, l := range lines {
				t.Add("", "  "+text.Visible(strings.ReplaceAll(l, "\t", "  ")))
			}
		}
		for _, v := range x.Violations {
			t.Add(name, r.Logged("reverted", "path", text.Flat(v.Path), "why", text.Flat(v.Rule.In(r.Catalogue))))
		}
	}
	r.headed(len(t.Rows), r.Shown("open"))
	r.facts(&t, "  ")
}

// ShowProven prints what was proven of each phase of a run.
func ShowProven(w io.Writer, c phases.Course, o Options) {
	r, t := NewReport(w, o).In(c.Run.Language), text.Table{}
	for _, p := range view.StateOf(c).Proven() {
		t.Add(text.Flat(p.Phase), p.Line(r.Catalogue))
	}
	r.headed(len(t.Rows), r.Shown("proven"))
	r.facts(&t, "  ")
}

func (r statusReport) lastRollback() {
	n := len(r.Run.RollbackHistory)
	r.headed(n, r.Shown("last rollback", "n", n))
	for _, last := range r.Run.RollbackHistory[max(0, n-1):] {
		r.Text(r.list(text.Clock(last.Timestamp)+" UTC", r.withAsker(r.wayBack(last), last)), "  ")
		r.Text(last.Reason, "    ")
	}
}

// stopped says why the run does not go on, and which commands take it further.
func (r statusReport) stopped() {
	run, stop := r.Run, *r.Run.Stop
	why := cmp.Or(text.JoinLines(stop.Why.In(r.Catalogue)), text.Flat(r.Explain(string(stop.Code)).Meaning))
	if run.Status == metadata.Interrupted && stop.Code == metadata.RunCancelled || string(stop.Code) == string(run.Status) {
		stop.Code = "" // of an interrupted run it is that of a cancelled one, too, which is something else
	}
	if stop.Code != "" || stop.Why.Code() != "interrupted" { // which the line above says
		r.prose(text.Join(" ", why, text.If(stop.Code != "", "("+text.Flat(string(stop.Code))+")")))
	}
	for _, l := range view.Unsaid(view.Stderr(run), why) {
		r.Line("  | %s", text.Visible(strings.ReplaceAll(l, "\t", "    ")))
	}
	r.Line("")
	r.Line("%s", r.Shown("to do"))
	r.commands(view.NextCommands(r.Course))
	for _, said := range view.Cautions(run) {
		r.prose(text.Flat(said))
	}
}

// commands prints command lines.
func (r statusReport) commands(lines []string) {
	for _, l := range lines {
		r.Line("  %s", l)
	}
}

// questions prints what a run waits for an answer to.
func (r statusReport) questions() {
	open := phases.Questions(r.Run)
	r.headed(len(open), r.Shown("questions"))
	for _, q := range open {
		r.Text(text.Join(" ", text.Flat(q.ID), text.Flat(q.Phase)+":", q.Text), "  ")
		for _, o := range q.Options {
			r.Text("- "+text.JoinLines(o), "    ") // or one could pass for two
		}
	}
}

// halts prints which parts of a phase do not go on, and why.
func (r statusReport) halts() {
	all := phases.Halts(r.Course)
	r.headed(len(all), r.Shown("halted"))
	for _, d := range all {
		r.Text(text.Join(" ", text.Flat(d.Phase)+":", text.JoinLines(d.Why.In(r.Catalogue))), "  ")
	}
}

// waits prints which parts of a phase have not begun, and what for.
func (r statusReport) waits() {
	waiting := slices.DeleteFunc(slices.Clone(r.Rows), func(x view.Row) bool { return x.Waits == "" })
	r.headed(len(waiting), r.Shown("waiting parts"))
	for _, x := range waiting {
		r.Text(text.Join(" ", text.Flat(x.Rec.Name)+":", text.JoinLines(x.Waits.In(r.Catalogue))), "  ")
	}
}

// approvals prints what people have approved, and whether that still holds.
func (r statusReport) approvals() {
	t := text.Table{}
	for _, a := range r.Run.Approvals {
		t.Add(text.Flat(a.Phase), text.Join(" ", text.Clock(a.At)+" UTC", r.about("person", "who", text.Flat(a.By))), text.If(!phases.Stands(r.Run, a), r.Shown("void")))
	}
	r.headed(len(t.Rows), r.Shown("approved"))
	r.Table(&t, "  ")
}

// opened prints what a person is asked about at protected paths.
func (r statusReport) opened() {
	all := view.Opened(r.Course)
	r.headed(len(all), r.Shown("opened"))
	for _, o := range all {
		for line := range strings.Lines(o.Diff) { // its spaces say something, in YAML for one
			r.Line("  %s", strings.ReplaceAll(text.Visible(strings.TrimSuffix(line, "\n")), "##[", "## ["))
		}
	}
}

// tasks prints the parts of the work that phases have found.
func (r statusReport) tasks() {
	t := text.Table{}
	for _, x := range r.Run.Tasks {
		t.Add(text.Flat(x.ID), text.Flat(x.Title), r.about("needs", "tasks", r.list(text.FlatAll(x.Needs)...)), r.about("found by", "phase", text.Flat(x.Phase)))
	}
	r.headed(len(t.Rows), r.Shown("tasks"))
	r.joined(&t, "  ")
}

// children prints the issues that phases have asked for, and what becomes of
// those that were not opened.
func (r statusReport) children() {
	r.headed(len(r.Run.Children), r.Shown("issues"))
	left := 0
	for _, x := range r.Run.Children {
		number := cmp.Or(text.If(x.Opened(), fmt.Sprint(x.Number)), "-")
		r.Line("  %s", text.Join(" ", number, r.list(text.Flat(x.Title), r.about("asked for by", "phase", text.Flat(x.Phase)), text.Flat(x.URL))))
		if x.Opened() {
			continue
		}
		left++
		if x.Body != "" {
			r.Text(x.Body, "      ")
		}
	}
	switch {
	case left == 0:
	case r.Run.IssueURL == "":
		r.Line("\n  %s", r.Shown("issues by hand"))
	default:
		r.Line("\n  %s", r.Shown("issues left", "n", len(phases.ToOpen(r.Course)), "most", phases.MostChildren))
	}
}
