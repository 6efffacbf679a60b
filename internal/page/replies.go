package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Replies are Markdown of at most clean.MaxComment characters. Each begins with the marker line by which it is found.

// Notice says in short where a run is or how it has stopped, and what to do. Those who
// are named get a notification.
func Notice(marker string, who []string, c phases.Course, t Notices) string {
	w := newWriter(c, t)
	return w.reply(marker, text.Join(" ", mentions(who), clean.Bold(w.headline())), w.put("progress", w), w.warnings(), w.advice(), w.put("opened", w), w.put("ways on", w))
}

// mentions calls people by their logins.
func mentions(who []string) string {
	var names []string
	for _, login := range who {
		names = append(names, "@"+strings.TrimPrefix(login, "@"))
	}
	return strings.Join(names, " ")
}

// LateCI tells people that CI fails of a run that was completed before.
func LateCI(marker string, who []string, c phases.Course, red metadata.Reason, t Notices) string {
	w := newWriter(c, t)
	return w.reply(marker, text.Join(" ", mentions(who), clean.Bold("❌ "+clean.Inline(w.in(red), 500))),
		alert(alertWarning, text.Join("\n\n", w.Say("comment.lateCI"), clean.Bold(w.Say("comment.now")), w.wayBack())), w.put("ways on", w))
}

// Unstarted tells people of a job that ended before reprise could begin, with its address and
// the command to give again; an empty one is a review, which no comment repeats.
func Unstarted(marker, language string, who []string, command, job string) string {
	w := speaker(language)
	does := w.Say("comment.beginJob")
	if command != "" {
		does = w.Say("comment.beginAgain", "command", code(command, 300))
	}
	return w.reply(marker, text.Join(" ", mentions(who), clean.Bold(w.Say("comment.unstarted"))), clean.Named(w.Say("whatNow"), does), clean.Link(w.Say("job"), job))
}

// GivenUp says why a run was given up, with the marker of that comment. It stands on the
// issue and on the pull request, which are closed then.
func GivenUp(run metadata.Run) (marker, body string) {
	w := newWriter(phases.On(nil, run), Notices{})
	who := ""
	if n := len(run.Approvals); n > 0 {
		who = run.Approvals[n-1].By
	}
	marker = MarkerOf("given-up", fmt.Sprintf("%s/%d", run.IssueNumber, run.Stop.At.UnixMilli()))
	return marker, w.reply(marker,
		clean.Quote(clean.Bold(w.Shown("closed given up", "who", code(who, 60))), clean.Truncate(w.in(phases.GivenUp(run)), 4_000)),
		w.Shown("after given up"), clean.Link(w.Say("progress"), run.GitHubIntegration.ProgressCommentURL))
}

// RefusalReply says why commands are not carried out, and how to change that.
// The same that was given several times is told once.
func RefusalReply(marker, language string, all ...command.Denial) string {
	w := speaker(language)
	var blocks []string
	for _, d := range all {
		if block := w.refused(d); !slices.Contains(blocks, block) {
			blocks = append(blocks, block)
		}
	}
	return w.reply(marker, blocks...)
}

// RollbackReply shows what a rollback would change, without changing it: the
// phases that change, the files that move, and what the next agent is told.
func RollbackReply(marker string, plan *pipelines.Pipeline, back phases.RollbackPlan) string {
	w := newWriter(phases.On(plan, back.Run), Notices{})
	return w.reply(marker, slices.Insert(w.preview(back), 1, text.Join(" ", w.Say("tell.unchanged"), w.Say("tell.carryOut")))...)
}

// preview shows in detail what a rollback changes.
func (w *writer) preview(back phases.RollbackPlan) []string {
	return []string{
		w.put("preview", back), w.list(15_000, "changes", back), w.folded(w.Say("tell.setAside"), 8_000, "moved", back.Moves), w.folded(w.Say("tell.restored"), 8_000, "restored", back.Paths),
		clean.Details(w.Say("tell.writes", "file", text.Cut(view.Label(text.Last(back.ReasonFile)), 100)), w.put("writes", back), true),
	}
}

// Opinion is what an agent said about a run that somebody asked it about, as a
// decision of the record has it.
type Opinion struct {
	About metadata.Decision
	why   metadata.Reason // auto_done, auto_proposed or auto_needless; the parts are values of it
}

