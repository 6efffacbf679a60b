package phases

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Rewind asks to take a run back to a step of a phase.
type Rewind struct {
	To           string
	Step         metadata.Step // execute, review or revise
	From         string        // the phase it comes from; empty: where the run is
	Reason       string
	By           string // who asks; empty if unknown
	CommentURL   string
	Trigger      metadata.Trigger
	ReviewResult string                    // path of a review to read
	Restore      bool                      // the code goes back, too
	Details      *metadata.RollbackDetails // nil: counted from the stored verdict
	At           time.Time
}

// UnknownPhase is a phase name that the pipeline does not have.
type UnknownPhase struct {
	Phase string
	Known []string
}

// Error names the phase and the valid ones.
func (e *UnknownPhase) Error() string { return Say("en", e.Why()) }

// Why names the phase and the valid ones.
func (e *UnknownPhase) Why() metadata.Reason {
	return metadata.Because("no_such_phase", "phase", e.Phase, "phases", e.Known)
}

// Rewound is what a rewind does, whether or not it is carried out.
type Rewound struct {
	Run    metadata.Run
	Entry  metadata.Rollback
	Moves  map[string]string // artifact files that are superseded: from, to
	Files  map[string][]byte // files to write
	Paths  []string          // paths of the tree that were restored, to be committed with it
	Before metadata.Run
}

// ReasonFile is the name of the file in the phase's folder that tells why it
// was taken back.
const ReasonFile = "ROLLBACK_REASON.md"

// Back computes a rewind: the record after it, the history entry, the files
// that move and the file that tells the reason. It changes nothing.
func Back(plan *pipelines.Pipeline, run metadata.Run, rw Rewind) (Rewound, error) {
	if err := allowed(plan, run, rw); err != nil {
		return Rewound{}, err
	}
	rw.Reason = unreasoned(rw.Reason)
	out := Rewound{Before: run, Moves: map[string]string{}, Files: map[string][]byte{}}
	run = run.Clone()
	target := run.Phase(rw.To)
	if rw.Step == metadata.Revise && target.Written == 0 {
		rw.Step = metadata.Execute // there is nothing to revise yet
	}
	fromPhase, fromStep := whereIs(plan, run)
	if rw.From != "" {
		fromPhase, fromStep = rw.From, stepOf(run.Phase(rw.From))
	}
	if rw.Details == nil {
		rw.Details = detailsOf(&run, fromPhase, target)
		if read := readReview(rw.Reason); read != nil {
			if rw.Details != nil {
				read.AffectedTests = rw.Details.AffectedTests
			}
			rw.Details = read
		}
	}
	out.Entry = metadata.Rollback{
		Timestamp: rw.At, FromPhase: fromPhase, FromStep: fromStep, ToPhase: rw.To, ToStep: rw.Step,
		Reason: rw.Reason, TriggeredBy: rw.Trigger, By: rw.By, CommentURL: rw.CommentURL, ReviewResultPath: rw.ReviewResult,
	}
	aside := func(rec *metadata.Phase) {
		folder := path.Join(Folder(run.IssueNumber), plan.Phase(rec.Name).Folder)
		for _, f := range rec.OutputFiles {
			rest := strings.TrimPrefix(f, folder+"/")
			out.Moves[f] = path.Join(folder, "superseded", fmt.Sprint(len(run.RollbackHistory)+1), rest)
		}
	}
	if rw.Step == metadata.Execute {
		aside(target)
	}
	earlier := unmet(target)
	takeBack(target, rw)
	target.RollbackContext = &metadata.RollbackContext{
		Earlier: earlier, TriggeredAt: rw.At, FromPhase: fromPhase, FromStep: fromStep, Reason: rw.Reason,
		ReviewResult: rw.ReviewResult, Details: rw.Details, By: rw.By, CommentURL: rw.CommentURL,
	}
	void := map[string]bool{rw.To: rw.Step == metadata.Execute}
	for _, rec := range following(run.Phases, rw.To) {
		// A phase that the pipeline does not have any more is history, and one
		// that was left out stays so, unless the rule that did it is void, too.
		if plan.Phase(rec.Name) == nil || rec.Status == metadata.PhaseSkipped && !droppedBy(run, rec, rw.To) {
			continue
		}
		aside(rec)
		forget(rec, rw.Restore)
		void[rec.Name] = true
	}
	abandon(&run, func(phase string) bool { return void[phase] })
	run.RollbackHistory = append(run.RollbackHistory, out.Entry)
	run.CurrentPhase, run.Status, run.Stop = rw.To, metadata.Running, nil
	run.AllowanceFrom = len(run.Attempts)
	run.Decisions = append(run.Decisions, metadata.Decision{At: rw.At, Step: "rewind", Phase: rw.To, Why: metadata.Because("taken_back_to", "step", rw.Step, "reason", metadata.Said(brief(rw.Reason)))})
	out.Run = touch(run, rw.At)
	p := plan.Phase(rw.To)
	out.Files[path.Join(Folder(run.IssueNumber), p.Folder, ReasonFile)] = []byte(reasonText(run.Language, out.Entry, rw.Details))
	return out, nil
}

