package phases

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Rollback asks to take a run back to a step of a phase.
type Rollback struct {
	To           string
	Step         metadata.Step // execute, review or revise
	From         string        // the phase it comes from; empty: where the run is
	Reason       string
	By           string // who asks; empty if unknown
	CommentURL   string
	Trigger      metadata.Trigger
	ReviewResult string // path of a review to read
	Restore      bool   // the code goes back, too
	Attempt      int    // whose work is gone back to, the artifact with it; 0: that of the newest
	At           time.Time
}

// RollbackPlan is what a rollback does, whether or not it is carried out.
type RollbackPlan struct {
	Run        metadata.Run
	Entry      metadata.Rollback
	Moves      map[string]string         // artifact files that are superseded: from, to
	ReasonFile string                    // path of the file to write that tells why
	Open       *metadata.RollbackDetails // what was open when the run went back; nil: nobody knows
	Paths      []string                  // of the code that goes back with it
	Attempt    int                       // whose work is gone back to; 0: that of the newest
	Files      map[string][]byte         // artifacts as that attempt left them
	Before     metadata.Run
}

// PlanRollback computes a rollback: the record after it, the history entry, and the
// files that move. It changes nothing.
func PlanRollback(c Course, request Rollback) (RollbackPlan, error) {
	if err := checkRollback(c, request); err != nil {
		return RollbackPlan{}, err
	}
	out := RollbackPlan{Before: c.Run, Moves: map[string]string{}, Attempt: request.Attempt}
	c.Run = c.Run.Clone()
	target := c.Run.Phase(request.To)
	request.Reason = withoutBecause(request.Reason)
	if conflict := target.Lane != nil && target.Lane.Conflict != nil; request.Step == metadata.Revise && (target.Written == 0 || conflict) {
		request.Step = metadata.Execute // there is nothing to revise yet, or it has to be done on what was merged meanwhile
	}
	out.Entry = entryOf(c, request)
	out.Open = detailsOf(&c.Run, out.Entry.FromPhase, target)
	out.ReasonFile = path.Join(PhaseFolder(c.Run, c.Plan.Phase(request.To)), ReasonFile)
	out.void(c.Plan, &c.Run, request)
	target = c.Run.Phase(request.To)
	earlier := openReasons(target)
	asked := target.Status == metadata.PhaseSkipped && target.Dropped == target.Name // and is asked about anew
	resetToStep(target, request.Step)
	if asked {
		target.Status, target.CurrentStep, target.CompletedSteps = metadata.PhasePending, "", nil
	}
	given := metadata.RollbackContext{
		Earlier: earlier, TriggeredAt: request.At, FromPhase: out.Entry.FromPhase, FromStep: out.Entry.FromStep, Reason: request.Reason,
		ReviewResult: request.ReviewResult, Details: out.Open, By: request.By, CommentURL: request.CommentURL,
	}
	target.RollbackContext = &given
	if request.Step == metadata.Execute { // those who do its parts are the next that have to know
		for _, part := range PartsOf(&c.Run, request.To) {
			each := given
			each.Earlier = openReasons(part)
			part.RollbackContext = &each
		}
	}
	c.Run.RollbackHistory = append(c.Run.RollbackHistory, out.Entry)
	c.Run.CurrentPhase, c.Run.Status, c.Run.Stop = request.To, metadata.Running, nil
	c.Run.AllowanceFrom = len(c.Run.Attempts)
	why := metadata.Because("taken_back_to", "step", request.Step, "reason", metadata.Said(OneLine(request.Reason)))
	note(&c.Run, request.At, "rollback", request.To, why)
	out.Run = touch(c.Run, request.At)
	return out, nil
}

// entryOf is what the history of a run says of a rollback.
func entryOf(c Course, request Rollback) metadata.Rollback {
	from, step := where(c)
	if request.From != "" {
		from, step = request.From, stepOf(c.Run.Phase(request.From))
	}
	return metadata.Rollback{
		Timestamp: request.At, FromPhase: from, FromStep: step, ToPhase: request.To, ToStep: request.Step,
		Reason: request.Reason, TriggeredBy: request.Trigger, By: request.By, CommentURL: request.CommentURL, ReviewResultPath: request.ReviewResult,
	}
}

