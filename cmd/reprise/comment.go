package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// links are addresses that a comment points at. Those that are empty are left
// out.
type links struct {
	Job         string // of the job that works on the run
	Branch      string
	PullRequest string // if empty, the one that the record names
	Files       string // what a path from the top of the repository is appended to
}

// comment gives the one live comment of a run as Markdown, in the language of
// the run, with nothing told beside its record.
func comment(plan *pipelines.Pipeline, run metadata.Run, l links) string {
	return liveComment(plan, run, told{links: l})
}

// liveComment gives the one live comment of a run as Markdown, in the language
// of the run: where it is, what it costs, what a person can do, what is open,
// and what happened. Text from agents and people is neutral in it. It has at
// most maxComment characters: what has no room is left out, never the head and
// never the state for programs.
func liveComment(plan *pipelines.Pipeline, run metadata.Run, t told) string {
	c := newCommenter(plan, run, t)
	state := c.machine()
	read, later := c.findings(), ""
	if run.Stop == nil {
		read, later = "", read // the run goes on to revise it: nobody has to read it now
	}
	blocks := []string{
		c.head(), c.advice(), c.lastWords(), c.warnings(), c.edited(), c.takenBack(), read, c.checklist(), c.picture(), later, c.suggestions(), c.answered(),
		c.tasks(), c.children(), c.rollbacks(), c.asked(),
	}
	text, whole := fitting(blocks, maxComment-units(state)-units(c.more.CutOff)-10)
	if !whole {
		state = joined("\n\n", c.more.CutOff, state)
	}
	return joined("\n\n", text, state) + "\n"
}

func newCommenter(plan *pipelines.Pipeline, run metadata.Run, t told) commenter {
	plan = whole(plan)
	return commenter{
		Catalogue: prompts.Words(run.Language), more: moreWords(run.Language),
		plan: plan, run: run, told: t, rows: rowsOf(plan, run), now: doing(plan, run),
	}
}

// commenter writes the parts of a comment.
type commenter struct {
	prompts.Catalogue
	more extraWords
	told told
	plan *pipelines.Pipeline
	run  metadata.Run
	rows []row
	now  phases.Decision
}