// OpinionOf reads the opinion that a decision has; ok is false if it has none.
func OpinionOf(about metadata.Decision) (o Opinion, ok bool) {
	why := about.Why
	if why.Code() == "taken_without" {
		why = why.Value("what")
	}
	return Opinion{about, why}, slices.Contains([]string{"auto_done", "auto_proposed", "auto_needless"}, why.Code())
}

// OpinionReply tells what an agent said about a run, what became of it, and the
// command to copy where that is left to people.
func OpinionReply(marker string, c phases.Course, o Opinion) string {
	w := newWriter(c, Notices{})
	said := func(r metadata.Reason, name string) string { return r.Value(name).In(prompts.Words("en")) }
	back, asked := o.why.Value("diagnosed").Value("diagnosis"), command.Parse(o.About.Command, false).Command
	d := phases.Diagnosis{
		ToPhase: said(back, "phase"), ToStep: metadata.Step(said(back, "step")), Reason: said(o.why, "reason"),
		Confidence: phases.Confidence(said(back, "confidence")), Analysis: said(o.why, "analysis"),
	}
	became := w.Say("tell.unchanged")
	var preview []string
	switch o.why.Code() {
	case "auto_done":
		became = w.Say("comment.takenBack")
	case "auto_proposed":
		not := w.Say("comment.notTaken") + w.Say("tell.colon") + clean.Inline(w.in(o.why.Value("not")), 600)
		does := strings.TrimSpace(command.ProposedBy(d, asked.Restore).String())
		became = alert(alertImportant, text.Join("\n\n", not, clean.Named(w.Say("whatNow"), w.Say("comment.carryOut")), clean.Fenced(does)))
		// The run may have gone on since, so that it cannot be carried out any more.
		back, err := phases.FollowDiagnosis(w.Course, d, phases.Rollback{By: o.About.By, Restore: asked.Restore, At: o.About.At})
		if err == nil && asked.DryRun {
			preview = newWriter(phases.On(w.Plan, back.Run), Notices{}).preview(back)
		}
	}
	return w.reply(marker, append([]string{
		text.Join(" · ", clean.Bold(clean.Inline(w.in(o.why.Value("diagnosed")), 600)), code(o.About.By, 60)), became, clean.Quote(clean.Bold(w.Say("comment.saw")), d.Analysis),
	}, preview...)...)
}

// Right is a command, or several, and the role that may give it.
type Right struct{ Command, Role string }

// ConfigFacts are what the answer to a question about the settings tells
// besides the pipeline.
type ConfigFacts struct {
	Why     string   // why the issue has this pipeline
	From    string   // where pipelines and settings were read from, such as a branch and its commit
	Sandbox string   // the one in force, in a few words
	Version string   // of reprise
	Rights  []Right  // in the order to be shown
	Bots    []string // the exact names that may give commands
}

// ConfigReply says what a run of the issue would go by.
func ConfigReply(marker, language string, plan *pipelines.Pipeline, f ConfigFacts) string {
	w := newWriter(phases.On(plan, metadata.Run{Language: language}), Notices{})
	return w.reply(marker, clean.Bold(w.Say("tell.settings")), w.list(20_000, "config", struct {
		Plan *pipelines.Pipeline
		ConfigFacts
	}{w.Plan, f}), w.doubts(), clean.Details(w.Say("pipeline"), clean.Fenced(clean.Truncate(view.Settings(w.Plan), 30_000)), false), w.folded(w.Say("commands"), 10_000, "rights", f.Rights))
}

// ReviewCutReply tells, below the pull request, that only some of what a review says about
// lines was taken, and what to do with the rest.
func ReviewCutReply(marker, language string, taken, left int) string {
	w := speaker(language)
	return w.reply(marker, w.Say("tell.reviewCut", "taken", taken, "left", left))
}

// mostWhy is how much of a reason stands in an answer to a comment on a line.
const mostWhy = 2_000

// ThreadReply answers, in the conversation of a line of the pull request, what a
// review has said there: in which commit it is done, or why it is not.
func ThreadReply(language, commit string, comments []metadata.ReviewComment) string {
	w := speaker(language)
	var lines []string
	for _, c := range comments {
		switch c.Finding.Status {
		case metadata.Fixed:
			lines = append(lines, w.Say("tell.fixedIn", "commit", commit))
		case metadata.StillOpen:
			lines = append(lines, w.Say("tell.notChanged", "why", clean.Sanitize(c.Finding.Solution, nil, mostWhy, w.Say("tell.replyCut"))))
		default:
			lines = append(lines, w.Say("tell.revisedIn", "commit", commit))
		}
	}
	return text.Join("\n\n", lines...)
}
