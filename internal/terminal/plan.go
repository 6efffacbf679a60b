package terminal

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/pipelines"
)

// ShowPlan prints a pipeline as it is resolved: who does what in each phase,
// what decides whether it is accepted, and where it stops.
func ShowPlan(w io.Writer, plan *pipelines.Pipeline, o Options) {
	r, plan := planReport{NewReport(w, o)}, view.Whole(plan)
	r.prose(text.Join(": ", r.Bold(text.Flat(plan.Name)), text.Flat(plan.Description)))
	r.prose(r.Faint(text.Join(" · ", text.Flat(plan.Source), text.Prefixed("preset ", plan.Preset), text.Prefixed("language ", plan.Language))))
	facts := text.Table{}
	facts.Add("budget", budgetText(plan.Budget))
	facts.Add("protected", text.Join(", ", text.FlatAll(plan.Protect)...))
	facts.Add("open to changes that are approved", text.Join(", ", text.FlatAll(plan.Open)...))
	facts.Add("sandbox", sandboxText(plan.Sandbox))
	facts.Add("selects", selectText(plan.Select))
	facts.Add("checks", text.If(plan.Baseline, "one that fails in the same way before anything is changed does not hold the work up"))
	facts.Add("CI", ciText(plan.CI))
	facts.Add("pull request", text.Join(", ", text.If(plan.Labels == pipelines.LabelsCopy, "with the labels of the issue"), text.If(plan.Statuses, "with a commit status for each commit")))
	facts.Add("jobs", text.If(plan.Jobs > 1 && (plan.Splits() || plan.Parallel), fmt.Sprintf("up to %d %s at the same time", plan.Jobs, cmp.Or(text.If(plan.Parallel, "phases or parts"), "parts of a phase"))))
	facts.Add("speculation", text.If(plan.Speculate, "a phase begins while the one before it is reviewed; its work is given up if that review does not pass"))
	facts.Add("finish", text.If(plan.Finish == pipelines.FinishKeep, "the folder of the run stays on its branch when it is completed"))
	for _, o := range pipelines.OriginsOf(plan) {
		facts.Add("from", originText(o))
	}
	for _, s := range plan.Setup {
		facts.Add("setup", text.Join(", anew with ", text.Join(", with ", commandText(s.Check), envText(s.Env)), text.Flat(strings.Join(s.WhenChanged, " "))))
	}
	r.facts(&facts, "")
	r.agents(plan)
	for i := range plan.Phases {
		r.planPhase(plan, i+1, &plan.Phases[i])
	}
	r.spare(plan.Spare)
	r.rules(plan)
	r.presets(plan.Presets)
}

// originText says where some settings come from.
func originText(o pipelines.Origin) string {
	from := map[string]string{"": "the defaults", pipelines.GivenForRun: "given for this run"}[o.File]
	return cmp.Or(from, text.Flat(o.File)) + ": " + strings.Join(text.FlatAll(o.Settings), ", ")
}

// planReport shows a pipeline.
type planReport struct{ Report }

func (r planReport) agents(plan *pipelines.Pipeline) {
	r.Heading("Agents")
	t := text.Table{}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		a := plan.Agents[name]
		var models []string
		for _, tier := range slices.Sorted(maps.Keys(a.Models)) {
			models = append(models, text.Flat(tier)+" "+text.Flat(a.Models[tier]))
		}
		t.Add(text.Flat(name), text.Flat(text.Join(" ", append([]string{a.Use}, a.Command...)...)), strings.Join(models, ", "),
			text.Prefixed("at most ", string(a.Access)), text.Prefixed("falls back to ", a.Fallback))
	}
	r.joined(&t, "  ")
	given := text.Table{}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		for _, what := range plan.Agents[name].Shown() {
			given.Add(text.Flat(name), text.Flat(what))
		}
	}
	r.facts(&given, "  ")
}

// listItem matches a line that begins anew: an item of a list, a heading, a quotation, or an
// empty line.
var listItem = regexp.MustCompile(`^(\s|[-*+#>|]|\d+[.)] |$)`)

// paragraphs joins the lines of each paragraph, which a terminal breaks anew at its width.
func (r planReport) paragraphs(body string) string {
	if r.width == 0 || strings.Contains(body, "```") { // lines of code stay apart
		return body
	}
	var b strings.Builder
	between := ""
	for line := range strings.SplitSeq(strings.TrimSpace(body), "\n") {
		if b.Len() > 0 && listItem.MatchString(line) {
			between = "\n"
		}
		b.WriteString(between + line)
		between = " "
		if line == "" {
			between = "\n"
		}
	}
	return b.String()
}

