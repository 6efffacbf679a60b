package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// showStatus prints where a run is, what it has used, what stands against its
// work, and what a person can do if it does not go on by itself.
func showStatus(w io.Writer, plan *pipelines.Pipeline, run metadata.Run, o viewOptions) {
	r, plan := newReport(w, o), whole(plan)
	rows := rowsOf(plan, run)
	r.titled(plan, run)
	r.line("")
	r.headline(plan, run, rows)
	r.line("")
	r.phases(rows, run.Status != metadata.Completed, doing(plan, run).Phase)
	r.line("")
	s := phases.SpentOf(run)
	r.line("%s · %s tokens · %s · %s of work", spent(run), tokenCount(s.Tokens), plural(s.Attempts, "call"), took(worked(rows)))
	r.findings(rows, run.Language)
	r.questions(run)
	r.approvals(run)
	r.tasks(run)
	r.children(plan, run)
	r.lastRollback(run)
}

// headline says in a sentence where the run is.
func (r report) headline(plan *pipelines.Pipeline, run metadata.Run, rows []row) {
	d := doing(plan, run)
	at := rowOf(rows, d.Phase)
	where := ""
	if at.Number > 0 {
		where = fmt.Sprintf("at %s (phase %d of %d)", flat(d.Phase), at.Number, len(rows))
	}
	switch run.Status {
	case metadata.Running:
		step := joined(" ", flat(string(d.Step())), whom(flat(d.Agent), flat(modelOf(plan, run, d))))
		r.line("%s", joined(", ", joined(" ", r.cyan("running"), where), step, roundText(at)))
		if why := flat(phases.Say(run.Language, d.Why)); why != "" {
			r.line("why: %s", why)
		}
		r.line("")
		r.line("What to do, if nothing works on it:") // a record does not know whether a process does
		r.commands(wayOn(plan, run))
	case metadata.Completed:
		r.line("%s: %d of %s", r.green("completed"), completed(rows), plural(len(rows), "phase"))
	default:
		r.line("%s", joined(", ", joined(" ", r.yellow(words(run.Status)), where), flat(string(d.Do))))
	}
	if run.Stop != nil {
		r.stopped(plan, run)
	}
}

func whom(agent, model string) string {
	if agent == "" || model == "" {
		return prefixed("by ", agent)
	}
	return "by " + agent + " (" + model + ")"
}

func roundText(r row) string {
	if n := r.round(); n > 1 {
		return fmt.Sprintf("round %d", n)
	}
	return ""
}

// phases prints the table of the phases, with a sign before the one at hand if
// there is one.
func (r report) phases(rows []row, marked bool, at string) {
	t := table{align: "lrlllrrrr"}
	t.add("", "", "phase", "status", "step", "round", "calls", "cost", "time")
	for _, x := range rows {
		sign, round := statusSign(x.Rec.Status), ""
		if marked && x.Rec.Name == at {
			sign = "▸"
		}
		if x.round() > 0 {
			round = fmt.Sprint(x.round())
		}
		cells := []string{sign, fmt.Sprint(x.Number), flat(x.Rec.Name), words(x.Rec.Status), flat(string(x.Rec.CurrentStep)), round, "", "", ""}
		if x.Attempts > 0 || x.Took > 0 {
			cells[6], cells[7], cells[8] = fmt.Sprint(x.Attempts), usd(x.USD), took(x.Took)
		}
		t.add(cells...)
	}
	for i, l := range t.lines() {
		l = cut(l, r.width)
		if i > 0 {
			l = tint(r.palette, rows[i-1].Rec.Status, l)
		}
		r.line("%s", l)
	}
}

func worked(rows []row) time.Duration {
	var all time.Duration
	for _, r := range rows {
		all += r.Took
	}
	return all
}

// findings prints what stands against the work of the phases that are not done.
func (r report) findings(rows []row, language string) {
	t := table{}
	for _, x := range rows {
		if x.Rec.Status == metadata.PhaseCompleted || x.Rec.Status == metadata.PhaseSkipped {
			continue
		}
		name := flat(x.Rec.Name)
		for _, f := range openFindings(x.Rec.Verdict) {
			t.add(name, findingLine(prompts.Words("en"), f))
		}
		for _, g := range failedGates(x.Rec.Verdict) {
			t.add(name, joined(": ", "gate does not hold", flat(g.Gate), cut(flat(g.Why), 160)))
		}
		for _, c := range failedChecks(x.Rec) {
			t.add(name, fmt.Sprintf("check %s fails (exit %d): %s", flat(c.Name), c.ExitCode, flat(c.Run)))
			lines, _ := telling(c.Output, 5)
			for _, l := range lines {
				t.add("", "  "+visible(strings.ReplaceAll(l, "\t", "  ")))
			}
		}
		for _, v := range x.Rec.Violations {
			t.add(name, joined(": ", "change reverted", flat(v.Path), flat(phases.Say(language, v.Rule))))
		}
	}
	if len(t.rows) > 0 {
		r.heading("Open")
		r.table(&t, "  ")
	}
}