// void resets the phases after the target, as if they had never begun, and plans to put aside what they have written.
func (r *RollbackPlan) void(plan *pipelines.Pipeline, run *metadata.Run, request Rollback) {
	void := map[string]bool{}
	if request.Step == metadata.Execute {
		r.putAside(On(plan, *run), run.Phase(request.To))
		void[request.To] = true
	}
	after := phasesNeeding(On(plan, *run), run.Phase(request.To), request.Restore)
	if request.Step == metadata.Execute {
		after = append(PartsOf(run, request.To), after...)
	}
	for _, rec := range after {
		// A phase that the pipeline does not have any more is history, and one
		// that was left out stays so, unless the rule that did it is void, too.
		if plan.Phase(rec.Name) == nil || rec.Status == metadata.PhaseSkipped && !droppedBy(*run, rec, request.To) {
			continue
		}
		r.putAside(On(plan, *run), rec)
		resetToPending(rec, request.Restore)
		void[rec.Name] = true
	}
	undoParts(run, func(finder string) bool { return finder == request.To || void[finder] })
	forgetChildren(run, func(phase string) bool { return void[phase] })
	dropParts(run, func(phase string) bool { return void[phase] })
}

// putAside plans to move the artifacts of a phase to where superseded ones are.
func (r *RollbackPlan) putAside(c Course, rec *metadata.Phase) {
	folder := PhaseFolder(c.Run, c.Plan.Phase(rec.Name))
	for _, f := range rec.OutputFiles {
		rest := strings.TrimPrefix(f, folder+"/")
		r.Moves[f] = path.Join(folder, "superseded", fmt.Sprint(len(c.Run.RollbackHistory)+1), rest)
	}
}

// withoutBecause is a reason without the word "because" that people begin it with:
// wherever it is shown, words to that effect stand before it.
func withoutBecause(reason string) string {
	word, rest, ok := strings.Cut(strings.TrimSpace(reason), " ")
	if ok && strings.EqualFold(word, "because") && strings.TrimSpace(rest) != "" && !strings.HasPrefix(strings.TrimSpace(rest), "of ") {
		return strings.TrimSpace(rest)
	}
	return reason
}

// checkRollback says why a run cannot be taken back like that; nil if it can.
func checkRollback(c Course, request Rollback) error {
	rec := c.Run.Phase(request.To)
	if rec == nil || c.Plan.Phase(request.To) == nil {
		return &UnknownPhase{Phase: request.To, Known: c.Run.Phases.Names()}
	}
	if request.From != "" && c.Run.Phase(request.From) == nil {
		return &UnknownPhase{Phase: request.From, Known: c.Run.Phases.Names()}
	}
	if !slices.Contains(metadata.AgentSteps(), request.Step) {
		return Refuse(metadata.Because("no_such_step", "name", request.Step))
	}
	if strings.TrimSpace(request.Reason) == "" {
		return Refuse(metadata.Because("rollback_reason"))
	}
	begun := slices.ContainsFunc(c.Run.Attempts, func(a metadata.Attempt) bool { return a.Phase == request.To })
	switch {
	case rec.Dropped == rec.Name && rec.Status == metadata.PhaseSkipped: // it is asked about anew
	case rec.Status == metadata.PhaseSkipped && !begun, partGone(rec):
		return Refuse(metadata.Because("rollback_left_out", "phase", request.To, "at", At(c)))
	case request.Trigger == metadata.Automatic && indexOf(c.Run.Phases, request.To) > indexOf(c.Run.Phases, cmp.Or(request.From, c.Run.CurrentPhase)):
		// A person has left it out, and the run has gone back past it since.
		return Refuse(metadata.Because("rollback_forward", "phase", request.To, "at", At(c)))
	case rec.Status == metadata.PhasePending && !partsBegun(&c.Run, request.To):
		return Refuse(metadata.Because("rollback_not_begun", "phase", request.To, "at", At(c)))
	}
	if wrote := writersOf(c.Run, request.To); request.Attempt != 0 && !slices.Contains(wrote, request.Attempt) {
		return Refuse(metadata.Because("no_such_attempt", "phase", request.To, "n", request.Attempt, "known", strings.Trim(strings.ReplaceAll(fmt.Sprint(wrote), " ", ", "), "[]")))
	}
	if request.Step == metadata.Review && c.Plan.Phase(request.To).NoReview {
		return Refuse(metadata.Because("rollback_no_review", "phase", request.To))
	}
	if request.Step == metadata.Review && rec.Written == 0 {
		return Refuse(metadata.Because("rollback_unwritten", "phase", request.To))
	}
	return nil
}

// mostEarlier is how many reasons a phase is told besides the newest.
const mostEarlier = 10

