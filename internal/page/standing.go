package page

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// headline says where the run is, or how it ended.
func (w *writer) headline() string {
	where := ""
	if w.At.Number > 0 && w.Run.Status != metadata.Completed {
		step := cmp.Or(string(w.Now.Step()), string(w.At.Rec.CurrentStep))
		where = w.Headline(w.At.Number, w.All, clean.Inline(w.At.Title, 60), clean.Inline(step, 20))
		where = strings.TrimRight(where, ",、 ") // a phase that failed has no step
		where = text.Join(" · ", where, text.If(w.At.Round() > 1, w.Say("round", "n", w.At.Round())))
	}
	if w.Run.Status != metadata.Running {
		where = text.Join(" · ", text.Capitalize(w.word("statuses", w.Run.Status)), where)
	}
	return text.Join(" ", runSign(w.Run.Status), where)
}

// used is what the run has cost, in money and time.
func (w *writer) used() string {
	used, limit := view.Budgeted(w.Run)
	estimated := slices.ContainsFunc(w.Run.Attempts, func(a metadata.Attempt) bool { return a.Usage.Estimated })
	elapsed := w.Run.UpdatedAt.Sub(w.Run.CreatedAt)
	return text.Join(" · ",
		clean.Named(w.Say("cost"), w.Spent(used, limit, estimated)+view.Unpriced(w.Run)), text.If(elapsed >= time.Second, clean.Named(w.Say("elapsed"), w.Duration(elapsed))), view.Together(w.Catalogue, w.Run))
}

// facts are what the run has used, and who is at work.
func (w *writer) facts() string {
	if w.Run.Status != metadata.Running || w.Now.Agent == "" {
		return w.used()
	}
	return text.Join(" · ", w.used(), clean.Named(w.Say("agent"), code(w.Program(w.Now.Agent), 60)), clean.Named(w.Say("model"), code(w.Model, 60)))
}

// step is what a phase is at: what is being done there, else what comes next.
func (w *writer) step(r view.Row) string {
	if r.Rec.Name == w.Now.Phase && w.Now.Step() != "" {
		return string(w.Now.Step())
	}
	return cmp.Or(string(r.Rec.CurrentStep), string(w.Now.Step()))
}

// standing is where a phase stands. One that is about to begin, or has just done so,
// is at work, which its record says only later.
func (w *writer) standing(r view.Row) metadata.PhaseStatus {
	pending := r.Rec.Status == metadata.PhasePending || r.Rec.Status == ""
	if pending && w.Run.Status == metadata.Running && r.Rec.Name == w.Now.Phase {
		return metadata.PhaseInProgress
	}
	return r.Rec.Status
}

func runSign(s metadata.Status) string {
	return cmp.Or(map[metadata.Status]string{
		metadata.Running: "🔄", metadata.Completed: "✅", metadata.Failed: "❌", metadata.Cancelled: "🚫", metadata.Interrupted: "⏸️",
	}[s], "✋")
}

// phaseSign is where a phase stands, at a glance.
func (w *writer) phaseSign(r view.Row) string {
	if r.Approval {
		return runSign(metadata.Waiting)
	}
	return cmp.Or(map[metadata.PhaseStatus]string{
		metadata.PhaseCompleted: "✅", metadata.PhaseSkipped: "⏭️", metadata.PhaseInProgress: runSign(w.Run.Status), metadata.PhaseFailed: "❌",
	}[w.standing(r)], text.If(r.Attempts > 0, "↩️"), "▫️") // the second was taken back, and is to be done again
}

// square is a phase in the bar.
func (w *writer) square(r view.Row) string {
	active := cmp.Or(map[metadata.Status]string{metadata.Running: "🟦", metadata.Failed: "🟥"}[w.Run.Status], "🟨")
	if r.Approval {
		return active
	}
	return cmp.Or(map[metadata.PhaseStatus]string{
		metadata.PhaseCompleted: "🟩", metadata.PhaseSkipped: "🟩", metadata.PhaseInProgress: active, metadata.PhaseFailed: "🟥",
	}[w.standing(r)], "⬜")
}