// planPhase prints one phase.
func (r planReport) planPhase(plan *pipelines.Pipeline, n int, p *pipelines.Phase) {
	r.Heading(fmt.Sprintf("%d %s", n, text.Flat(p.Name)))
	r.Text(r.paragraphs(p.Goal), "  ")
	t := text.Table{}
	t.Add("needs", strings.Join(text.FlatAll(p.Needs), ", "))
	t.Add("writes", text.Join("/", text.Flat(p.Folder), text.Flat(p.Writes)))
	t.Add("access", text.Join(", ", text.Flat(string(p.Access)), text.If(p.MustChange, "must change the tree")))
	t.Add("execute", stepText(plan, p.Execute))
	if !p.NoReview {
		t.Add("review", text.Join(", ", stepText(plan, p.Review), text.Prefixed("access ", string(p.Review.Access))))
	}
	t.Add("revise", stepText(plan, p.Revise))
	t.Add("limits", limitsText(p))
	t.Add("approval", text.Prefixed(text.Join(" ", "by", text.If(p.Approvers > 1, strconv.Itoa(p.Approvers)+" people"), text.If(p.Approvers <= 1, "someone"), "with the role "), p.Approve))
	t.Add("written", text.Prefixed("by people: ", plan.Documents[p.Name]))
	if s := p.SkipIf; s != nil {
		t.Add("left out", text.Prefixed("when ", whenText(s.When)))
	}
	for i, line := range strings.Split(p.Report, "\n") {
		// As it is written: on one line, a comment would take in what follows it.
		body := strings.TrimLeft(line, "\t")
		t.Add(text.If(i == 0, "report"), strings.Repeat("  ", len(line)-len(body))+text.Flat(body))
	}
	for i, x := range plan.Rules {
		if x.After == p.Name {
			t.Add("rule", ruleText(i, x))
		}
	}
	for _, g := range p.Gates {
		t.Add("gate", text.Flat(g))
	}
	for _, c := range p.Checks {
		t.Add("check", text.Join(", keeping ", text.Join(", with ", commandText(c), envText(c.Env)), text.Flat(strings.Join(c.Keep, " "))))
	}
	r.facts(&t, "  ")
}

// commandText is a command that reprise runs itself.
func commandText(c pipelines.Check) string {
	return fmt.Sprintf("%s: %s (at most %s, %s)", text.Flat(c.Name), text.Flat(c.Run), span(c.Timeout), networkText(c.Network))
}

func (r planReport) spare(spare []pipelines.Phase) {
	if len(spare) == 0 {
		return
	}
	r.Heading("Phases that a rule may insert")
	t := text.Table{}
	for _, p := range spare {
		t.Add(text.Flat(p.Name), text.Join("/", text.Flat(p.Folder), text.Flat(p.Writes)), text.Cut(text.Flat(p.Goal), 100))
	}
	r.joined(&t, "  ")
}

// rules prints those after phases that a rule inserts; each other phase has
// its own.
func (r planReport) rules(plan *pipelines.Pipeline) {
	t := text.Table{}
	for i, x := range plan.Rules {
		if plan.IsSpare(x.After) {
			t.Add("after "+text.Flat(x.After), ruleText(i, x))
		}
	}
	if len(t.Rows) > 0 {
		r.Heading("Rules after those")
		r.facts(&t, "  ")
	}
}

func (r planReport) presets(presets map[string][]string) {
	if len(presets) == 0 {
		return
	}
	r.Heading("Presets")
	t := text.Table{}
	for _, name := range slices.Sorted(maps.Keys(presets)) {
		t.Add(text.Flat(name), strings.Join(text.FlatAll(presets[name]), ", "))
	}
	r.facts(&t, "  ")
}

func budgetText(b pipelines.Budget) string {
	var parts []string
	add := func(limited bool, text string) {
		if limited {
			parts = append(parts, text)
		}
	}
	add(b.USD > 0, text.USD(b.USD))
	add(b.IssueUSD > 0, text.USD(b.IssueUSD)+" for the issue")
	add(b.DayUSD > 0, text.USD(b.DayUSD)+" a day")
	add(b.RepoDayUSD > 0, text.USD(b.RepoDayUSD)+" a day for the repository")
	add(b.Tokens > 0, text.Tokens(b.Tokens)+" tokens")
	add(b.Time > 0, span(b.Time)+" of work")
	add(b.Attempts > 0, text.Plural(b.Attempts, "call"))
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
	return text.Join(", ", text.If(s.Sockets, "leaves sockets with files to programs"), size("a file", s.File), size("a call", s.Disk))
}

