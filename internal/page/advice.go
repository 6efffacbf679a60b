package page

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// advice is why a run does not go on, and what a person can do about it.
type advice struct{ writer }

// text says why the run or parts of a phase do not go on, and what a person can do
// now: the one thing that is asked, where something is.
func (w advice) text() string { return text.Join("\n\n", w.onRun(), w.halts()) }

// halts says of each part of a phase that it does not go on, why, and which command
// changes that. The one that the run has stopped at is told of with the run.
func (w advice) halts() string {
	items := []string{clean.Bold(w.Say("comment.halted"))}
	for _, d := range phases.Halts(w.Plan, w.Run) {
		if w.Run.Stop != nil && w.Run.Stop.Phase == d.Phase {
			continue
		}
		does := "/retry " + d.Phase
		if d.Code == metadata.AwaitingPerson {
			does = "/approve " + d.Phase
		}
		asked := slices.IndexFunc(phases.Questions(w.Run), func(q metadata.Question) bool { return q.Phase == d.Phase })
		if asked >= 0 && w.Run.Stop != nil && w.Run.Stop.Code == metadata.AwaitingPerson {
			continue // all questions are told of with the run
		}
		if asked >= 0 {
			does = "/answer " + phases.Questions(w.Run)[asked].ID
		}
		items = append(items, "- "+clean.Inline(w.title(d.Phase), 60)+": "+clean.Inline(d.Why.In(w.Catalogue), 600)+" "+clean.Code(does))
	}
	if len(items) == 1 {
		return ""
	}
	return alert(alertNote, w.within(10_000, items))
}

// onRun says why the run does not go on.
func (w advice) onRun() string {
	reason := metadata.Done
	if stop := w.Run.Stop; stop != nil {
		reason = stop.Code
	} else if w.Run.Status != metadata.Completed {
		return ""
	}
	if reason == metadata.AwaitingPerson {
		return w.waitsFor()
	}
	a := w.adviceOn(reason)
	kind := alertWarning
	switch {
	case reason == metadata.Done:
		return alert(alertTip, text.Join("\n\n", a.Meaning, clean.Bold(w.Say("comment.now")), strings.Join(w.afterwards(), "\n")))
	case w.Run.Status == metadata.Interrupted:
		kind, a.Meaning = alertNote, w.Say("comment.interrupted")
	case w.Run.MissesCI():
		a.Meaning, a.Do = w.Say("comment.missesCI"), w.Say("comment.seeToCI")
	case reason == metadata.RunCancelled, reason == metadata.AwaitingCI:
		kind = alertNote
	case reason == metadata.BudgetExceeded && !phases.OfDay(w.Run.Stop):
		a.Do = w.Say("tell.allowMore", "command", "/run "+phases.LimitOf(w.Run).Flag())
	}
	words := ""
	if verbatim(reason) && w.Run.Stop.Why != "" {
		words = clean.Code(clean.Truncate(w.Run.Stop.Why.In(w.Catalogue), 300))
	}
	names := ""
	if strings.Contains(a.Do, "/rollback") {
		names = w.wayBack()
	}
	return alert(kind, text.Join("\n\n", a.Meaning, words, clean.Named(w.Say("whatNow"), a.Do), names))
}

// afterwards are the ways on from a run that is completed.
func (w advice) afterwards() []string {
	var ways []string
	if link := clean.Link(w.Say("comment.review"), w.pullRequest()); link != "" {
		ways = append(ways, "- "+link)
	}
	if back := w.wayBack(); back != "" {
		ways = append(ways, "- "+back)
	}
	return ways
}

// wayBack is the command that takes the run back, with the names of the phases to
// which it can: on the page they have titles.
func (w advice) wayBack() string {
	var names []string
	for _, r := range w.Rows {
		if r.Rec.Status != metadata.PhasePending && r.Rec.Status != metadata.PhaseSkipped && r.Rec.Status != "" {
			names = append(names, r.Rec.Name)
		}
	}
	const most = 20
	if len(names) == 0 {
		return ""
	}
	return w.Say("comment.back", "phases", w.List(codes(names[max(0, len(names)-most):])))
}