// unreasoned is a reason without the word "because" that people begin it with:
// wherever it is shown, words to that effect stand before it.
func unreasoned(reason string) string {
	word, rest, ok := strings.Cut(strings.TrimSpace(reason), " ")
	if ok && strings.EqualFold(word, "because") && strings.TrimSpace(rest) != "" {
		return strings.TrimSpace(rest)
	}
	return reason
}

func allowed(plan *pipelines.Pipeline, run metadata.Run, rw Rewind) error {
	rec := run.Phase(rw.To)
	if rec == nil || plan.Phase(rw.To) == nil {
		return &UnknownPhase{Phase: rw.To, Known: names(run)}
	}
	if rw.From != "" && run.Phase(rw.From) == nil {
		return &UnknownPhase{Phase: rw.From, Known: names(run)}
	}
	if !slices.Contains([]metadata.Step{metadata.Execute, metadata.Review, metadata.Revise}, rw.Step) {
		return refuse(metadata.Because("no_such_step", "name", rw.Step))
	}
	if strings.TrimSpace(rw.Reason) == "" {
		return refuse(metadata.Because("rollback_reason"))
	}
	begun := slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.Phase == rw.To })
	switch {
	case rec.Status == metadata.PhaseSkipped && !begun:
		return refuse(metadata.Because("rollback_left_out", "phase", rw.To, "at", At(plan, run)))
	case rw.Trigger == metadata.Automatic && indexOf(run.Phases, rw.To) > indexOf(run.Phases, cmp.Or(rw.From, run.CurrentPhase)):
		// A person has left it out, and the run has gone back past it since.
		return refuse(metadata.Because("rollback_forward", "phase", rw.To, "at", At(plan, run)))
	case rec.Status == metadata.PhasePending:
		return refuse(metadata.Because("rollback_not_begun", "phase", rw.To, "at", At(plan, run)))
	}
	if rw.Step == metadata.Review && plan.Phase(rw.To).NoReview {
		return refuse(metadata.Because("rollback_no_review", "phase", rw.To))
	}
	if rw.Step == metadata.Review && rec.Written == 0 {
		return refuse(metadata.Because("rollback_unwritten", "phase", rw.To))
	}
	return nil
}

// mostEarlier is how many reasons a phase is told besides the newest.
const mostEarlier = 10

// unmet gives the reasons for which a phase was taken back and that no review
// has seen met yet, the newest first.
func unmet(rec *metadata.Phase) []string {
	c := rec.RollbackContext
	if c == nil {
		return nil
	}
	all := append([]string{c.Reason}, c.Earlier...)
	return all[:min(len(all), mostEarlier)]
}

// takeBack puts the target phase to the step it is taken back to.
func takeBack(rec *metadata.Phase, rw Rewind) {
	rec.Status, rec.CurrentStep, rec.CompletedAt = metadata.PhaseInProgress, rw.Step, nil
	rec.RetryCount, rec.Round, rec.Recent, rec.ReviewResult = 0, 0, nil, ""
	rec.Generation++
	order := []metadata.Step{metadata.Execute, metadata.Review, metadata.Revise}
	rec.CompletedSteps = slices.Clone(order[:slices.Index(order, rw.Step)])
	rec.Violations, rec.Approve, rec.Ask, rec.Accepted = nil, "", "", ""
	if rw.Step == metadata.Execute {
		rec.Verdict, rec.Checks, rec.Report, rec.Digest, rec.OutputFiles, rec.Written = nil, nil, nil, "", nil, 0
	}
}

