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
	where := ""
	if at := w.At; at.Number > 0 {
		step := string(w.Now.Step())
		if step == "" {
			step = string(at.Rec.CurrentStep)
		}
		where = w.Headline(at.Number, w.All, clean.Inline(at.Title, 60), clean.Inline(step, 20))
		where = strings.TrimRight(where, ",、 ") // a phase that failed has no step
		if at.Round() > 1 {
			where += " · " + w.Say("round", "n", at.Round())
		}
	}
	if w.Run.Status == metadata.Running {
		return text.Join(" ", runSign(w.Run.Status), where)
	}
	if w.Run.Status == metadata.Completed {
		where = ""
	}
	return text.Join(" ", runSign(w.Run.Status), text.Join(" · ", text.Capitalize(w.word("statuses", string(w.Run.Status))), where))
}

// linked are the links, in a line.
func (w writer) linked() string {
	branch := clean.Link(w.Say("branch"), w.notices.Branch)
	if branch == "" && w.Run.BranchName != "" {
		branch = w.Say("branch") + " " + clean.Code(clean.Truncate(w.Run.BranchName, 100))
	}
	return text.Join(" · ", clean.Link(w.Say("job"), w.notices.Job), branch, clean.Link(w.Say("pullRequest"), w.pullRequest()), clean.Link(w.Say("report"), w.notices.Report))
}

// pullRequest is the address of the pull request, or "".
func (w writer) pullRequest() string {
	if w.notices.PullRequest != "" {
		return w.notices.PullRequest
	}
	return w.Run.PRURL
}

// facts are what the run has used, and who is at work.
func (w writer) facts() string {
	who := ""
	if w.Run.Status == metadata.Running && w.Now.Agent != "" {
		who = clean.Named(w.Say("agent"), clean.Code(clean.Truncate(w.Now.Agent, 60)))
		who = text.Join(" · ", who, clean.Named(w.Say("model"), clean.Code(clean.Truncate(w.Model, 60))))
	}
	return text.Join(" · ", w.used(), who)
}

// used is what the run has cost, in money and time.
func (w writer) used() string {
	limit, used := w.Run.Budget.USD, w.Run.Cost.USD-w.Run.Budget.Since.USD
	if limit == 0 {
		limit, used = w.Run.Budget.IssueUSD, phases.SpentOnIssue(w.Run)
	}
	estimated := slices.ContainsFunc(w.Run.Attempts, func(a metadata.Attempt) bool { return a.Usage.Estimated })
	elapsed := ""
	if d := w.Run.UpdatedAt.Sub(w.Run.CreatedAt); d >= time.Second {
		elapsed = clean.Named(w.Say("elapsed"), w.Duration(d))
	}
	return text.Join(" · ", clean.Named(w.Say("cost"), w.Spent(used, limit, estimated)), elapsed, view.Together(w.Catalogue, w.Run))
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
