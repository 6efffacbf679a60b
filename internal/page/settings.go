package page

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Right is a command, or several, and the role that may give it.
type Right struct{ Command, Role string }

// ConfigFacts are what the answer to a question about the settings tells
// besides the pipeline.
type ConfigFacts struct {
	Why      string   // why the issue has this pipeline
	From     string   // where pipelines and settings were read from, such as a branch and its commit
	Sandbox  string   // the one in force, in a few words
	Version  string   // of reprise
	Rights   []Right  // in the order to be shown
	Bots     []string // the exact names that may give commands
	Protects []string // path patterns besides those of the pipeline
}

// ConfigReply says what a run of the issue would go by.
func ConfigReply(marker, language string, plan *pipelines.Pipeline, f ConfigFacts) string {
	s := settings{speaker(language)}
	plan = view.Whole(plan)
	s.Plan = plan
	facts := []string{
		clean.Named(s.Say("pipeline"), text.Join(" · ", clean.Code(clean.Truncate(plan.Name, 60)), clean.Inline(plan.Description, 300))),
		clean.Named(s.Say("tell.chosen"), clean.Inline(f.Why, 300)),
		clean.Named(s.Say("tell.readFrom"), text.Join(" · ", clean.Code(clean.Truncate(plan.Source, 200)), clean.Code(clean.Truncate(f.From, 200)))),
		clean.Named(s.Say("tell.setBy"), s.origins(plan)),
		clean.Named(s.Say("tell.budget"), s.budget(plan.Budget)),
		clean.Named(s.Say("tell.given"), s.given(plan)),
		clean.Named(s.Say("tell.words"), clean.Code(clean.Truncate(plan.Language, 20))),
		clean.Named(s.Say("tell.sandbox"), clean.Inline(f.Sandbox, 200)),
		clean.Named(s.Say("tell.version"), clean.Code(clean.Truncate(f.Version, 100))),
		clean.Named(s.Say("tell.protected"), strings.Join(codes(slices.Concat(plan.Protect, f.Protects)), " ")),
		clean.Named(s.Say("tell.openPaths"), strings.Join(codes(plan.Open), " ")),
		clean.Named(s.Say("tell.bots"), text.Join(" ", codes(f.Bots)...)),
	}
	var list []string
	for _, f := range facts {
		if f != "" {
			list = append(list, "- "+f)
		}
	}
	return s.reply(marker, []string{"**" + s.Say("tell.settings") + "**", s.within(20_000, list), s.crew(plan), s.doubts(), s.rights(f.Rights)})
}

// settings are what a run would go by.
type settings struct{ writer }

// origins says which file each setting comes from that a repository may have for all runs.
func (w settings) origins(plan *pipelines.Pipeline) string {
	var parts []string
	for _, o := range pipelines.OriginsOf(plan) {
		from := map[string]string{"": w.Say("tell.setByNone"), pipelines.GivenForRun: w.Say("tell.setForRun")}[o.File]
		if from == "" {
			from = clean.Code(clean.Truncate(o.File, 200))
		}
		parts = append(parts, from+": "+strings.Join(codes(o.Settings), " "))
	}
	return strings.Join(parts, " · ")
}

// given says what agents have besides what their access gives.
func (w settings) given(plan *pipelines.Pipeline) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		if shown := plan.Agents[name].Shown(); len(shown) > 0 {
			parts = append(parts, clean.Inline(name, 60)+": "+strings.Join(codes(shown), " "))
		}
	}
	return strings.Join(parts, " · ")
}

// budget says what a run may spend.
func (w settings) budget(b pipelines.Budget) string {
	var parts []string
	if b.USD > 0 {
		parts = append(parts, text.USD(b.USD))
	}
	if b.DayUSD > 0 {
		parts = append(parts, w.Say("tell.dayLimit", "usd", text.USD(b.DayUSD)))
	}
	if b.RepoDayUSD > 0 {
		parts = append(parts, w.Say("tell.repoDayLimit", "usd", text.USD(b.RepoDayUSD)))
	}
	if b.Time > 0 {
		parts = append(parts, w.Duration(time.Duration(b.Time)))
	}
	if b.Attempts > 0 {
		parts = append(parts, w.Say("tell.attemptLimit", "n", b.Attempts))
	}
	if b.Tokens > 0 {
		parts = append(parts, w.Say("tell.tokenLimit", "n", text.Tokens(b.Tokens)))
	}
	if len(parts) == 0 {
		return w.Say("tell.unlimited")
	}
	return strings.Join(parts, " · ")
}

// crew says who does what in each phase.
func (w settings) crew(plan *pipelines.Pipeline) string {
	var rows [][]string
	for _, p := range plan.Phases {
		review := w.whoDoes(plan, p.Review)
		if p.NoReview {
			review = w.Say("tell.nobody")
		}
		rows = append(rows, []string{cell(p.Name, 60), w.whoDoes(plan, p.Execute), review, w.whoDoes(plan, p.Revise)})
	}
	if len(rows) == 0 {
		return ""
	}
	head := []string{w.Say("phase"), w.Say("steps.execute"), w.Say("steps.review"), w.Say("steps.revise")}
	return w.within(15_000, grid("", head, rows))
}

// whoDoes is the agent of a step, the program it uses, and the model.
func (w settings) whoDoes(plan *pipelines.Pipeline, s pipelines.Step) string {
	use := ""
	if a, known := plan.Agents[s.Agent]; known && a.Use != s.Agent {
		use = "(" + cell(a.Use, 60) + ")"
	}
	network := ""
	if reach := s.Network; reach.Closed {
		reach.Listen = false // which has words in every language
		network = w.Say("tell.network") + ": " + cell(reach.String(), 200)
	}
	if s.Network.Closed && s.Network.Listen {
		network += ", " + w.Say("tell.servers")
	}
	models := ""
	if s.Models != nil {
		models = w.Say("tell.models") + ": " + cell(cmp.Or(strings.Join(s.Models, ", "), w.Say("tell.nobody")), 200)
	}
	effort := ""
	if s.Effort != "" {
		effort = cell("effort: "+s.Effort, 60)
	}
	return text.Join(" · ", text.Join(" ", cell(s.Agent, 60), use), cell(s.Model, 60), effort, cell(strings.Join(s.Tools.Shown(), ", "), 300), models, network)
}

// rights say which role each command needs.
func (w settings) rights(all []Right) string {
	var rows [][]string
	for _, r := range all {
		rows = append(rows, []string{clean.Code(cellCode(r.Command)), cell(r.Role, 60)})
	}
	if len(rows) == 0 {
		return ""
	}
	return w.within(10_000, grid("", []string{w.Say("tell.command"), w.Say("tell.role")}, rows))
}