// openReasons gives the reasons of rollbacks that no review has found resolved yet, the newest first.
func openReasons(rec *metadata.Phase) []string {
	c := rec.RollbackContext
	if c == nil {
		return nil
	}
	all := append([]string{c.Reason}, c.Earlier...)
	return all[:min(len(all), mostEarlier)]
}

// resetToStep puts the target phase to the step it is taken back to.
func resetToStep(rec *metadata.Phase, step metadata.Step) {
	rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseInProgress, step, nil
	rec.RetryCount, rec.Round, rec.Recent, rec.ReviewResult = 0, 0, nil, ""
	rec.Generation++
	order := metadata.AgentSteps()
	rec.CompletedSteps = order[:slices.Index(order, step)]
	rec.Best, rec.Violations, rec.Approve, rec.Ask, rec.Accepted, rec.Dropped = nil, nil, "", "", "", ""
	if step == metadata.Execute {
		rec.Verdict, rec.Checks, rec.Report, rec.Digest, rec.OutputFiles, rec.Written = nil, nil, nil, "", nil, 0
		leaveLane(rec)
	}
}

// resetToPending resets a later phase, as if it had never begun. Its attempts stay in the history. Where the code
// stays, so does the commit the phase started from: its work is still to be seen by whoever reviews it.
func resetToPending(rec *metadata.Phase, restored bool) {
	leaveLane(rec)
	if restored {
		rec.Base, rec.Upstream = "", ""
	}
	*rec = notBegun(*rec)
	rec.Generation++
}

// notBegun is the record of a phase without what was done in it.
func notBegun(rec metadata.Phase) metadata.Phase {
	return metadata.Phase{
		Name: rec.Name, Task: rec.Task, Status: metadata.PhasePending, Generation: rec.Generation, Base: rec.Base, Upstream: rec.Upstream, Use: rec.Use, AllowanceFrom: rec.AllowanceFrom,
		RollbackContext: rec.RollbackContext, // a reason stays until a review has found it resolved
	}
}

// leaveLane gives up the work of a part that is not on the branch.
func leaveLane(rec *metadata.Phase) {
	if rec.Lane != nil {
		rec.Lane, rec.Base, rec.Upstream = nil, "", ""
	}
}

// following gives the phases after one.
func following(all metadata.Phases, name string) (out []*metadata.Phase) {
	after := false
	for i := range all {
		if after {
			out = append(out, &all[i])
		}
		after = after || all[i].Name == name
	}
	return out
}

// droppedBy reports whether a phase was left out by a rule that will be
// evaluated again, because the phase before that rule is taken back as well.
func droppedBy(run metadata.Run, rec *metadata.Phase, target string) bool {
	after := slices.ContainsFunc(following(run.Phases, target), func(p *metadata.Phase) bool { return p.Name == rec.Dropped })
	return rec.Dropped == target || after
}

// where finds the phase and step a run is at: the one in progress, else the newest one that ended.
func where(c Course) (string, metadata.Step) {
	at, step := c.Run.CurrentPhase, metadata.Step("")
	for i := range c.Run.Phases {
		rec := &c.Run.Phases[i]
		if c.Plan.Phase(rec.Name) == nil || rec.Status == metadata.PhasePending || rec.Status == metadata.PhaseSkipped {
			continue
		}
		at, step = rec.Name, stepOf(rec)
		if rec.Status == metadata.PhaseInProgress {
			break
		}
	}
	return at, step
}

// stepOf gives the step a phase is at, else the newest that it has done.
func stepOf(rec *metadata.Phase) metadata.Step {
	if rec.CurrentStep == "" && len(rec.CompletedSteps) > 0 {
		return rec.CompletedSteps[len(rec.CompletedSteps)-1]
	}
	return rec.CurrentStep
}

// detailsOf counts what the stored verdicts say: that of the phase the run comes from, else that of the target.
func detailsOf(run *metadata.Run, from string, target *metadata.Phase) *metadata.RollbackDetails {
	v := target.Verdict
	if rec := run.Phase(from); rec != nil && rec.Verdict != nil {
		v = rec.Verdict
	}
	out := metadata.RollbackDetails{AffectedTests: affectedPhases(v, run.Phase(from), target)}
	if v != nil {
		out.BlockerCount, out.SuggestionCount = len(v.OpenBlockers()), len(v.OpenSuggestions())
	}
	if v == nil && len(out.AffectedTests) == 0 {
		return nil
	}
	return &out
}
