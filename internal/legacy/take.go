package legacy

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// importedAgent is the agent of attempts of the older system: who did them is not known.
const importedAgent = "imported"

// Takeover makes a fresh run one that goes on from where an older run is.
type Takeover struct {
	w     *workspace.Workspace
	Old   *OlderRun
	Taken []takenPhase
}

// takenPhase says what became of a phase.
type takenPhase struct {
	Name      string               `json:"name"`
	Was       metadata.PhaseStatus `json:"was,omitempty"` // in the older record; empty if that has no such phase
	Status    metadata.PhaseStatus `json:"status"`
	Artifacts map[string]string    `json:"artifacts"` // path on the new branch, by the path on the older one
}

// TakeOver fills the record of the workspace, and the files of its first
// commit, with what an older run has.
func TakeOver(w *workspace.Workspace, env environ.Env, old *OlderRun) (*Takeover, error) {
	t := &Takeover{w: w, Old: old}
	run := &w.Run
	if !old.CreatedAt.IsZero() && old.CreatedAt.Before(run.UpdatedAt) {
		run.CreatedAt = old.CreatedAt.UTC()
	}
	run.Repository = cmp.Or(run.Repository, old.Repository)
	run.DesignDecisions, run.Cost, run.ExternalDocuments = old.Design, old.Cost, old.Documents
	run.PRNumber, run.PRURL, run.GitHubIntegration = old.PRNumber, old.PRURL, old.GitHub
	for _, p := range w.Plan.Phases {
		if err := t.phase(&p, env.Now().UTC()); err != nil {
			return nil, fmt.Errorf("phase %s of %s: %w", p.Name, old.Name, err)
		}
	}
	for name := range old.Phases {
		if run.Phase(name) == nil {
			old.note("phases."+name, "pipeline %s has no such phase", w.Plan.Name)
		}
	}
	slices.SortStableFunc(old.Notes, func(a, b Note) int { return strings.Compare(a.What, b.What) })
	t.stand(env.Now())
	if err := run.Check(); err != nil {
		return nil, fmt.Errorf("%s cannot be taken over: %w", old.Name, err)
	}
	return t, nil
}

// phase takes over one phase: what is completed with its artifact, and else the reason for
// which it is done again.
func (t *Takeover) phase(p *pipelines.Phase, now time.Time) error {
	rec, was := t.w.Run.Phase(p.Name), t.Old.Phases[p.Name]
	row := takenPhase{Name: p.Name, Artifacts: map[string]string{}}
	defer func() {
		row.Status = rec.Status
		t.Taken = append(t.Taken, row)
	}()
	if was == nil {
		return nil
	}
	row.Was = was.Status
	review, err := t.Old.review(p.Name)
	if err != nil {
		return err
	}
	switch was.Status {
	case metadata.PhaseSkipped:
		rec.Status = metadata.PhaseSkipped
		return nil
	case metadata.PhaseCompleted:
		docs, err := t.Old.documents(p.Name, was.Outputs)
		if err != nil {
			return err
		}
		if len(docs) > 0 {
			t.completed(p, was, docs, row.Artifacts)
			if review != "" {
				t.w.Frozen[path.Join(phases.Folder(t.w.Run.IssueNumber), p.Folder, phases.ReviewFile)] = []byte(review)
			}
			return nil
		}
		t.Old.note("phases."+p.Name, "is completed, but no artifact of it is there: it is done again")
	case metadata.PhaseInProgress, metadata.PhaseFailed:
		t.Old.note("phases."+p.Name, "is %s: it is done again", text.Words(was.Status))
	}
	t.sendBack(rec, review, now)
	return nil
}

