package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/pipelines"
)

// showPlan prints a pipeline as it is resolved: who does what in each phase,
// what decides whether it is accepted, and where it stops.
func showPlan(w io.Writer, plan *pipelines.Pipeline, o viewOptions) {
	r, plan := newReport(w, o), whole(plan)
	r.line("%s", joined(": ", r.bold(flat(plan.Name)), flat(plan.Description)))
	r.line("%s", r.faint(joined(" · ", flat(plan.Source), prefixed("preset ", plan.Preset), prefixed("language ", plan.Language))))
	facts := table{}
	facts.add("budget", budgetText(plan.Budget))
	facts.add("protected", joined(", ", flatAll(plan.Protect)...))
	facts.add("sandbox", sandboxText(plan.Sandbox))
	facts.add("selects", selectText(plan.Select))
	r.facts(&facts, "")
	r.agents(plan)
	for i := range plan.Phases {
		r.planPhase(plan, i+1, &plan.Phases[i])
	}
	r.spare(plan.Spare)
	r.rules(plan)
	r.presets(plan.Presets)
}

// facts prints names and values, without those that have none.
func (r report) facts(t *table, indent string) {
	t.rows = slices.DeleteFunc(t.rows, func(row []string) bool { return row[1] == "" })
	for _, l := range t.lines() {
		r.line("%s%s", indent, l)
	}
}

func prefixed(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + flat(text)
}

func flatAll(texts []string) []string {
	out := make([]string, 0, len(texts))
	for _, t := range texts {
		out = append(out, flat(t))
	}
	return out
}

func budgetText(b pipelines.Budget) string {
	var parts []string
	add := func(limited bool, text string) {
		if limited {
			parts = append(parts, text)
		}
	}
	add(b.USD > 0, usd(b.USD))
	add(b.IssueUSD > 0, usd(b.IssueUSD)+" for the issue")
	add(b.Tokens > 0, tokenCount(b.Tokens)+" tokens")
	add(b.Time > 0, span(b.Time)+" of work")
	add(b.Attempts > 0, plural(b.Attempts, "call"))
	if len(parts) == 0 {
		return "no limit"
	}
	return strings.Join(parts, ", ")
}

// sandboxText says where the sandbox is not the usual one.
func sandboxText(s pipelines.Sandbox) string {
	size := func(name string, n pipelines.Size) string {
		if n == 0 {
			return ""
		}
		return fmt.Sprintf("%s at most %s", name, n)
	}
	return joined(", ", when(s.Sockets, "leaves sockets with files to programs"), size("a file", s.File), size("a call", s.Disk))
}

// span prints a limit without zero units: "20m", not "20m0s".
func span(d pipelines.Duration) string {
	s := time.Duration(d).String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

func selectText(s pipelines.Select) string {
	label := ""
	if len(s.Labels) > 0 {
		label = "label " + strings.Join(flatAll(s.Labels), " or ")
	}
	return joined("; ", label, prefixed("title like ", s.Title), prefixed("type ", s.Type))
}

func (r report) agents(plan *pipelines.Pipeline) {
	r.heading("Agents")
	t := table{}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		a := plan.Agents[name]
		var models []string
		for _, tier := range slices.Sorted(maps.Keys(a.Models)) {
			models = append(models, flat(tier)+" "+flat(a.Models[tier]))
		}
		t.add(flat(name), flat(joined(" ", append([]string{a.Use}, a.Command...)...)), strings.Join(models, ", "),
			prefixed("at most ", string(a.Access)), prefixed("falls back to ", a.Fallback))
	}
	r.table(&t, "  ")
}