// ciText says what CI has to say before a pull request is ready, where that is not the
// usual.
func ciText(c pipelines.CI) string {
	switch {
	case c.Required == nil:
		return ""
	case len(c.Required) == 0:
		return "nothing is asked of it, so it never counts as good"
	}
	return "has to pass: " + strings.Join(text.FlatAll(c.Required), ", ")
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
		label = "label " + strings.Join(text.FlatAll(s.Labels), " or ")
	}
	return text.Join("; ", label, text.Prefixed("title like ", s.Title), text.Prefixed("type ", s.Type))
}

// envText lists variables with their values.
func envText(env map[string]string) string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, text.Flat(name)+"="+text.Flat(env[name]))
	}
	return strings.Join(out, " ")
}

// stepText says who does a step, and within which limits.
func stepText(plan *pipelines.Pipeline, s pipelines.Step) string {
	a := plan.Agents[s.Agent]
	turns := ""
	if s.Turns > 0 {
		turns = text.Plural(s.Turns, "turn")
	}
	who := text.Flat(s.Agent)
	if with := text.Join(" ", text.Flat(a.Use), text.Flat(s.Model)); with != "" && with != who {
		who += " (" + with + ")"
	}
	return text.Join(", ", who, text.Prefixed("at most ", span(s.Timeout)), text.Prefixed("quiet at most ", span(s.Idle)), turns,
		text.Prefixed("prompt ", s.Prompt), networkText(s.Network), modelsText(s.Models), text.Flat(strings.Join(s.Tools.Shown(), ", ")), text.Prefixed("effort: ", s.Effort))
}

// modelsText says which models may be asked besides those that are named.
func modelsText(models []string) string {
	if models == nil {
		return ""
	}
	return "other models: " + cmp.Or(strings.Join(text.FlatAll(models), ", "), "none")
}

// networkText says what may be reached of the network.
func networkText(n pipelines.Network) string { return "network: " + text.Flat(n.String()) }

func limitsText(p *pipelines.Phase) string {
	revisions := text.Plural(p.Revisions, "revision")
	if p.NoReview {
		revisions = text.Join(", ", "no review", text.If(len(p.Checks) > 0, revisions))
	}
	retry := ""
	if p.Retry.Max > 0 {
		retry = fmt.Sprintf("errors tried again %s, after %s to %s", text.Plural(p.Retry.Max, "time"), span(p.Retry.Initial), span(p.Retry.Cap))
	}
	return text.Join("; ", text.Join(", ", revisions, text.If(p.ReviseAlways, "suggestions are acted on once")), retry)
}

// ruleText says when a rule holds, and what it does then.
func ruleText(i int, x pipelines.Rule) string {
	return fmt.Sprintf("%d, when %s: %s", i+1, whenText(x.When), thenText(x.Then))
}

// whenText gives a condition on one line, without what it imports.
func whenText(when string) string {
	if _, body, has := strings.Cut(when, "\n\n"); has && strings.HasPrefix(when, "import ") {
		when = "{\n" + body + "\n}"
	}
	var all strings.Builder
	for line := range strings.FieldsFuncSeq(when, func(r rune) bool { return r == '\n' }) {
		line = strings.TrimSpace(line)
		switch before := all.String(); {
		case before == "" || line == "":
		case strings.ContainsRune("{[(,", rune(before[len(before)-1])) || strings.ContainsRune("}])", rune(line[0])):
			all.WriteByte(' ')
		default:
			all.WriteString(", ")
		}
		all.WriteString(line)
	}
	return text.Flat(all.String())
}

// thenText says what a rule does.
func thenText(t pipelines.Then) string {
	switch {
	case t.Skip != "":
		return "skip " + text.Flat(t.Skip)
	case t.Insert != "":
		return "insert " + text.Flat(t.Insert)
	case len(t.Drop) > 0:
		return "drop " + strings.Join(text.FlatAll(t.Drop), ", ")
	case t.Approve != "":
		return "wait for approval by " + text.Flat(t.Approve)
	case t.Split != "":
		return "split " + text.Flat(string(t.Split)) + " into the tasks that are reported"
	case t.Rollback != nil:
		return text.Join(": ", text.Join(" ", "back to", text.Flat(t.Rollback.To), text.Flat(t.Rollback.Step)), text.Flat(t.Rollback.Reason))
	case t.Use != nil:
		return text.Join(", ", text.Prefixed("use agent ", t.Use.Agent), text.Prefixed("use tier ", t.Use.Tier))
	}
	return "nothing"
}
