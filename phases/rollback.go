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
	Before     metadata.Run
}

// PlanRollback computes a rollback: the record after it, the history entry, and the
// files that move. It changes nothing.
func PlanRollback(plan *pipelines.Pipeline, run metadata.Run, request Rollback) (RollbackPlan, error) {
	if err := CheckRollback(plan, run, request); err != nil {
		return RollbackPlan{}, err
	}
	out := RollbackPlan{Before: run, Moves: map[string]string{}}
	run = run.Clone()
	target := run.Phase(request.To)
	request.Reason = withoutBecause(request.Reason)
	if conflict := target.Lane != nil && target.Lane.Conflict != nil; request.Step == metadata.Revise && (target.Written == 0 || conflict) {
		request.Step = metadata.Execute // there is nothing to revise yet, or it has to be done on what was merged meanwhile
	}
	out.Entry = entryOf(plan, run, request)
	out.Open = detailsOf(&run, out.Entry.FromPhase, target)
	out.ReasonFile = path.Join(PhaseFolder(run, plan.Phase(request.To)), ReasonFile)
	out.void(plan, &run, request)
	target = run.Phase(request.To)
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
		for _, part := range PartsOf(&run, request.To) {
			each := given
			each.Earlier = openReasons(part)
			part.RollbackContext = &each
		}
	}
	run.RollbackHistory = append(run.RollbackHistory, out.Entry)
	run.CurrentPhase, run.Status, run.Stop = request.To, metadata.Running, nil
	run.AllowanceFrom = len(run.Attempts)
	why := metadata.Because("taken_back_to", "step", request.Step, "reason", metadata.Said(OneLine(request.Reason)))
	run.Decisions = append(run.Decisions, metadata.Decision{At: request.At, Step: "rollback", Phase: request.To, Why: why})
	out.Run = touch(run, request.At)
	return out, nil
}

// entryOf is what the history of a run says of a rollback.
func entryOf(plan *pipelines.Pipeline, run metadata.Run, request Rollback) metadata.Rollback {
	from, step := Where(plan, run)
	if request.From != "" {
		from, step = request.From, stepOf(run.Phase(request.From))
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
		r.putAside(plan, *run, run.Phase(request.To))
		void[request.To] = true
	}
	after := PhasesNeeding(plan, run, run.Phase(request.To), request.Restore)
	if request.Step == metadata.Execute {
		after = append(PartsOf(run, request.To), after...)
	}
	for _, rec := range after {
		// A phase that the pipeline does not have any more is history, and one
		// that was left out stays so, unless the rule that did it is void, too.
		if plan.Phase(rec.Name) == nil || rec.Status == metadata.PhaseSkipped && !droppedBy(*run, rec, request.To) {
			continue
		}
		r.putAside(plan, *run, rec)
		resetToPending(rec, request.Restore)
		void[rec.Name] = true
	}
	UndoParts(run, func(finder string) bool { return finder == request.To || void[finder] })
	forgetChildren(run, func(phase string) bool { return void[phase] })
	DropParts(run, func(phase string) bool { return void[phase] })
}

// putAside plans to move the artifacts of a phase to where superseded ones are.
func (r *RollbackPlan) putAside(plan *pipelines.Pipeline, run metadata.Run, rec *metadata.Phase) {
	folder := PhaseFolder(run, plan.Phase(rec.Name))
	for _, f := range rec.OutputFiles {
		rest := strings.TrimPrefix(f, folder+"/")
		r.Moves[f] = path.Join(folder, "superseded", fmt.Sprint(len(run.RollbackHistory)+1), rest)
	}
}

// withoutBecause is a reason without the word "because" that people begin it with:
// wherever it is shown, words to that effect stand before it.
func withoutBecause(reason string) string {
	word, rest, ok := strings.Cut(strings.TrimSpace(reason), " ")
	if ok && strings.EqualFold(word, "because") && strings.TrimSpace(rest) != "" {
		return strings.TrimSpace(rest)
	}
	return reason
}