// sendBack has a phase told why it is done again: who sent it back, and what the newest review of a
// phase that was not completed says.
func (t *Takeover) sendBack(rec *metadata.Phase, review string, at time.Time) {
	by, why := t.Old.sentBack(rec.Name)
	if was := t.Old.Phases[rec.Name].Status; review != "" && (was == metadata.PhaseInProgress || was == metadata.PhaseFailed) {
		const most = 50_000 // characters, which a prompt repeats
		all := []rune(review)
		why = strings.TrimSpace(why + "\n\nThe newest review of ai-workflow-agent:\n\n" + string(all[:min(len(all), most)]))
	}
	if why == "" {
		return
	}
	run := &t.w.Run
	if run.Phase(by) == nil {
		by = ""
	} else if docs, err := t.Old.documents(by, nil); err == nil && len(docs) > 0 {
		why += "\n\nIts artifact is " + docs[0].path
	}
	rec.RollbackContext = &metadata.RollbackContext{TriggeredAt: at, FromPhase: by, Reason: why}
	run.RollbackHistory = append(run.RollbackHistory, metadata.Rollback{
		Timestamp: at, FromPhase: by, ToPhase: rec.Name, ToStep: metadata.Execute, Reason: why, TriggeredBy: metadata.Automatic,
	})
}

// completed takes over what a phase has written, as one attempt.
func (t *Takeover) completed(p *pipelines.Phase, was *olderPhase, docs []document, artifacts map[string]string) {
	run := &t.w.Run
	rec := run.Phase(p.Name)
	folder := path.Join(phases.Folder(run.IssueNumber), p.Folder)
	for i, d := range docs {
		to := path.Join(folder, path.Base(d.path))
		if i == 0 {
			to = path.Join(folder, p.Writes)
			sum := sha256.Sum256(d.data)
			rec.Digest = hex.EncodeToString(sum[:])
		}
		if _, taken := t.w.Frozen[to]; taken || slices.Contains([]string{phases.ReviewFile, phases.ChecksFile, phases.ReasonFile}, path.Base(to)) {
			t.Old.note(d.path, "has a name that is taken: it stays where it is")
			continue
		}
		t.w.Frozen[to] = d.data
		rec.OutputFiles = append(rec.OutputFiles, to)
		artifacts[d.path] = to
	}
	end := cmp.Or(was.CompletedAt, was.StartedAt, run.CreatedAt).UTC()
	start := cmp.Or(was.StartedAt, end).UTC()
	if start.After(end) {
		start = end
	}
	run.Attempts = append(run.Attempts, metadata.Attempt{
		N: len(run.Attempts) + 1, Phase: p.Name, Step: metadata.Execute, Agent: importedAgent, Status: metadata.Succeeded,
		StartedAt: start, EndedAt: &end, DurationMS: end.Sub(start).Milliseconds(),
	})
	rec.Status, rec.StartedAt, rec.CompletedAt, rec.RetryCount, rec.Accepted = metadata.PhaseCompleted, &start, &end, was.Retries, rec.Digest
	rec.CompletedSteps, rec.Written, rec.Base = []metadata.Step{metadata.Execute}, len(run.Attempts), t.w.Repo.Tip()
	if said := metadata.Ruling(strings.ToLower(was.Review)); said != metadata.Fail && slices.Contains(metadata.Rulings(), said) {
		rec.ReviewResult, rec.Round = string(said), 1
		rec.CompletedSteps = append(rec.CompletedSteps, metadata.Review)
	}
}

// stand says where the whole run is, and that it was taken over.
func (t *Takeover) stand(at time.Time) {
	run := &t.w.Run
	// What the older system spent and tried is history: a person has decided
	// to go on.
	run.Budget.Since, run.AllowanceFrom = phases.SpentOf(*run), len(run.Attempts)
	run.Status, run.Stop = metadata.Completed, nil
	for _, p := range run.Phases {
		run.CurrentPhase = p.Name
		if p.Status == metadata.PhasePending {
			run.Status = metadata.Waiting
			run.Stop = &metadata.Stop{Code: metadata.AwaitingPerson, Why: metadata.Because("taken_over_stop", "from", t.Old.said), Phase: p.Name, At: at}
			break
		}
	}
	why := metadata.Because("taken_over", "from", t.Old.said)
	if v := t.Old.Version; v != "" {
		why = metadata.Because("taken_over_version", "from", t.Old.said, "version", v)
	}
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "import", Why: why})
}