// planPhase prints one phase.
func (r report) planPhase(plan *pipelines.Pipeline, n int, p *pipelines.Phase) {
	r.heading(fmt.Sprintf("%d %s", n, flat(p.Name)))
	r.text(p.Goal, "  ")
	t := table{}
	t.add("needs", strings.Join(flatAll(p.Needs), ", "))
	t.add("writes", joined("/", flat(p.Folder), flat(p.Writes)))
	t.add("access", joined(", ", flat(string(p.Access)), when(p.MustChange, "must change the tree")))
	t.add("execute", stepText(plan, p.Execute))
	if !p.NoReview {
		t.add("review", stepText(plan, p.Review))
	}
	t.add("revise", stepText(plan, p.Revise))
	t.add("limits", limitsText(p))
	t.add("approval", prefixed("by someone with the right ", p.Approve))
	for i, line := range strings.Split(p.Report, "\n") {
		// As it is written: on one line, a comment would take in what follows it.
		text := strings.TrimLeft(line, "\t")
		t.add(when(i == 0, "report"), strings.Repeat("  ", len(line)-len(text))+flat(text))
	}
	for i, x := range plan.Rules {
		if x.After == p.Name {
			t.add("rule", ruleText(i, x))
		}
	}
	for _, g := range p.Gates {
		t.add("gate", flat(g))
	}
	for _, c := range p.Checks {
		t.add("check", joined(", keeping ", joined(", with ", fmt.Sprintf("%s: %s (at most %s)", flat(c.Name), flat(c.Run), span(c.Timeout)), envText(c.Env)), flat(strings.Join(c.Keep, " "))))
	}
	r.facts(&t, "  ")
}

// envText lists variables with their values.
func envText(env map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, flat(name)+"="+flat(env[name]))
	}
	return strings.Join(out, " ")
}

func when(b bool, text string) string {
	if b {
		return text
	}
	return ""
}

// stepText says who does a step, and within which limits.
func stepText(plan *pipelines.Pipeline, s pipelines.Step) string {
	a := plan.Agents[s.Agent]
	turns := ""
	if s.Turns > 0 {
		turns = plural(s.Turns, "turn")
	}
	who := flat(s.Agent)
	if with := joined(" ", flat(a.Use), flat(s.Model)); with != "" && with != who {
		who += " (" + with + ")"
	}
	return joined(", ", who, prefixed("at most ", span(s.Timeout)), prefixed("quiet at most ", span(s.Idle)), turns,
		prefixed("prompt ", s.Prompt))
}

func limitsText(p *pipelines.Phase) string {
	revises := plural(p.Revisions, "revise")
	if p.NoReview {
		revises = joined(", ", "no review", when(len(p.Checks) > 0, revises))
	}
	retry := ""
	if p.Retry.Max > 0 {
		retry = fmt.Sprintf("errors tried again %s, after %s to %s", plural(p.Retry.Max, "time"), span(p.Retry.Initial), span(p.Retry.Cap))
	}
	return joined("; ", joined(", ", revises, when(p.ReviseAlways, "suggestions are acted on once")), retry)
}

func (r report) spare(spare []pipelines.Phase) {
	if len(spare) == 0 {
		return
	}
	r.heading("Phases that a rule may insert")
	t := table{}
	for _, p := range spare {
		t.add(flat(p.Name), joined("/", flat(p.Folder), flat(p.Writes)), cut(flat(p.Goal), 100))
	}
	r.table(&t, "  ")
}

// rules prints those after phases that a rule inserts; each other phase has
// its own.
func (r report) rules(plan *pipelines.Pipeline) {
	t := table{}
	for i, x := range plan.Rules {
		if plan.IsSpare(x.After) {
			t.add("after "+flat(x.After), ruleText(i, x))
		}
	}
	if len(t.rows) > 0 {
		r.heading("Rules after those")
		r.table(&t, "  ")
	}
}

// ruleText says when a rule holds, and what it does then.
func ruleText(i int, x pipelines.Rule) string {
	return fmt.Sprintf("%d, when %s: %s", i+1, flat(x.When), thenText(x.Then))
}

// thenText says what a rule does.
func thenText(t pipelines.Then) string {
	switch {
	case t.Skip != "":
		return "skip " + flat(t.Skip)
	case t.Insert != "":
		return "insert " + flat(t.Insert)
	case len(t.Drop) > 0:
		return "drop " + strings.Join(flatAll(t.Drop), ", ")
	case t.Approve != "":
		return "wait for approval by " + flat(t.Approve)
	case t.Rollback != nil:
		return joined(": ", joined(" ", "back to", flat(t.Rollback.To), flat(t.Rollback.Step)), flat(t.Rollback.Reason))
	case t.Use != nil:
		return joined(", ", prefixed("use agent ", t.Use.Agent), prefixed("use tier ", t.Use.Tier))
	}
	return "nothing"
}

func (r report) presets(presets map[string][]string) {
	if len(presets) == 0 {
		return
	}
	r.heading("Presets")
	t := table{}
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		t.add(flat(name), strings.Join(flatAll(presets[name]), ", "))
	}
	r.table(&t, "  ")
}