func (r report) lastRollback(run metadata.Run) {
	if len(run.RollbackHistory) == 0 {
		return
	}
	last := run.RollbackHistory[len(run.RollbackHistory)-1]
	r.heading(fmt.Sprintf("Last of %s", plural(len(run.RollbackHistory), "rollback")))
	r.line("  %s, %s", clock(last.Timestamp), rollbackLine(last))
	r.text(last.Reason, "    ")
}

// rollbackLine says from where to where, and who asked.
func rollbackLine(e metadata.Rollback) string {
	return joined(" ", "from", flat(e.FromPhase), flat(string(e.FromStep)), goalLine(e))
}

// goalLine says where to, and who asked.
func goalLine(e metadata.Rollback) string {
	by := "by " + flat(e.By)
	if e.By == "" {
		by = flat(string(e.TriggeredBy))
	}
	return joined(", ", joined(" ", "to", flat(e.ToPhase), flat(string(e.ToStep))), by)
}

// artifacts gives the files a phase has written, its artifact first.
func (r row) artifacts() []string {
	files := slices.Clone(r.Rec.OutputFiles)
	return slices.DeleteFunc(files, func(f string) bool { return strings.TrimSpace(f) == "" })
}

// stopped says why the run does not go on, and which commands take it further.
func (r report) stopped(plan *pipelines.Pipeline, run metadata.Run) {
	stop := *run.Stop
	why := reasons(phases.Say(run.Language, stop.Why))
	if why == "" {
		why = flat(prompts.Words("en").Explain(string(stop.Code)).Meaning)
	}
	r.line("%s", joined(": ", flat(string(stop.Code)), why))
	for _, l := range lastLines(stderrOf(run), mostTelling) {
		r.line("  | %s", visible(strings.ReplaceAll(l, "\t", "    ")))
	}
	r.line("")
	r.line("What to do:")
	r.commands(wayOn(plan, run))
}

// commands prints command lines.
func (r report) commands(lines []string) {
	for _, l := range lines {
		r.line("  %s", l)
	}
}

// wayOn gives the commands that take a run further, the likeliest first. A run
// that would only come to wait for a person is that far already. None does for
// one that is completed.
func wayOn(plan *pipelines.Pipeline, run metadata.Run) []string {
	switch {
	case run.Stop != nil:
		return wayOut(plan, run)
	case run.Status == metadata.Completed:
		return nil
	}
	if d := doing(plan, run); d.Do == phases.DoWait && d.Code == metadata.AwaitingPerson {
		run.Stop = &metadata.Stop{Code: d.Code, Phase: d.Phase}
		return wayOut(plan, run)
	}
	return []string{"reprise run --issue " + flat(run.IssueNumber)}
}

// wayOut gives the commands that help a stopped run, the likeliest first.
func wayOut(plan *pipelines.Pipeline, run metadata.Run) []string {
	id, phase := flat(run.IssueNumber), flat(run.Stop.Phase)
	if phase == "" {
		phase = "PHASE"
	}
	again := "reprise run --issue " + id
	retry := "reprise retry --issue " + id
	back := "reprise rollback --issue " + id + " --to-phase " + phase + " --reason TEXT"
	if lines := asksPeople(plan, run); len(lines) > 0 && run.Stop.Code == metadata.AwaitingPerson {
		return lines
	}
	switch run.Stop.Code {
	case metadata.BudgetExceeded:
		return []string{again + " " + phases.LimitOf(run).Flag()}
	case metadata.Stuck, metadata.ReviewFailed, metadata.CheckFailed:
		return []string{back, retry}
	case metadata.NoProgress, metadata.OutputInvalid, metadata.ProtectedPath, metadata.PatchTooLarge, metadata.SecretFound:
		return []string{retry, back}
	}
	return []string{again}
}