// bar is how far a run has got, in squares: one for each phase, or twelve.
func (w *writer) bar() (squares string) {
	for i, n := 0, min(len(w.Rows), 12); i < n; i++ { // they are in one line on a phone
		squares += w.square(w.Rows[i*len(w.Rows)/n])
	}
	return squares
}

// adviceOn explains a reason code, also one that is not known.
func (w *writer) adviceOn(reason metadata.Code) prompts.Advice {
	code := string(reason)
	if key := code + ".meaning"; w.Word("codes", key) == key { // it may be from anywhere
		code = clean.Inline(code, 60)
	}
	return w.Explain(code)
}

// advice says why the run or parts of a phase do not go on, and what a person can do
// now: the one thing that is asked, where something is.
func (w *writer) advice() string { return text.Join("\n\n", w.onRun(), w.halts()) }

// onRun says why the run does not go on.
func (w *writer) onRun() string {
	reason := w.Code()
	a, kind, words := w.adviceOn(reason), alertWarning, ""
	switch {
	case reason == "":
		return alert(alertNote, text.Join("\n\n", clean.Bold(w.Say("comment.now")), w.put("steer", w)))
	case reason == metadata.AwaitingPerson:
		return w.waitsFor()
	case reason == metadata.Done:
		return alert(alertTip, text.Join("\n\n", a.Meaning, clean.Bold(w.Say("comment.now")), w.put("afterwards", w)))
	case w.Run.Status == metadata.Interrupted:
		kind, a.Meaning = alertNote, w.Say("comment.interrupted")
	case w.Run.MissesCI():
		a.Meaning, a.Do = w.Say("comment.missesCI"), w.Say("comment.seeToCI")
	case reason == metadata.RunCancelled, reason == metadata.AwaitingCI:
		kind = alertNote
	case reason == metadata.BudgetExceeded && !phases.OfDay(w.Run.Stop):
		a.Do = w.Say("tell.allowMore", "command", "/run "+phases.LimitOf(w.Run).Flag())
	}
	if slices.Contains(verbatim, reason) || w.Run.Status == metadata.Cancelled {
		if words = code(w.in(w.Run.Stop.Why), 300); strings.Contains(string(w.Run.Stop.Why), `"last_words"`) {
			words = clean.Fenced(clean.Truncate(w.in(w.Run.Stop.Why), 700))
		}
	}
	return alert(kind, text.Join("\n\n", a.Meaning, words, clean.Named(w.Say("whatNow"), a.Do), text.If(strings.Contains(a.Do, "/rollback"), w.wayBack())))
}

// verbatim are the codes whose meaning says less than the words of a program do.
var verbatim = []metadata.Code{
	metadata.BudgetExceeded, metadata.AgentFailed, metadata.DiskFailed, metadata.SetupFailed, metadata.CredentialsMissing, metadata.APIError, metadata.ConfigInvalid, metadata.TimedOut,
	metadata.OutputInvalid, metadata.NoProgress, metadata.PushFailed, metadata.RefChanged, metadata.AwaitingCI, metadata.CIFailed, metadata.Conflicts, metadata.StateCorrupt, metadata.SecretFound,
}

// waitsFor says what the run waits to be told: answers, an approval, or only that
// it goes on.
func (w *writer) waitsFor() string {
	if open := phases.Questions(w.Run); len(open) > 0 {
		return alert(alertImportant, w.list(30_000, "questions", open))
	}
	if wanted := view.Wanted(w.Course); wanted != nil {
		return alert(alertImportant, w.put("approval", wanted))
	}
	return alert(alertNote, w.put("resume", w))
}

// proposal is the command for what an agent proposes in the place of an approval, or "".
func (w *writer) proposal() string {
	back, ok := phases.Proposed(w.Course)
	if !ok {
		return ""
	}
	return command.Command{Name: "rollback", Phase: back.To, Step: back.Step, Text: back.Reason}.Line()
}

