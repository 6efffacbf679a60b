package page

import (
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// headline says where the run is, or how it ended.
func (w writer) headline() string {
	at := view.RowOf(w.rows, w.now.Phase)
	where := ""
	if at.Number > 0 {
		step := string(w.now.Step())
		if step == "" {
			step = string(at.Rec.CurrentStep)
		}
		where = w.Headline(at.Number, view.PhasesIn(w.rows), clean.Inline(at.Title, 60), clean.Inline(step, 20))
		where = strings.TrimRight(where, ",、 ") // a phase that failed has no step
		if at.Round() > 1 {
			where += " · " + w.Say("round", "n", at.Round())
		}
	}
	if w.run.Status == metadata.Running {
		return text.Join(" ", runSign(w.run.Status), where)
	}
	if w.run.Status == metadata.Completed {
		where = ""
	}
	return text.Join(" ", runSign(w.run.Status), text.Join(" · ", text.Capitalize(w.word("statuses", string(w.run.Status))), where))
}

// linked are the links, in a line.
func (w writer) linked() string {
	branch := clean.Link(w.Say("branch"), w.notices.Branch)
	if branch == "" && w.run.BranchName != "" {
		branch = w.Say("branch") + " " + clean.Code(clean.Truncate(w.run.BranchName, 100))
	}
	return text.Join(" · ", clean.Link(w.Say("job"), w.notices.Job), branch, clean.Link(w.Say("pullRequest"), w.pullRequest()), clean.Link(w.Say("report"), w.notices.Report))
}

// pullRequest is the address of the pull request, or "".
func (w writer) pullRequest() string {
	if w.notices.PullRequest != "" {
		return w.notices.PullRequest
	}
	return w.run.PRURL
}

// facts are what the run has used, and who is at work.
func (w writer) facts() string {
	who := ""
	if w.run.Status == metadata.Running && w.now.Agent != "" {
		who = clean.Named(w.Say("agent"), clean.Code(clean.Truncate(w.now.Agent, 60)))
		if model := view.ModelOf(w.plan, w.run, w.now); model != "" {
			who += " · " + clean.Named(w.Say("model"), clean.Code(clean.Truncate(model, 60)))
		}
	}
	return text.Join(" · ", w.used(), who)
}

// used is what the run has cost, in money and time.
func (w writer) used() string {
	limit, used := w.run.Budget.USD, w.run.Cost.USD-w.run.Budget.Since.USD
	if limit == 0 {
		limit, used = w.run.Budget.IssueUSD, phases.SpentOnIssue(w.run)
	}
	estimated := slices.ContainsFunc(w.run.Attempts, func(a metadata.Attempt) bool { return a.Usage.Estimated })
	elapsed := ""
	if d := w.run.UpdatedAt.Sub(w.run.CreatedAt); d >= time.Second {
		elapsed = clean.Named(w.Say("elapsed"), w.Duration(d))
	}
	return text.Join(" · ", clean.Named(w.Say("cost"), w.Spent(used, limit, estimated)), elapsed, view.Together(w.Catalogue, w.run))
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
