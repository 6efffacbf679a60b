package legacy

import (
	"cmp"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/reprise-ci/reprise/metadata"
)

// OlderFolder is the folder in which the older system kept its runs, from the
// top of the repository.
const OlderFolder = ".ai-workflow"

// record is a metadata.json of the older system, as far as a run takes it over. The
// records of reprise have kept its names.
type record struct {
	Schema     jsontext.Value `json:"schema"` // a record of reprise has it
	Issue      issueID        `json:"issue_number"`
	IssueURL   string         `json:"issue_url"`
	IssueTitle string         `json:"issue_title"`
	Repository string         `json:"repository"`
	Target     struct {
		Path string `json:"path"`
		Name string `json:"github_name"`
	} `json:"target_repository"`
	Version      string                     `json:"workflow_version"`
	CurrentPhase string                     `json:"current_phase"`
	BranchName   string                     `json:"branch_name"`
	Language     string                     `json:"language"`
	Design       metadata.DesignDecisions   `json:"design_decisions"`
	Cost         metadata.Cost              `json:"cost_tracking"`
	Phases       map[string]olderPhase      `json:"phases"`
	Rollbacks    []metadata.Rollback        `json:"rollback_history"`
	PRNumber     int                        `json:"pr_number"`
	PRURL        string                     `json:"pr_url"`
	GitHub       metadata.GitHubIntegration `json:"github_integration"`
	Documents    map[string]string          `json:"external_documents"`
	CreatedAt    *time.Time                 `json:"created_at"`
	UpdatedAt    *time.Time                 `json:"updated_at"`
	Others       map[string]jsontext.Value  `json:",embed"`
}

// olderPhase is a phase of such a record.
type olderPhase struct {
	Status      metadata.PhaseStatus      `json:"status"`
	Retries     int                       `json:"retry_count"`
	StartedAt   *time.Time                `json:"started_at"`
	CompletedAt *time.Time                `json:"completed_at"`
	Review      string                    `json:"review_result"`
	Outputs     []string                  `json:"output_files"`
	Step        metadata.Step             `json:"current_step"`
	Steps       []metadata.Step           `json:"completed_steps"`
	Back        *metadata.RollbackContext `json:"rollback_context"`
	Decision    string                    `json:"decision"`     // of an evaluation
	FailedPhase string                    `json:"failed_phase"` // which it sends back
	Others      map[string]jsontext.Value `json:",embed"`
}

// issueID is a number, or text.
type issueID string

// UnmarshalJSON takes both.
func (id *issueID) UnmarshalJSON(data []byte) error {
	*id = issueID(strings.Trim(string(data), `"`))
	return nil
}

// Imported is what a record of the older system says. It knows no pipeline, no attempts and
// no issue text.
type Imported struct {
	// Run holds what could be taken over and is no valid record yet. Phases are
	// in the order of their names; their OutputFiles, and every other path, are
	// as the older branch has them. WorkflowVersion and BranchName are the older
	// ones. Phases that are pending hold nothing but a RollbackContext.
	Run metadata.Run
	// Dropped says what was not taken over as it stands, and why, in the order
	// of the file. It never repeats a value: one may hold a secret.
	Dropped []*metadata.Mistake
}

