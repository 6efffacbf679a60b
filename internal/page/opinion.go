package page

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Opinion is what an agent said about a run that somebody asked it about, as a
// decision of the record has it.
type Opinion struct {
	About   metadata.Decision
	kind    string // auto_done, auto_proposed or auto_needless
	d       phases.Diagnosis
	why     metadata.Reason // the parts are values of it
	command command.Command // with which it was asked
}

// OpinionOf reads the opinion that a decision has; ok is false if it has none.
func OpinionOf(about metadata.Decision) (o Opinion, ok bool) {
	why := about.Why
	if why.Code() == "taken_without" {
		why = why.Value("what")
	}
	switch why.Code() {
	case "auto_done", "auto_proposed", "auto_needless":
	default:
		return Opinion{}, false
	}
	text := func(r metadata.Reason, name string) string { return r.Value(name).In(prompts.Words("en")) }
	back := why.Value("diagnosed").Value("diagnosis")
	return Opinion{
		About: about, kind: why.Code(), why: why, command: command.Parse(about.Command, false).Command,
		d: phases.Diagnosis{
			ToPhase: text(back, "phase"), ToStep: metadata.Step(text(back, "step")), Reason: text(why, "reason"),
			Confidence: phases.Confidence(text(back, "confidence")), Analysis: text(why, "analysis"),
		},
	}, true
}

// OpinionReply tells what an agent said about a run, what became of it, and the
// command to copy where that is left to people.
func OpinionReply(marker string, plan *pipelines.Pipeline, run metadata.Run, o Opinion) string {
	w := newWriter(plan, run, Notices{})
	blocks := []string{text.Join(" · ", clean.Bold(clean.Inline(o.why.Value("diagnosed").In(w.Catalogue), 600)), clean.Code(clean.Truncate(o.About.By, 60)))}
	switch o.kind {
	case "auto_done":
		blocks = append(blocks, w.Say("comment.takenBack"))
	case "auto_needless":
		blocks = append(blocks, w.Say("tell.unchanged"))
	default:
		not := w.Say("comment.notTaken") + w.Say("tell.colon") + clean.Inline(o.why.Value("not").In(w.Catalogue), 600)
		command := strings.TrimSpace(command.ProposedBy(o.d, o.command.Restore).String())
		blocks = append(blocks, alert(alertImportant, text.Join("\n\n", not, clean.Named(w.Say("whatNow"), w.Say("comment.carryOut")), clean.Fenced(command))))
	}
	blocks = append(blocks, clean.Quote("**"+w.Say("comment.saw")+"**", o.d.Analysis))
	if o.kind == "auto_proposed" && o.command.DryRun {
		blocks = append(blocks, preview(w, run, o)...)
	}
	return w.reply(marker, blocks)
}

// preview shows what a rollback that is proposed would change; nothing if the
// run has gone on since and it cannot be carried out any more.
func preview(w writer, run metadata.Run, o Opinion) []string {
	at := o.About
	back, err := phases.FollowDiagnosis(w.Plan, run, o.d, phases.Rollback{By: at.By, Restore: o.command.Restore, At: at.At})
	if err != nil {
		return nil
	}
	w = newWriter(w.Plan, back.Run, Notices{})
	return append([]string{"**" + w.Say("tell.preview") + "**", w.back(back.Entry)}, rollback{w}.details(back)...)
}
