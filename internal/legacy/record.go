package legacy

import (
	"cmp"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// olderFolder is the folder in which the older system kept its runs, from the
// top of the repository.
const olderFolder = ".ai-workflow"

// record is a metadata.json of the older system, as far as a run takes it over. The
// records of reprise have kept its names.
type record struct {
	Schema     jsontext.Value `json:"schema"` // a record of reprise has it
	Issue      issueID        `json:"issue_number"`
	IssueURL   string         `json:"issue_url"`
	Repository string         `json:"repository"`
	Target     struct {
		Name string `json:"github_name"`
	} `json:"target_repository"`
	Version   string                     `json:"workflow_version"`
	Branch    string                     `json:"branch_name"`
	Language  string                     `json:"language"`
	Design    metadata.DesignDecisions   `json:"design_decisions"`
	Cost      metadata.Cost              `json:"cost_tracking"`
	Phases    map[string]*olderPhase     `json:"phases"`
	PRNumber  int                        `json:"pr_number"`
	PRURL     string                     `json:"pr_url"`
	GitHub    metadata.GitHubIntegration `json:"github_integration"`
	Documents map[string]string          `json:"external_documents"`
	CreatedAt time.Time                  `json:"created_at"`
	Others    map[string]jsontext.Value  `json:",embed"`
}

// olderPhase is a phase of such a record.
type olderPhase struct {
	Status      metadata.PhaseStatus `json:"status"`
	Retries     int                  `json:"retry_count"`
	StartedAt   time.Time            `json:"started_at"`
	CompletedAt time.Time            `json:"completed_at"`
	Review      string               `json:"review_result"`
	Outputs     []string             `json:"output_files"`
	Back        *struct {
		From   string `json:"from_phase"`
		Reason string `json:"reason"`
	} `json:"rollback_context"`
	Decision    string `json:"decision"`     // of an evaluation
	FailedPhase string `json:"failed_phase"` // which it sends back
}

// issueID is a number, or text.
type issueID string

// UnmarshalJSON takes both.
func (id *issueID) UnmarshalJSON(data []byte) error {
	*id = issueID(strings.Trim(string(data), `"`))
	return nil
}

// olderRun is a run of the older system, as it was found, and what became of it.
type olderRun struct {
	record
	Name  string // of the record, as errors name it
	Top   string // the run's folder, from the top of the repository
	files fs.FS  // that folder
	Base  string // branch that the new one starts from; empty: what is checked out
	Notes []note
	taken []takenPhase
}

// note says what was not taken over as it was, and why. It never repeats a value: one may hold a secret.
type note struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

func (old *olderRun) note(what, format string, args ...any) {
	old.Notes = append(old.Notes, note{what, fmt.Sprintf(format, args...)})
}

func (old *olderRun) parse(data []byte) error {
	if err := json.Unmarshal(data, &old.record); err != nil {
		return metadata.DecodingMistake(data, old.Name, err)
	}
	var wrong []*metadata.Mistake
	bad := func(field, format string, args ...any) {
		wrong = append(wrong, &metadata.Mistake{File: old.Name, Path: field, Message: fmt.Sprintf(format, args...)})
	}
	if old.Schema != nil {
		bad("schema", "this is a record of reprise already: continue it with run")
	}
	if err := metadata.CheckID(string(old.Issue)); err != nil {
		bad("issue_number", "%v", err)
	}
	if old.Phases == nil {
		bad("phases", "are missing: this is not a record of a run")
	}
	for _, name := range slices.Sorted(maps.Keys(old.Phases)) {
		p := old.Phases[name]
		if p == nil {
			p = &olderPhase{}
			old.Phases[name] = p
		}
		p.Status = cmp.Or(p.Status, metadata.PhasePending)
		if err := metadata.NotOneOf("PhaseStatus", string(p.Status)); err != nil {
			bad("phases."+name+".status", "%v", err)
		}
	}
	metadata.LocateMistakes(data, wrong)
	slices.SortStableFunc(wrong, func(a, b *metadata.Mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	if len(wrong) > 0 {
		return metadata.JoinMistakes(wrong)
	}
	old.tidy()
	return nil
}

// tidy takes out of a record what a run cannot keep.
func (old *olderRun) tidy() {
	old.Repository = cmp.Or(old.Repository, old.Target.Name)
	for field, link := range map[string]*string{"issue_url": &old.IssueURL, "pr_url": &old.PRURL, "github_integration.progress_comment_url": &old.GitHub.ProgressCommentURL} {
		if *link != "" && metadata.CheckURL(*link) != nil {
			old.note(field, "is not a link that can be kept, such as one with credentials")
			*link = ""
		}
	}
	if old.Language != "" && !slices.Contains(metadata.Languages(), old.Language) {
		old.note("language", "is neither %s", strings.Join(metadata.Languages(), " nor "))
		old.Language = ""
	}
	for name, where := range old.Documents {
		if metadata.CheckURL(where) != nil && metadata.CheckPath(where) != nil {
			old.note("external_documents."+name, "is no link and no path within the repository")
			delete(old.Documents, name)
		}
	}
	told := []string{"issue_title", "current_phase", "updated_at"} // GitHub has a better title, and the phases tell the rest
	for name, value := range old.Others {
		if !slices.Contains(told, name) && !slices.Contains([]string{"null", `""`, "[]", "{}"}, string(value)) {
			old.note(name, "stays in the older record")
		}
	}
	slices.SortFunc(old.Notes, func(a, b note) int { return strings.Compare(a.What, b.What) })
}

// sentBack gives by whom a phase was sent back, and why; nothing if it was not. An evaluation of the
// older system set phases back and told nobody why.
func (old *olderRun) sentBack(name string) (by, why string) {
	p := old.Phases[name]
	if p.Back != nil {
		return p.Back.From, cmp.Or(p.Back.Reason, "(no reason was recorded)")
	}
	for _, by := range slices.Sorted(maps.Keys(old.Phases)) {
		other := old.Phases[by]
		if other.FailedPhase == name && strings.HasPrefix(other.Decision, "FAIL") {
			return by, fmt.Sprintf("%s decided that %s has to be done again.", by, name)
		}
	}
	return "", ""
}

// importedAgent is the agent of attempts of the older system: who did them is not known.
const importedAgent = "imported"

// takenPhase says what became of a phase.
type takenPhase struct {
	Name      string               `json:"name"`
	Was       metadata.PhaseStatus `json:"was,omitempty"` // in the older record; empty if that has no such phase
	Status    metadata.PhaseStatus `json:"status"`
	Artifacts map[string]string    `json:"artifacts"` // path on the new branch, by the path on the older one
}

// TakeOver fills the record of the workspace, and the files of its first
// commit, with what an older run has.
func (old *olderRun) TakeOver(w *workspace.Workspace) error {
	run := &w.Run
	if !old.CreatedAt.IsZero() && old.CreatedAt.Before(run.UpdatedAt) {
		run.CreatedAt = old.CreatedAt.UTC()
	}
	run.Repository = cmp.Or(run.Repository, old.Repository)
	run.DesignDecisions, run.Cost, run.ExternalDocuments = old.Design, old.Cost, old.Documents
	run.PRNumber, run.PRURL, run.GitHubIntegration = old.PRNumber, old.PRURL, old.GitHub
	for _, p := range w.Plan.Phases {
		if err := old.phase(w, &p, w.Env.Now().UTC()); err != nil {
			return fmt.Errorf("phase %s of %s: %w", p.Name, old.Name, err)
		}
	}
	for name := range old.Phases {
		if run.Phase(name) == nil {
			old.note("phases."+name, "pipeline %s has no such phase", w.Plan.Name)
		}
	}
	slices.SortStableFunc(old.Notes, func(a, b note) int { return strings.Compare(a.What, b.What) })
	old.stand(&w.Run, w.Env.Now())
	if err := run.Check(); err != nil {
		return fmt.Errorf("%s cannot be taken over: %w", old.Name, err)
	}
	return nil
}

// phase takes over one phase: what is completed with its artifact, and else the reason for
// which it is done again.
func (old *olderRun) phase(w *workspace.Workspace, p *pipelines.Phase, now time.Time) error {
	rec, was := w.Run.Phase(p.Name), old.Phases[p.Name]
	row := takenPhase{Name: p.Name, Artifacts: map[string]string{}}
	defer func() {
		row.Status = rec.Status
		old.taken = append(old.taken, row)
	}()
	if was == nil {
		return nil
	}
	row.Was = was.Status
	review, err := old.review(p.Name)
	if err != nil {
		return err
	}
	switch was.Status {
	case metadata.PhaseSkipped:
		rec.Status = metadata.PhaseSkipped
		return nil
	case metadata.PhaseCompleted:
		docs, err := old.documents(p.Name, was.Outputs)
		if err != nil {
			return err
		}
		if len(docs) > 0 {
			old.completed(w, p, was, docs, row.Artifacts)
			if review != "" {
				w.Frozen[path.Join(phases.Folder(w.Run.IssueNumber), p.Folder, phases.ReviewFile)] = []byte(review)
			}
			return nil
		}
		old.note("phases."+p.Name, "is completed, but no artifact of it is there: it is done again")
	case metadata.PhaseInProgress, metadata.PhaseFailed:
		old.note("phases."+p.Name, "is %s: it is done again", text.Words(was.Status))
	}
	old.sendBack(&w.Run, rec, review, now)
	return nil
}

// sendBack has a phase told why it is done again: who sent it back, and what the newest review of a
// phase that was not completed says.
func (old *olderRun) sendBack(run *metadata.Run, rec *metadata.Phase, review string, at time.Time) {
	by, why := old.sentBack(rec.Name)
	if was := old.Phases[rec.Name].Status; review != "" && (was == metadata.PhaseInProgress || was == metadata.PhaseFailed) {
		const most = 50_000 // characters, which a prompt repeats
		all := []rune(review)
		why = strings.TrimSpace(why + "\n\nThe newest review of ai-workflow-agent:\n\n" + string(all[:min(len(all), most)]))
	}
	if why == "" {
		return
	}
	if run.Phase(by) == nil {
		by = ""
	} else if docs, err := old.documents(by, nil); err == nil && len(docs) > 0 {
		why += "\n\nIts artifact is " + docs[0].path
	}
	rec.RollbackContext = &metadata.RollbackContext{TriggeredAt: at, FromPhase: by, Reason: why}
	run.RollbackHistory = append(run.RollbackHistory, metadata.Rollback{
		Timestamp: at, FromPhase: by, ToPhase: rec.Name, ToStep: metadata.Execute, Reason: why, TriggeredBy: metadata.Automatic,
	})
}

// completed takes over what a phase has written, as one attempt.
func (old *olderRun) completed(w *workspace.Workspace, p *pipelines.Phase, was *olderPhase, docs []document, artifacts map[string]string) {
	run := &w.Run
	rec := run.Phase(p.Name)
	folder := path.Join(phases.Folder(run.IssueNumber), p.Folder)
	for i, d := range docs {
		to := path.Join(folder, path.Base(d.path))
		if i == 0 {
			to = path.Join(folder, p.Writes)
			rec.Digest = phases.DigestOf(d.data)
		}
		if _, taken := w.Frozen[to]; taken || slices.Contains([]string{phases.ReviewFile, phases.ChecksFile, phases.ReasonFile}, path.Base(to)) {
			old.note(d.path, "has a name that is taken: it stays where it is")
			continue
		}
		w.Frozen[to] = d.data
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
	rec.CompletedSteps, rec.Written, rec.Base = []metadata.Step{metadata.Execute}, len(run.Attempts), w.Repo.Tip()
	if said := strings.ToLower(was.Review); said != string(metadata.Fail) && metadata.NotOneOf("Ruling", said) == nil {
		rec.ReviewResult, rec.Round = said, 1
		rec.CompletedSteps = append(rec.CompletedSteps, metadata.Review)
	}
}

// stand says where the whole run is, and that it was taken over.
func (old *olderRun) stand(run *metadata.Run, at time.Time) {
	// What the older system spent and tried is history: a person has decided
	// to go on.
	run.Budget.Since, run.AllowanceFrom = phases.SpentOf(*run), len(run.Attempts)
	run.Status, run.Stop = metadata.Completed, nil
	for _, p := range run.Phases {
		run.CurrentPhase = p.Name
		if p.Status == metadata.PhasePending {
			run.Status = metadata.Waiting
			run.Stop = &metadata.Stop{Code: metadata.AwaitingPerson, Why: metadata.Because("taken_over_stop", "from", old.Name), Phase: p.Name, At: at}
			break
		}
	}
	why := metadata.Because("taken_over", "from", old.Name)
	if v := old.Version; v != "" {
		why = metadata.Because("taken_over_version", "from", old.Name, "version", v)
	}
	run.Decisions = append(run.Decisions, metadata.Decision{At: at, Step: "import", Why: why})
}