// Import reads a metadata.json of the older system. Times that the file lacks and a record
// needs become the nearest one it has, else at, the time of the import.
func Import(data []byte, filename string, at time.Time) (Imported, error) {
	var old record
	if err := json.Unmarshal(data, &old); err != nil {
		return Imported{}, metadata.DecodingMistake(data, filename, err)
	}
	r := &reading{}
	run := r.run(&old, at.UTC())
	for _, list := range [][]*metadata.Mistake{r.mistakes, r.dropped} {
		metadata.LocateMistakes(data, list)
		for _, e := range list {
			e.File = filename
		}
		slices.SortStableFunc(list, func(a, b *metadata.Mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	}
	if len(r.mistakes) > 0 {
		return Imported{}, metadata.JoinMistakes(r.mistakes)
	}
	return Imported{Run: run, Dropped: r.dropped}, nil
}

// reading collects what is wrong with a record, and what of it is not taken over.
type reading struct{ mistakes, dropped []*metadata.Mistake }

func (r *reading) bad(field, format string, args ...any) {
	r.mistakes = append(r.mistakes, &metadata.Mistake{Path: field, Message: fmt.Sprintf(format, args...)})
}

func (r *reading) drop(field, why string) {
	r.dropped = append(r.dropped, &metadata.Mistake{Path: field, Message: why})
}

// others drops what a record has no place for. What is empty loses nothing.
func (r *reading) others(prefix string, fields map[string]jsontext.Value) {
	for name, value := range fields {
		if !slices.Contains([]string{"null", `""`, "[]", "{}"}, string(value)) {
			r.drop(prefix+name, "a record of reprise has no such field")
		}
	}
}

// link gives a link, or nothing in place of one that cannot be kept.
func (r *reading) link(field, link string) string {
	if link == "" || metadata.CheckURL(link) == nil {
		return link
	}
	r.drop(field, "is not a link that can be kept, such as one with credentials")
	return ""
}

// path gives a path from the top of the repository, or nothing in place of one that leads
// out of it.
func (r *reading) path(field, p string) string {
	p = olderPath(p)
	if p == "" || metadata.CheckPath(p) == nil {
		return p
	}
	r.drop(field, "is no path within the repository")
	return ""
}

// olderPath cuts off where on its machine an older run lay.
func olderPath(p string) string {
	if i := strings.LastIndex(p, "/"+OlderFolder+"/"); i >= 0 {
		return p[i+1:]
	}
	return p
}

// run takes over the whole record.
func (r *reading) run(old *record, at time.Time) metadata.Run {
	latest := or(old.UpdatedAt, &at)
	run := metadata.Run{
		IssueNumber: string(old.Issue), IssueURL: r.link("issue_url", old.IssueURL), IssueTitle: old.IssueTitle,
		Repository: cmp.Or(old.Repository, old.Target.Name), WorkflowVersion: old.Version, Language: old.Language, BranchName: old.BranchName,
		CurrentPhase: old.CurrentPhase, DesignDecisions: old.Design, Cost: old.Cost, PRNumber: old.PRNumber, PRURL: r.link("pr_url", old.PRURL),
		GitHubIntegration: old.GitHub, CreatedAt: or(old.CreatedAt, &latest), UpdatedAt: at,
	}
	run.GitHubIntegration.ProgressCommentURL = r.link("github_integration.progress_comment_url", old.GitHub.ProgressCommentURL)
	if old.Schema != nil {
		r.bad("schema", "this is a record of reprise already: continue it with run")
	}
	if err := metadata.CheckID(run.IssueNumber); err != nil {
		r.bad("issue_number", "%v", err)
	}
	if old.Phases == nil {
		r.bad("phases", "are missing: this is not a record of a run")
	}
	if run.Language != "" && !slices.Contains(metadata.Languages(), run.Language) {
		r.drop("language", "is neither "+strings.Join(metadata.Languages(), " nor "))
		run.Language = ""
	}
	if old.Target.Path != "" {
		r.drop("target_repository.path", "is a folder of the machine that the older run was on")
	}
	run.ExternalDocuments = r.documents(old.Documents)
	r.others("", old.Others)
	for _, name := range slices.Sorted(maps.Keys(old.Phases)) {
		run.Phases = append(run.Phases, r.phase(name, old.Phases[name], run.CreatedAt, latest))
	}
	for i, e := range old.Rollbacks {
		field := fmt.Sprintf("rollback_history[%d].", i)
		if run.Phase(e.ToPhase) == nil {
			r.bad(field+"to_phase", "there is no phase %.80q", e.ToPhase)
		}
		if e.Timestamp = e.Timestamp.UTC(); e.Timestamp.IsZero() {
			e.Timestamp = run.CreatedAt
		}
		// What a rollback goes to, who asks for it and why, unless it is said.
		e.ToStep, e.TriggeredBy, e.Reason = cmp.Or(e.ToStep, metadata.Revise), cmp.Or(e.TriggeredBy, metadata.Manual), cmp.Or(e.Reason, noReason)
		e.CommentURL, e.ReviewResultPath = r.link(field+"comment_url", e.CommentURL), r.path(field+"review_result_path", e.ReviewResultPath)
		e.FromPhase, e.FromStep = origin(e.FromPhase, e.FromStep, e.ReviewResultPath)
		run.RollbackHistory = append(run.RollbackHistory, e)
	}
	for _, by := range run.Phases {
		if p := old.Phases[by.Name]; p.sendsBack() {
			sendBack(&run, by.Name, run.Phase(p.FailedPhase), latest)
		}
	}
	return run
}

// noReason stands for a reason that the older record lacks.
const noReason = "(no reason was recorded)"

// documents takes over the references that people gave to the older run.
func (r *reading) documents(named map[string]string) map[string]string {
	for name, where := range named {
		field := "external_documents." + name
		if strings.Contains(where, "://") {
			where = r.link(field, where)
		} else if where = olderPath(where); metadata.Absolute(where) {
			r.drop(field, "is an absolute path of another machine")
			where = ""
		}
		if named[name] = where; where == "" {
			delete(named, name)
		}
	}
	return named
}

// sendsBack reports whether an evaluation has another phase done again.
func (p olderPhase) sendsBack() bool {
	return strings.HasPrefix(p.Decision, "FAIL") && p.FailedPhase != ""
}

// sendBack gives a phase the reason for which another one had it done again.
// The older system set the phases back and told nobody why.
func sendBack(run *metadata.Run, by string, to *metadata.Phase, at time.Time) {
	if to == nil || to.RollbackContext != nil || to.Status != metadata.PhasePending && to.Status != metadata.PhaseInProgress {
		return
	}
	step := cmp.Or(to.CurrentStep, metadata.Execute)
	reason := fmt.Sprintf("%s decided that %s has to be done again.", by, to.Name)
	to.RollbackContext = &metadata.RollbackContext{TriggeredAt: at, FromPhase: by, Reason: reason}
	run.RollbackHistory = append(run.RollbackHistory, metadata.Rollback{
		Timestamp: at, FromPhase: by, ToPhase: to.Name, ToStep: step, Reason: reason, TriggeredBy: metadata.Automatic,
	})
}

// phase takes over one phase. Where it contradicts itself, its status counts.
func (r *reading) phase(name string, old olderPhase, created, latest time.Time) metadata.Phase {
	field := "phases." + name + "."
	p := metadata.Phase{
		Name: name, Status: cmp.Or(old.Status, metadata.PhasePending), RetryCount: old.Retries, StartedAt: utc(old.StartedAt), CompletedAt: utc(old.CompletedAt),
		ReviewResult: strings.ToLower(old.Review), CompletedSteps: old.Steps, RollbackContext: old.Back,
	}
	for _, file := range old.Outputs {
		p.OutputFiles = append(p.OutputFiles, olderPath(file))
	}
	if c := p.RollbackContext; c != nil {
		if c.TriggeredAt = c.TriggeredAt.UTC(); c.TriggeredAt.IsZero() {
			c.TriggeredAt = latest
		}
		c.Reason, c.CommentURL, c.ReviewResult = cmp.Or(c.Reason, noReason), r.link(field+"rollback_context.comment_url", c.CommentURL), r.path(field+"rollback_context.review_result", c.ReviewResult)
		c.FromPhase, c.FromStep = origin(c.FromPhase, c.FromStep, c.ReviewResult)
	}
	if old.Decision != "" && !old.sendsBack() {
		r.drop(field+"decision", "stands in the artifact of the phase")
	}
	r.others(field, old.Others)
	if p.ReviewResult != "" && !slices.Contains(metadata.Rulings(), metadata.Ruling(p.ReviewResult)) {
		r.drop(field+"review_result", "is no verdict of a review")
		p.ReviewResult = ""
	}
	switch p.Status {
	case metadata.PhaseCompleted:
		r.completed(&p, old.Step, field, created)
	case metadata.PhaseInProgress, metadata.PhaseFailed:
		unfinished(&p, old.Step)
	case metadata.PhasePending, metadata.PhaseSkipped:
		if p.Status == metadata.PhasePending && (len(old.Steps) > 0 || old.Step != "") {
			r.drop(field+"completed_steps", "the phase is pending again: it begins anew")
		}
		return metadata.Phase{Name: name, Status: p.Status, RollbackContext: p.RollbackContext}
	default:
		r.bad(field+"status", "%s", metadata.NotOneOf(p.Status, metadata.PhaseStatuses()...))
	}
	return p
}

// completed completes what is missing of a phase that is done.
func (r *reading) completed(p *metadata.Phase, current metadata.Step, field string, created time.Time) {
	if p.CompletedAt == nil {
		t := or(p.StartedAt, &created)
		p.CompletedAt = &t
		r.drop(field+"completed_at", "is missing: "+t.Format(time.RFC3339)+" is taken, the nearest time there is")
	}
	if p.StartedAt == nil || p.StartedAt.After(*p.CompletedAt) {
		p.StartedAt = p.CompletedAt
	}
	if current != "" {
		r.drop(field+"current_step", "the phase is completed and has none")
	}
	if p.RollbackContext != nil {
		r.drop(field+"rollback_context", "the phase was completed after it; rollback_history keeps it")
		p.RollbackContext = nil
	}
	if p.ReviewResult == string(metadata.Fail) {
		r.drop(field+"review_result", "is fail, but the phase is completed")
		p.ReviewResult = ""
	}
	if len(p.CompletedSteps) == 0 {
		p.CompletedSteps = []metadata.Step{metadata.Execute}
		if p.ReviewResult != "" {
			p.CompletedSteps = append(p.CompletedSteps, metadata.Review)
		}
	}
}

// unfinished puts a phase that has begun and is not done to its step: what it did last
// says what comes next, unless the file does.
func unfinished(p *metadata.Phase, current metadata.Step) {
	p.CompletedAt = nil
	switch done := p.CompletedSteps; {
	case current != "":
	case len(done) == 0:
		current = metadata.Execute
	case done[len(done)-1] == metadata.Review:
		current = metadata.Revise
	default:
		current = metadata.Review
	}
	p.CompletedSteps = slices.DeleteFunc(p.CompletedSteps, func(s metadata.Step) bool { return s == current })
	p.CurrentStep = current
}

// origin is where a rollback came from. Where the file does not say it, the review that led
// to it does, such as .ai-workflow/issue-7/06_testing/review/result.md.
func origin(phase string, step metadata.Step, review string) (string, metadata.Step) {
	folder := path.Dir(review)
	if _, name, is := strings.Cut(path.Base(path.Dir(folder)), "_"); phase == "" && is && path.Base(folder) == string(metadata.Review) {
		return name, metadata.Review
	}
	return phase, step
}

// utc gives a time as records have it.
func utc(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	in := t.UTC()
	return &in
}

// or gives the first time that there is.
func or(times ...*time.Time) time.Time {
	for _, t := range times {
		if t != nil {
			return t.UTC()
		}
	}
	return time.Time{}
}