// halts says why parts of a phase do not go on, and which command changes that. The one that the run has stopped at is
// told of with the run, and so are all questions.
func (w *writer) halts() string {
	items := []string{clean.Bold(w.Say("comment.halted"))}
	for _, d := range phases.Halts(w.Course) {
		does := "/retry " + d.Phase
		if d.Code == metadata.AwaitingPerson {
			does = "/approve " + d.Phase
		}
		for _, q := range phases.Questions(w.Run) {
			if q.Phase == d.Phase {
				does = text.If(w.Code() != metadata.AwaitingPerson, "/answer "+q.ID)
				break
			}
		}
		if does != "" && (w.Run.Stop == nil || w.Run.Stop.Phase != d.Phase) {
			items = append(items, "- "+w.title(d.Phase)+": "+clean.Inline(w.in(d.Why), 600)+" "+clean.Code(does))
		}
	}
	return alert(alertNote, text.If(len(items) > 1, w.within(10_000, "\n", items)))
}

// wayBack is the command that takes the run back, with the names of the phases to
// which it can: on the page they have titles.
func (w *writer) wayBack() string {
	var names []string
	for _, r := range w.Rows {
		if !slices.Contains([]metadata.PhaseStatus{metadata.PhasePending, metadata.PhaseSkipped, ""}, r.Rec.Status) {
			names = append(names, r.Rec.Name)
		}
	}
	return text.If(len(names) > 0, w.Say("comment.back", "phases", w.List(codes(names[max(0, len(names)-20):]))))
}

// refused says what was refused, why, and how to change that.
func (w *writer) refused(d command.Denial) string {
	a := w.adviceOn(d.Code)
	if d.Known && d.Code == metadata.AlreadyRunning { // it was not put off: it has no effect on a run that goes on
		a = w.adviceOn(metadata.NothingDone)
	}
	switch asked := d.Why.Code(); {
	case asked == "undiagnosed", asked == "not_asked" && d.Code == metadata.BudgetExceeded:
		a.Do = w.Say("tell.nameDo")
	case asked == "not_asked" && d.Code == metadata.NothingDone:
		a.Do = w.Say("tell.seenDo")
	case d.Known && (d.Code == metadata.NothingDone || d.Code == metadata.AlreadyRunning):
		a.Do = w.Say("tell.refusedDo")
	}
	return text.Join("\n\n",
		text.Join(" · ", code(text.FirstLine(d.What), 200), code(d.By, 60)),
		w.because(a.Meaning, d.Why), clean.Named(w.Say("whatNow"), a.Do), code(d.Code, 60))
}

// because adds the words of a program to what a code means: several lines, such
// as all mistakes of a file, are a list.
func (w *writer) because(meaning string, reason metadata.Reason) string {
	var items []string
	for l := range strings.Lines(w.in(reason)) {
		if l = clean.Inline(l, 600); l != "" {
			items = append(items, "- "+l)
		}
	}
	if len(items) == 1 {
		return strings.TrimRight(meaning, ".。") + w.Say("tell.colon") + items[0][2:]
	}
	return text.Join("\n\n", meaning, w.within(10_000, "\n", items))
}

// commands gives the commands that people gave, the newest first.
func (w *writer) commands() []Requested {
	all := slices.Clone(w.Requests)
	for _, d := range w.Run.Decisions {
		if d.By == "" && d.Comment == 0 {
			continue // the engine's own
		}
		a := Requested{At: d.At, By: d.By, Command: cmp.Or(d.Command, "/"+text.Join(" ", d.Step, d.Phase)), Outcome: w.in(d.Why)}
		if d.Comment > 0 && w.Run.IssueURL != "" {
			a.URL = fmt.Sprintf("%s#issuecomment-%d", w.Run.IssueURL, d.Comment)
		}
		all = append(all, a)
	}
	slices.SortStableFunc(all, func(a, b Requested) int { return b.At.Compare(a.At) })
	return all
}
