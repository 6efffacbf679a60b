package legacy

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// importedAgent is the name that attempts of the older system have: one for
// each phase that wrote something. Who did it, and in how many calls, is not
// known.
const importedAgent = "imported"

// Takeover makes a fresh run one that goes on from where an older run is.
type Takeover struct {
	w     *workspace.Workspace
	Old   *OlderRun
	Taken []takenPhase
	Notes []Note
}

// takenPhase says what became of a phase.
type takenPhase struct {
	Name      string               `json:"name"`
	Was       metadata.PhaseStatus `json:"was,omitempty"` // in the older record; empty if that has no such phase
	Status    metadata.PhaseStatus `json:"status"`
	Step      metadata.Step        `json:"step,omitempty"` // to go on with
	Artifacts map[string]string    `json:"artifacts"`      // path on the new branch, by the path on the older one
}

// Note says what was not taken over as it was, and why.
type Note struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

// TakeOver fills the record of the workspace, and the files of its first
// commit, with what an older run has.
func TakeOver(ctx context.Context, w *workspace.Workspace, env environ.Env, old *OlderRun) (*Takeover, error) {
	t := &Takeover{w: w, Old: old}
	for _, d := range old.Dropped {
		t.Notes = append(t.Notes, Note{d.Path, d.Message})
	}
	run, from := &w.Run, old.Run
	if run.CreatedAt = from.CreatedAt; from.CreatedAt.After(run.UpdatedAt) {
		run.CreatedAt = run.UpdatedAt
	}
	run.Repository = cmp.Or(run.Repository, from.Repository)
	run.DesignDecisions, run.Cost = from.DesignDecisions, from.Cost
	run.PRNumber, run.PRURL, run.GitHubIntegration = from.PRNumber, from.PRURL, from.GitHubIntegration
	run.ExternalDocuments = from.ExternalDocuments
	for _, p := range w.Plan.Phases {
		if err := t.phase(&p); err != nil {
			return nil, fmt.Errorf("phase %s of %s: %w", p.Name, old.Name, err)
		}
	}
	for _, p := range from.Phases {
		if run.Phase(p.Name) == nil {
			t.note("phases."+p.Name, "pipeline %s has no such phase", w.Plan.Name)
		}
	}
	t.rollbacks(ctx)
	t.stand(env.Now())
	if err := run.Check(); err != nil {
		return nil, fmt.Errorf("%s cannot be taken over: %w", old.Name, err)
	}
	return t, nil
}

func (t *Takeover) note(what, format string, args ...any) {
	t.Notes = append(t.Notes, Note{what, fmt.Sprintf(format, args...)})
}

// phase takes over one phase. What is done needs its artifact, what is to be
// revised needs to be told why: without, the phase goes back to the step that
// makes it.
func (t *Takeover) phase(p *pipelines.Phase) error {
	rec, was := t.w.Run.Phase(p.Name), t.Old.Run.Phase(p.Name)
	row := takenPhase{Name: p.Name, Artifacts: map[string]string{}}
	defer func() {
		row.Status, row.Step = rec.Status, rec.CurrentStep
		t.Taken = append(t.Taken, row)
	}()
	if was == nil {
		return nil
	}
	row.Was = was.Status
	rec.RollbackContext = was.RollbackContext
	switch {
	case was.Status == metadata.PhasePending:
		return nil
	case was.Status == metadata.PhaseSkipped:
		rec.Status = metadata.PhaseSkipped
		return nil
	case was.Status == metadata.PhaseInProgress && was.CurrentStep == metadata.Execute:
		t.anew(rec, was)
		return nil
	}
	docs, err := t.Old.documents(p.Name, was.OutputFiles)
	if err != nil {
		return err
	}
	if len(docs) == 0 {
		t.note("phases."+p.Name, "is %s, but no artifact of it is there: it is done again", text.Words(was.Status))
		if was.Status != metadata.PhaseCompleted {
			t.anew(rec, was)
		}
		return nil
	}
	t.copy(p, rec, was, docs, row.Artifacts)
	review, err := t.review(p)
	if err != nil {
		return err
	}
	if was.Status != metadata.PhaseCompleted {
		t.unfinished(p, rec, was, review)
		return nil
	}
	rec.Status, rec.CompletedAt, rec.ReviewResult, rec.Accepted = metadata.PhaseCompleted, was.CompletedAt, was.ReviewResult, rec.Digest
	if rec.ReviewResult != "" {
		rec.Round = 1
	}
	return nil
}

// stand says where the whole run is, and that it was taken over.
func (t *Takeover) stand(at time.Time) {
	run := &t.w.Run
	// What the older system spent and tried is history: a person has decided
	// to go on.
	run.Budget.Since, run.AllowanceFrom = phases.SpentOf(*run), len(run.Attempts)
	run.Status, run.Stop = metadata.Completed, nil
	for _, p := range run.Phases {
		if p.Status == metadata.PhaseCompleted || p.Status == metadata.PhaseSkipped {
			run.CurrentPhase = p.Name
			continue
		}
		run.CurrentPhase = p.Name
		run.Status = metadata.Waiting
		run.Stop = &metadata.Stop{Code: metadata.AwaitingPerson, Why: metadata.Because("taken_over_stop", "from", t.Old.said), Phase: p.Name, Step: p.CurrentStep, At: at}
		if p.Status == metadata.PhaseFailed {
			run.Status, run.Stop.Code = metadata.Failed, metadata.ReviewFailed
		}
		break
	}
	why := metadata.Because("taken_over", "from", t.Old.said)
	if v := t.Old.Run.WorkflowVersion; v != "" {
		why = metadata.Because("taken_over_version", "from", t.Old.said, "version", v)
	}
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "import", Why: why})
}