// lastWords is what the program of the agent wrote to standard error that
// could not do what the run stopped at.
func (w advice) lastWords() string {
	lines := view.LastLines(view.Stderr(w.Run), view.FailureLines)
	if len(lines) == 0 {
		return ""
	}
	return clean.Details(w.Say("comment.stderr"), clean.Fenced(strings.Join(lines, "\n")), true)
}

// waitsFor says what the run waits to be told: answers, an approval, or only that
// it goes on.
func (w advice) waitsFor() string {
	phase, role, _, ok := phases.Approval(w.Plan, w.Run)
	switch open := phases.Questions(w.Run); {
	case len(open) > 0:
		return alert(alertImportant, w.questions(open))
	case ok:
		return alert(alertImportant, w.approval(phase, role))
	}
	return alert(alertNote, text.Join("\n\n", clean.Inline(text.Capitalize(w.Run.Stop.Why.In(w.Catalogue)), 600), clean.Named(w.Say("whatNow"), w.Say("comment.resume"))))
}

// approval says what has to be approved, by whom, and with which commands.
func (w advice) approval(phase, role string) string {
	var ways []string
	for _, name := range phases.Approvals(w.Plan, w.Run) {
		ways = append(ways, "- "+clean.Code("/approve "+name)+": "+w.Say("comment.approves"), "- "+clean.Code("/rollback "+name+" REASON")+": "+w.Say("comment.rejects"))
	}
	if back, ok := phases.Proposed(w.Plan, w.Run); ok {
		command := command.Command{Name: "rollback", Phase: back.To, Step: back.Step, Text: back.Reason}
		ways = append(ways, "- "+clean.Code(clean.Truncate(command.Line(), 300))+": "+w.Say("comment.proposed"))
	}
	why := ""
	if rec := w.Run.Phase(phase); rec.Ask != "" { // else the pipeline asks for it, which is no news
		why = clean.Inline(rec.Ask.In(w.Catalogue), 600)
	}
	return text.Join("\n\n", clean.Bold(w.WaitingFor(clean.Inline(role, 40), clean.Inline(w.title(phase), 60))), why, clean.Named(w.Say("whatNow"), w.Say("comment.choose")), strings.Join(ways, "\n"))
}

// questions are what agents ask people, with how to answer. A question that
// nobody can answer any more, as its phase was taken back or left out, is not
// among them.
func (w advice) questions(open []metadata.Question) string {
	phase := clean.Inline(w.title(open[0].Phase), 60)
	asks := w.Say("comment.asksOne", "phase", phase)
	if len(open) > 1 {
		asks = w.Say("comment.asksMany", "phase", phase, "n", len(open))
	}
	items := []string{clean.Bold(asks)}
	for _, q := range open {
		items = append(items, "\n"+w.question(q))
	}
	return w.within(30_000, items)
}

// question is one that is open.
func (w advice) question(q metadata.Question) string {
	lines := []string{"❓ " + clean.Bold(clean.Inline(q.ID, 20)) + " " + clean.Inline(q.Text, 1500)}
	for _, o := range q.Options {
		lines = append(lines, "- "+clean.Inline(o, 200))
	}
	return strings.Join(lines, "\n") + "\n\n" + w.Say("tell.answerWith") + " " + clean.Code("/answer "+q.ID)
}

// verbatim reports whether the words of a program say more than the meaning
// of the code does.
func verbatim(code metadata.Code) bool {
	return slices.Contains([]metadata.Code{
		metadata.BudgetExceeded, metadata.AgentFailed, metadata.DiskFailed, metadata.SetupFailed, metadata.CredentialsMissing, metadata.APIError, metadata.ConfigInvalid, metadata.TimedOut,
		metadata.OutputInvalid, metadata.NoProgress, metadata.PushFailed, metadata.RefChanged, metadata.AwaitingCI, metadata.CIFailed, metadata.Conflicts, metadata.StateCorrupt, metadata.SecretFound,
	}, code)
}