// head is the marker, the headline, and the facts.
func (c commenter) head() string {
	lines := []string{markerOf("progress", c.run.IssueNumber), "### " + c.headline(), ""}
	for _, facts := range []string{c.linked(), c.facts()} {
		if facts != "" {
			lines = append(lines, facts, "")
		}
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n")
}

// headline says where the run is, or how it ended.
func (c commenter) headline() string {
	at := rowOf(c.rows, c.now.Phase)
	where := ""
	if at.Number > 0 {
		step := string(c.now.Step())
		if step == "" {
			step = string(at.Rec.CurrentStep)
		}
		where = c.Headline(at.Number, len(c.rows), inline(at.Rec.Name, 60), inline(step, 20))
		where = strings.TrimRight(where, ",、 ") // a phase that failed has no step
		if at.round() > 1 {
			where += " · " + c.Round(at.round())
		}
	}
	if c.run.Status == metadata.Running {
		return joined(" ", runSign(c.run.Status), where)
	}
	if c.run.Status == metadata.Completed {
		where = ""
	}
	return joined(" ", runSign(c.run.Status), joined(" · ", capital(c.word(c.Statuses, string(c.run.Status))), where))
}

func runSign(s metadata.Status) string {
	switch s {
	case metadata.Running:
		return "🔄"
	case metadata.Completed:
		return "✅"
	case metadata.Failed:
		return "❌"
	case metadata.Cancelled:
		return "🚫"
	case metadata.Interrupted:
		return "⏸️"
	}
	return "✋"
}

// linked are the links, in a line.
func (c commenter) linked() string {
	branch := link(c.Branch, c.told.Branch)
	if branch == "" && c.run.BranchName != "" {
		branch = c.Branch + " " + code(brief(c.run.BranchName, 100))
	}
	return joined(" · ", link(c.Job, c.told.Job), branch, link(c.PullRequest, c.pullRequest()))
}

// pullRequest is the address of the pull request, or "".
func (c commenter) pullRequest() string {
	if c.told.PullRequest != "" {
		return c.told.PullRequest
	}
	return c.run.PRURL
}

// facts are what the run has used, and who is at work.
func (c commenter) facts() string {
	who := ""
	if c.run.Status == metadata.Running && c.now.Agent != "" {
		who = named(c.Agent, code(brief(c.now.Agent, 60)))
		if model := modelOf(c.plan, c.run, c.now); model != "" {
			who += " · " + named(c.Model, code(brief(model, 60)))
		}
	}
	return joined(" · ", c.used(), who)
}

// used is what the run has cost, in money and time.
func (c commenter) used() string {
	limit, used := c.run.Budget.USD, c.run.Cost.USD-c.run.Budget.Since.USD
	if limit == 0 {
		limit, used = c.run.Budget.IssueUSD, c.run.Cost.USD
	}
	estimated := slices.ContainsFunc(c.run.Attempts, func(a metadata.Attempt) bool { return a.Usage.Estimated })
	elapsed := ""
	if d := c.run.UpdatedAt.Sub(c.run.CreatedAt); d >= time.Second {
		elapsed = named(c.Elapsed, c.Duration(d))
	}
	return joined(" · ", named(c.Cost, c.Spent(used, limit, estimated)), elapsed)
}

// takenBack says why the phase at hand was taken back, until that is met.
func (c commenter) takenBack() string {
	rec := rowOf(c.rows, c.now.Phase).Rec
	if rec.RollbackContext == nil || len(c.run.RollbackHistory) == 0 {
		return ""
	}
	back := rec.RollbackContext
	for _, e := range slices.Backward(c.run.RollbackHistory) {
		if e.ToPhase == rec.Name {
			return quoted("↩️ **"+c.back(e)+"**", brief(back.Reason, 600))
		}
	}
	return ""
}

// back is an entry of the history without its reason.
func (c commenter) back(e metadata.Rollback) string {
	return c.RolledBack(inline(e.FromPhase, 60), inline(e.ToPhase, 60), inline(string(e.ToStep), 20), inline(e.By, 60), e.TriggeredBy == metadata.Automatic)
}

// word translates a word of the record.
func (c commenter) word(words map[string]string, key string) string {
	if w, ok := words[key]; ok {
		return w
	}
	return inline(key, 40)
}

// checklist has a line for each phase.
func (c commenter) checklist() string {
	var lines []string
	for _, r := range c.rows {
		lines = append(lines, c.checked(r))
	}
	return c.within(12_000, lines)
}

func (c commenter) checked(r row) string {
	box, name := "- [ ] ", inline(r.Rec.Name, 60)
	state := ""
	switch r.Rec.Status {
	case metadata.PhaseCompleted:
		box = "- [x] "
	case metadata.PhaseSkipped:
		box, state = "- [x] ", c.word(c.Statuses, string(r.Rec.Status))
	case metadata.PhasePending, "":
	case metadata.PhaseInProgress:
		name = bold(name)
		state = joined(", ", c.word(c.Steps, string(r.Rec.CurrentStep)), c.Round(r.round()))
	default:
		name = bold(name)
		state = c.word(c.Statuses, string(r.Rec.Status))
	}
	used := ""
	if r.Attempts > 0 {
		used = joined(" · ", c.Attempts+" "+fmt.Sprint(r.Attempts), usd(r.USD))
	}
	return box + joined(" · ", name, state, used, c.artifacts(r))
}

// artifacts names what a phase wrote, as links where that is possible.
func (c commenter) artifacts(r row) string {
	var out []string
	for i, f := range r.artifacts() {
		if i == 3 {
			break
		}
		out = append(out, c.file(f))
	}
	return strings.Join(out, ", ")
}

// file names a file of the branch, as a link where that is possible.
func (c commenter) file(name string) string {
	return cmp.Or(link(inline(lastOf(name), 80), fileURL(c.told.Files, name)), code(brief(name, 200)))
}

// picture draws the pipeline.
func (c commenter) picture() string {
	const most = 60 // more phases cannot be read
	if len(c.rows) == 0 || len(c.rows) > most {
		return ""
	}
	return "```mermaid\n" + mermaid(c.plan, &c.run) + "```"
}
