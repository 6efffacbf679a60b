package legacy

import (
	"cmp"
	"fmt"
	"maps"
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
	Title     jsontext.Value             `json:"issue_title"`   // GitHub has a better one
	Current   jsontext.Value             `json:"current_phase"` // the phases tell it
	UpdatedAt jsontext.Value             `json:"updated_at"`
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

// OlderRun is a run of the older system, as it was found.
type OlderRun struct {
	record
	place
	Notes []Note
}

// Note says what was not taken over as it was, and why. It never repeats a value: one may hold a secret.
type Note struct {
	What string `json:"what"`
	Why  string `json:"why"`
}

func (old *OlderRun) note(what, format string, args ...any) {
	old.Notes = append(old.Notes, Note{what, fmt.Sprintf(format, args...)})
}

// parse reads a metadata.json of the older system.
func (old *OlderRun) parse(data []byte) error {
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
		if p.Status = cmp.Or(p.Status, metadata.PhasePending); !slices.Contains(metadata.PhaseStatuses(), p.Status) {
			bad("phases."+name+".status", "%s", metadata.NotOneOf(p.Status, metadata.PhaseStatuses()...))
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
func (old *OlderRun) tidy() {
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
	for name, value := range old.Others {
		if !slices.Contains([]string{"null", `""`, "[]", "{}"}, string(value)) {
			old.note(name, "stays in the older record")
		}
	}
	slices.SortFunc(old.Notes, func(a, b Note) int { return strings.Compare(a.What, b.What) })
}

// sentBack gives by whom a phase was sent back, and why; nothing if it was not. An evaluation of the
// older system set phases back and told nobody why.
func (old *OlderRun) sentBack(name string) (by, why string) {
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