// CheckRollback says why a run cannot be taken back like that; nil if it can.
func CheckRollback(plan *pipelines.Pipeline, run metadata.Run, request Rollback) error {
	rec := run.Phase(request.To)
	if rec == nil || plan.Phase(request.To) == nil {
		return &UnknownPhase{Phase: request.To, Known: phaseNames(run)}
	}
	if request.From != "" && run.Phase(request.From) == nil {
		return &UnknownPhase{Phase: request.From, Known: phaseNames(run)}
	}
	if !slices.Contains(metadata.AgentSteps(), request.Step) {
		return refuse(metadata.Because("no_such_step", "name", request.Step))
	}
	if strings.TrimSpace(request.Reason) == "" {
		return refuse(metadata.Because("rollback_reason"))
	}
	begun := slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Phase == request.To })
	switch {
	case rec.Dropped == rec.Name && rec.Status == metadata.PhaseSkipped: // it is asked about anew
	case rec.Status == metadata.PhaseSkipped && !begun, PartGone(rec):
		return refuse(metadata.Because("rollback_left_out", "phase", request.To, "at", At(plan, run)))
	case request.Trigger == metadata.Automatic && indexOf(run.Phases, request.To) > indexOf(run.Phases, cmp.Or(request.From, run.CurrentPhase)):
		// A person has left it out, and the run has gone back past it since.
		return refuse(metadata.Because("rollback_forward", "phase", request.To, "at", At(plan, run)))
	case rec.Status == metadata.PhasePending && !PartsBegun(&run, request.To):
		return refuse(metadata.Because("rollback_not_begun", "phase", request.To, "at", At(plan, run)))
	}
	if request.Step == metadata.Review && plan.Phase(request.To).NoReview {
		return refuse(metadata.Because("rollback_no_review", "phase", request.To))
	}
	if request.Step == metadata.Review && rec.Written == 0 {
		return refuse(metadata.Because("rollback_unwritten", "phase", request.To))
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
	rec.Violations, rec.Approve, rec.Ask, rec.Accepted, rec.Dropped = nil, "", "", "", ""
	if step == metadata.Execute {
		rec.Verdict, rec.Checks, rec.Report, rec.Digest, rec.OutputFiles, rec.Written = nil, nil, nil, "", nil, 0
		leaveLane(rec)
	}
}