// forget makes a later phase as if it had never begun. Its attempts stay in
// the history.
//
// Where the code stays, so does the commit the phase started from: its work
// is still to be seen by whoever reviews it.
func forget(rec *metadata.Phase, restored bool) {
	base := rec.Base
	if restored {
		base = ""
	}
	*rec = metadata.Phase{
		Name: rec.Name, Status: metadata.PhasePending, Generation: rec.Generation + 1, Base: base, Use: rec.Use,
		RollbackContext: rec.RollbackContext, // a reason stays until a review has seen it met
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

// droppedBy reports whether a rule has left a phase out after one that is taken
// back with the target: it will be looked at again.
func droppedBy(run metadata.Run, rec *metadata.Phase, target string) bool {
	after := slices.ContainsFunc(following(run.Phases, target), func(p *metadata.Phase) bool { return p.Name == rec.Dropped })
	return rec.Dropped == target || after
}

// whereIs finds the phase and step a run is at: the one in progress, else the
// newest one that ended.
func whereIs(plan *pipelines.Pipeline, run metadata.Run) (string, metadata.Step) {
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

// detailsOf counts what the stored verdicts say: that of the phase the run
// comes from, else that of the target.
func detailsOf(run *metadata.Run, from string, target *metadata.Phase) *metadata.RollbackDetails {
	v := target.Verdict
	if rec := run.Phase(from); rec != nil && rec.Verdict != nil {
		v = rec.Verdict
	}
	out := metadata.RollbackDetails{AffectedTests: affectedTests(v, run.Phase(from), target)}
	if v != nil {
		out.BlockerCount, out.SuggestionCount = len(openBlockers(v)), len(suggestions(v))
	}
	if v == nil && len(out.AffectedTests) == 0 {
		return nil
	}
	return &out
}

// testFile matches names that files of tests have in most languages.
var testFile = regexp.MustCompile(`(?i)(^|/)(tests?|specs?|__tests__)/|(^|[/_.-])(tests?|specs?)[_.-][^/]*$|[_.-](tests?|specs?)\.[^/]*$`)

// affectedTests names the checks that fail, and the files of tests that open
// blockers are about.
func affectedTests(v *metadata.Verdict, phases ...*metadata.Phase) []string {
	var out []string
	for _, rec := range phases {
		if rec == nil || !checkFails(rec) {
			continue
		}
		for _, c := range rec.Checks.Results {
			if !c.Pass {
				out = append(out, c.Name)
			}
		}
	}
	if v != nil {
		for _, f := range openBlockers(v) {
			if testFile.MatchString(f.File) {
				out = append(out, f.File)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// reasonText is why a phase was taken back, in a language.
func reasonText(language string, e metadata.Rollback, d *metadata.RollbackDetails) string {
	w := prompts.Words(language)
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", w.Files.Returned(e.ToPhase))
	fact := func(name, text string) {
		if text = strings.TrimSpace(text); text != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, text)
		}
	}
	fact(w.Files.From, e.FromPhase+" "+prompts.Word(w.Steps, string(e.FromStep)))
	fact(w.Files.To, e.ToPhase+" "+prompts.Word(w.Steps, string(e.ToStep)))
	fact(w.Files.When, e.Timestamp.UTC().Format(time.RFC3339))
	fact(w.Files.By, e.By)
	if d != nil && d.BlockerCount+d.SuggestionCount > 0 {
		fact(w.Files.Open, w.Files.WasOpen(d.BlockerCount, d.SuggestionCount))
	}
	fact(w.Files.Review, e.ReviewResultPath)
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", w.Files.Reason, strings.TrimSpace(e.Reason))
	return b.String()
}

func names(run metadata.Run) []string {
	var out []string
	for _, p := range run.Phases {
		out = append(out, p.Name)
	}
	return out
}

// Folder is the folder of a run on its branch, by the id of its issue.
func Folder(issue string) string { return path.Join(".reprise", "issue-"+issue) }
