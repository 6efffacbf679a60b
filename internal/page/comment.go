package page

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Comment gives the one live comment of a run as Markdown, in the language of
// the run, with what its record says and nothing else.
func Comment(plan *pipelines.Pipeline, run metadata.Run, l Links) string {
	return LiveComment(plan, run, Notices{Links: l})
}

// LiveComment gives the one live comment of a run as Markdown, in the language
// of the run: where it is, what it costs, what a person can do, what is open,
// and what happened. Text from agents and people is escaped in it. It has at
// most clean.MaxComment characters: what has no room is left out, never the head and
// never the state for programs.
func LiveComment(plan *pipelines.Pipeline, run metadata.Run, t Notices) string {
	w := newWriter(plan, run, t)
	state := w.stateBlock()
	read, later := w.findings(), ""
	if run.Stop == nil {
		read, later = "", read // the run goes on to revise it: nobody has to read it now
	}
	blocks := []string{
		w.put("head", w), w.put("elsewhere", w), w.put("near", w), w.advice(), w.put("stderr", w), w.put("opened", w), w.put("setup", w), w.warnings(),
		alert(alertNote, w.put("edited", w)), w.put("takenBack", w), read, w.proven(), w.phases(), w.doubts(), later, w.suggestions(),
		w.folded(w.Say("questions"), 6_000, "answered", w), w.folded(w.Say("tell.tasks"), 4_000, "tasks", w), w.folded(w.Say("tell.children"), 4_000, "children", w),
		w.rollbacks(), w.history(), w.put("flow", w),
	}
	cut := w.Say("tell.replyCut")
	body, whole := clean.Fit(blocks, clean.MaxComment-clean.Units(state)-clean.Units(cut)-10)
	return text.Join("\n\n", body, text.If(!whole, cut), state) + "\n"
}

// WithoutState leaves out of a live comment what only programs read.
func WithoutState(comment string) string {
	seen, _, _ := strings.Cut(comment, "\n"+stateBegins)
	return seen
}

// stateBegins is how the line with the state begins.
const stateBegins = "<!-- reprise:state:v1 "

// stateBlock is the state for programs that read the comment: JSON that people do
// not see.
func (w *writer) stateBlock() string {
	standing := map[string]metadata.PhaseStatus{} // of phases by name, of which more would take too much room
	for _, r := range w.Rows[:min(len(w.Rows), 60)] {
		standing[clean.Truncate(r.Rec.Name, 100)] = r.Rec.Status
	}
	data, err := json.Marshal(map[string]any{
		"schema": 1, "issue": clean.Truncate(w.Run.IssueNumber, 100), "revision": w.Run.Revision, "status": w.Run.Status, "reason_code": w.reason(),
		"pipeline": clean.Truncate(w.Run.Pipeline.Name, 100), "phase": clean.Truncate(w.Now.Phase, 100), "step": w.Now.Step(), "agent": clean.Truncate(w.Now.Agent, 100),
		"branch": clean.Truncate(w.Run.BranchName, 200), "pull_request": w.Run.PRNumber, "phases": standing,
		"cost_usd": math.Round(w.Run.Cost.USD*1e4) / 1e4, "budget_usd": w.Run.Budget.USD, "tokens": view.AllTokens(w.Run.Cost), "attempts": phases.SpentOf(w.Run).Attempts,
		"rollbacks": len(w.Run.RollbackHistory), "updated_at": w.Run.UpdatedAt.UTC().Truncate(time.Second),
	})
	if err != nil {
		return "" // a time or an amount that JSON cannot hold
	}
	// Names of others may be in it: they neither end the comment nor mention anybody.
	return stateBegins + strings.NewReplacer("--", `-\u002d`, "@", `\u0040`, "#", `\u0023`).Replace(string(data)) + " -->"
}

// phases has a line for each phase, and below it one for each of its parts.
func (w *writer) phases() string { return w.list(12_000, "phases", w) }

// proven is what people decide by: a line for each phase.
func (w *writer) proven() string {
	return clean.PrefixedText(clean.Bold(w.Shown("proven"))+"\n\n", w.list(12_000, "proven", w))
}

// findings are what stands against the work of phases that are not done. They are open to
// view where a person has to read them.
func (w *writer) findings() string {
	return w.details(w.Say("findings"), 20_000, w.items("findings", w), w.Run.Stop != nil)
}

// suggestions are what passing reviews had to say.
func (w *writer) suggestions() string {
	return w.folded(w.Say("comment.suggestions"), 6_000, "suggestions", w)
}

func (w *writer) rollbacks() string { return w.folded(w.Say("rollbacks"), 10_000, "rollbacks", w) }

func (w *writer) history() string { return w.folded(w.Say("commands"), 6_000, "commands", w) }

// doubts says what there is little evidence for.
func (w *writer) doubts() string { return w.within(6_000, "\n\n", w.items("doubts", w)) }

// warnings say what went wrong beside the run, and why no check runs on its
// branch.
func (w *writer) warnings() string {
	items := w.items("warnings", w)
	if len(items) == 1 {
		return alert(alertWarning, items[0])
	}
	for i, one := range items {
		items[i] = "- " + one
	}
	return alert(alertWarning, w.within(6_000, "\n", items))
}

// becomes says what becomes of an issue that a phase has asked for.
func (w *writer) becomes(x metadata.Child) string {
	opened, soon := 0, phases.ToOpen(w.Plan, w.Run)
	for _, c := range w.Run.Children {
		opened += map[bool]int{true: 1}[c.Opened()]
	}
	switch {
	case x.Opened():
		return cmp.Or(clean.Link(strconv.Itoa(x.Number), x.URL), strconv.Itoa(x.Number))
	case slices.ContainsFunc(soon, func(n metadata.Child) bool { return n.ID == x.ID }):
		return w.Say("tell.childNext")
	case opened+len(soon) >= phases.MostChildren:
		return w.Say("tell.childLeft", "n", phases.MostChildren)
	}
	return w.Say("tell.childWaits")
}

// State is what a live comment tells programs of a run.
type State struct {
	Status   metadata.Status `json:"status"`
	Revision int             `json:"revision"`
	USD      float64         `json:"cost_usd"`
}

// StateOf reads what a live comment tells programs; zero if that is not there.
func StateOf(comment string) (s State) {
	_, line, _ := strings.Cut(comment, "\n"+stateBegins)
	if json.Unmarshal([]byte(strings.TrimSuffix(strings.TrimSpace(line), " -->")), &s) != nil {
		return State{}
	}
	return s
}