// resetToPending resets a later phase, as if it had never begun. Its attempts stay in the history. Where the code
// stays, so does the commit the phase started from: its work is still to be seen by whoever reviews it.
func resetToPending(rec *metadata.Phase, restored bool) {
	leaveLane(rec)
	base, upstream := rec.Base, rec.Upstream
	if restored {
		base, upstream = "", ""
	}
	*rec = metadata.Phase{
		Name: rec.Name, Task: rec.Task, Status: metadata.PhasePending, Generation: rec.Generation + 1, Base: base, Upstream: upstream, Use: rec.Use, AllowanceFrom: rec.AllowanceFrom,
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
func following(all metadata.Phases, name string) []*metadata.Phase {
	var out []*metadata.Phase
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

// Where finds the phase and step a run is at: the one in progress, else the newest one that ended.
func Where(plan *pipelines.Pipeline, run metadata.Run) (string, metadata.Step) {
	at, step := run.CurrentPhase, metadata.Step("")
	for i := range run.Phases {
		rec := &run.Phases[i]
		if plan.Phase(rec.Name) == nil || rec.Status == metadata.PhasePending || rec.Status == metadata.PhaseSkipped {
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
	out := metadata.RollbackDetails{AffectedTests: AffectedPhases(v, run.Phase(from), target)}
	if v != nil {
		out.BlockerCount, out.SuggestionCount = len(v.OpenBlockers()), len(v.OpenSuggestions())
	}
	if v == nil && len(out.AffectedTests) == 0 {
		return nil
	}
	return &out
}

// mostAutomatic is how often a run goes back by itself before a person has to look.
const mostAutomatic = 3

// wayBack gives the rollback that an agent or a rule asks for.
func wayBack(from string, r RollbackRequest, at time.Time) Rollback {
	return Rollback{From: from, To: r.Phase, Step: cmp.Or(r.Step, metadata.Revise), Reason: CutText(ValidText(r.Reason), MostReason), Trigger: metadata.Automatic, At: at}
}

// command is how a person would ask for a rollback.
func (r Rollback) command() string {
	return strings.TrimSpace("/rollback " + OneLine(r.To+":"+string(r.Step)) + " " + OneLine(r.Reason))
}

// rollBackAlone takes a run back without asking anybody.
func rollBackAlone(plan *pipelines.Pipeline, run metadata.Run, to Rollback) (metadata.Run, *RollbackPlan) {
	if n := automaticSince(run); n >= mostAutomatic {
		return proposed(run, to.From, metadata.Because("went_back_often", "n", n, "command", to.command()))
	}
	r, err := PlanRollback(plan, run, to)
	if err != nil {
		return proposed(run, to.From, metadata.Because("rollback_impossible", "command", to.command(), "why", WhyOf(err)))
	}
	return r.Run, &r
}

// MostReason is how long a reason from an agent may be, in Unicode code points: as long as one from a person.
const MostReason = 1000

// proposed lets a person decide what follows from a phase. A phase that has failed needs a person anyway.
func proposed(run metadata.Run, phase string, ask metadata.Reason) (metadata.Run, *RollbackPlan) {
	run = run.Clone()
	if rec := run.Phase(phase); rec.Status == metadata.PhaseCompleted {
		demand(rec, "maintain", ask)
	}
	return run, nil
}

// Proposed gives the rollback that an agent or a rule has proposed for the phase that waits for approval. A person
// may carry it out instead of approving.
func Proposed(plan *pipelines.Pipeline, run metadata.Run) (Rollback, bool) {
	phase, _, _, ok := Approval(plan, run, "")
	if !ok {
		return Rollback{}, false
	}
	rec := run.Phase(phase)
	var all []RollbackRequest
	if r := RequestIn(plan.Phase(phase), rec.Report).Rollback; r != nil {
		all = append(all, *r)
	}
	for _, r := range plan.Rules {
		if r.Then.Rollback != nil && r.After == phase {
			all = append(all, requestOf(r.Then.Rollback))
		}
	}
	for _, r := range all {
		back := wayBack("", r, run.UpdatedAt)
		back.Trigger = metadata.Manual
		asked := slices.ContainsFunc(rec.Ask.Each(), func(why metadata.Reason) bool { return why.Value("command").Said() == back.command() })
		if asked && CheckRollback(plan, run, back) == nil {
			return back, true
		}
	}
	return Rollback{}, false
}

// requestOf is the way back that a rule names.
func requestOf(back *pipelines.RuleRollback) RollbackRequest {
	return RollbackRequest{Phase: back.To, Step: metadata.Step(back.Step), Reason: back.Reason}
}

// automaticSince counts the rollbacks without a person since a person last took the run back.
func automaticSince(run metadata.Run) int {
	n := 0
	for _, r := range slices.Backward(run.RollbackHistory) {
		if r.TriggeredBy == metadata.Manual {
			break
		}
		n++
	}
	return n
}

// ApplyReport gives the record after what the report of a completed phase asks for: to go back, to give up, or to
// wait for other issues. A person decides where the agent is not sure, or where its decision is anything but a pass.
func ApplyReport(plan *pipelines.Pipeline, run metadata.Run, p *pipelines.Phase, at time.Time) (metadata.Run, *RollbackPlan) {
	r := RequestIn(p, run.Phase(p.Name).Report)
	switch {
	case r.Decision == "rollback" && r.Rollback == nil:
		return proposed(run, p.Name, metadata.Because("rollback_unnamed", "reason", metadata.Said(OneLine(r.Reason))))
	case r.Decision == "rollback", r.Decision == "" && r.Rollback != nil:
		back := wayBack(p.Name, *r.Rollback, at)
		if sure := r.Rollback.Confidence; sure != "" && sure != "high" {
			return proposed(run, p.Name, metadata.Because("rollback_proposed", "confidence", OneLine(sure), "command", back.command()))
		}
		return rollBackAlone(plan, run, back)
	case r.Decision == "abort", r.Decision == "" && r.Abort != "":
		return proposed(run, p.Name, metadata.Because("gives_up", "reason", metadata.Said(OneLine(cmp.Or(r.Abort, r.Reason)))))
	case !r.Passes() && OneLine(r.Reason) == "":
		return proposed(run, p.Name, metadata.Because("decided", "decision", OneLine(r.Decision)))
	case !r.Passes():
		return proposed(run, p.Name, metadata.Because("decided_because", "decision", OneLine(r.Decision), "reason", metadata.Said(OneLine(r.Reason))))
	case len(r.DependsOn) > 0:
		var numbers []string
		for _, n := range r.DependsOn {
			numbers = append(numbers, "#"+string(n))
		}
		return proposed(run, p.Name, metadata.Because("waits_for_issues", "issues", numbers[:min(len(numbers), 20)]))
	}
	return run, nil
}

// WhyNotAlone says why a run may not go back without a person although the diagnosis is sure, or "".
func WhyNotAlone(run metadata.Run) metadata.Reason {
	if n := automaticSince(run); n >= mostAutomatic {
		return metadata.Because("went_back_alone", "n", n)
	}
	return ""
}
