// Package metadata is the record of a run: plain data that outlives the
// process. It is committed to the issue's branch as
// .reprise/issue-ID/metadata.json, in the same commit as the work it
// describes, so whoever holds the branch holds the whole truth about the run.
//
// The package knows the format, its versions and its invariants, and how to
// save it so that no crash leaves a torn file. It decides nothing: package
// phases computes the next record, this one only says whether it is legal.
package metadata

import (
	"encoding/json"
	"time"
)

// Schema is the version of the format that this program writes.
const Schema = 4

// Run is everything a run remembers. The zero value is not valid; see Run.Check.
// Fields up to UpdatedAt keep the names that users of the older format know.
type Run struct {
	Schema   int `json:"schema" check:"-"` // format version, see Schema
	Revision int `json:"revision"`         // grows by one with every saved change

	IssueNumber     string `json:"issue_number" check:"text,ID" next:"same"` // "7", or a name such as "add-hello" for an issue read from a file
	IssueURL        string `json:"issue_url" check:"Link"`
	IssueTitle      string `json:"issue_title"`
	Repository      string `json:"repository" check:"Repository" next:"same"` // owner/name, or empty
	WorkflowVersion string `json:"workflow_version"`                          // version of reprise that started the run
	Language        string `json:"language" check:"Language"`                 // "en" or "ja"
	BranchName      string `json:"branch_name" check:"text,Branch" next:"same"`
	BaseCommit      string `json:"base_commit" check:"Commit"`           // the newest commit of the base that the branch has: it started from it, or Merges has it last
	BaseBranch      string `json:"base_branch,omitempty" check:"Branch"` // the base, which the work goes into; empty: the default branch
	CurrentPhase    string `json:"current_phase" check:"phase"`

	Status Status `json:"status"`
	Stop   *Stop  `json:"stop" in:"interrupted!,waiting!,failed!,cancelled!"` // why the run is not going on; nil while it is running

	DesignDecisions DesignDecisions `json:"design_decisions"`
	Cost            Cost            `json:"cost_tracking" next:"inside"`
	Phases          Phases          `json:"phases"`
	RollbackHistory []Rollback      `json:"rollback_history"`

	PRNumber          int               `json:"pr_number,omitzero"`
	PRURL             string            `json:"pr_url,omitempty" check:"Link"`
	GitHubIntegration GitHubIntegration `json:"github_integration"`
	ExternalDocuments map[string]string `json:"external_documents,omitempty"`

	Pipeline   Pipeline      `json:"pipeline"`
	Execution  Execution     `json:"run" next:"inside"`
	Cursor     string        `json:"cursor"`                // id of the comment with the last command that was taken; empty if there is none
	PullCursor string        `json:"pull_cursor,omitempty"` // the same for the comments on the pull request
	Issue      Issue         `json:"issue_snapshot"`
	Attempts   []Attempt     `json:"attempts"`
	Decisions  []Decision    `json:"decisions"`
	Tasks      []Task        `json:"tasks"`
	Questions  []Question    `json:"questions"`
	Approvals  []Approval    `json:"approvals"`
	Children   []Child       `json:"children,omitempty"`
	Reviews    []PullReview  `json:"reviews,omitempty"`   // in the order in which they were taken
	CI         *CI           `json:"ci,omitempty"`        // nil: nobody asks what it says
	Unchecked  Reason        `json:"unchecked,omitempty"` // why nothing of CI has looked at the work; empty: it has, or nobody knows
	Merges     []Merge       `json:"merges,omitempty"`    // of the base into the branch, in their order
	Budget     Budget        `json:"budget"`
	Setup      []CheckResult `json:"setup,omitempty"`    // how the commands ended that made a work tree ready last, up to the first that failed
	Baseline   []CheckResult `json:"baseline,omitempty"` // how checks ended without the work, on the newest base, as far as that is known

	// AllowanceFrom is the number of the last attempt that no longer counts against retry limits.
	AllowanceFrom int `json:"allowance_from" check:"attempt" next:"grows"`

	CreatedAt time.Time `json:"created_at"`
	UpdatedAt time.Time `json:"updated_at"`
}

// Status is where a run as a whole stands.
type Status string

// The statuses of a run.
const (
	Running     Status = "running"
	Interrupted Status = "interrupted"
	Waiting     Status = "waiting"
	Failed      Status = "failed"
	Completed   Status = "completed"
	Cancelled   Status = "cancelled"
)

// Stop says why a run is not going on.
type Stop struct {
	Code  Code      `json:"code"`
	Why   Reason    `json:"why" check:"text"`
	Phase string    `json:"phase,omitempty" check:"phase"`
	Step  Step      `json:"step,omitempty"`
	At    time.Time `json:"at"`
}

// DesignDecisions are the three decisions of planning that later phases follow.
type DesignDecisions struct {
	ImplementationStrategy string `json:"implementation_strategy"`
	TestStrategy           string `json:"test_strategy"`
	TestCodeStrategy       string `json:"test_code_strategy"`
}

// Cost is what all attempts together have used.
type Cost struct {
	InputTokens  int64   `json:"total_input_tokens" next:"grows"`
	OutputTokens int64   `json:"total_output_tokens" next:"grows"`
	CachedTokens int64   `json:"total_cached_tokens" next:"grows"` // read from a cache, not contained in InputTokens
	USD          float64 `json:"total_cost_usd" next:"grows"`
}

// GitHubIntegration holds what reprise made on GitHub and must find again.
type GitHubIntegration struct {
	ProgressCommentID  int64  `json:"progress_comment_id,omitzero"`
	ProgressCommentURL string `json:"progress_comment_url,omitempty" check:"Link"`
	NoticeCommentID    int64  `json:"notice_comment_id,omitzero"` // the newest one that told people of a stop
	NoticeFor          string `json:"notice_for,omitempty"`       // of which
	LabelsOn           int    `json:"labels_on,omitzero"`         // pull request that was given the labels of the issue
}

// Pipeline names the frozen pipeline of the run; its text lies beside this file as pipeline.json.
type Pipeline struct {
	Name   string `json:"name" check:"text"`
	Digest string `json:"digest" check:"text,Digest"` // "sha256:" and 64 hex digits, of pipeline.json and prompts.json
	// Definition is the same digest before the command line changed anything for this run.
	Definition string `json:"definition" check:"text,Digest"`
	Source     string `json:"source" check:"Reference"` // "builtin:full", or the path it was read from
}

// Execution identifies the process that works on the run.
type Execution struct {
	ID      string `json:"id" check:"text" next:"same"`
	Attempt int    `json:"attempt" next:"grows"` // by one with every start of a process on it
	Push    bool   `json:"push"`                 // every commit goes to origin
	Lease   *Lease `json:"lease,omitempty"`
	// Told is, for each hook of the pipeline, the revision up to which it has taken every event.
	Told []int `json:"told,omitempty"`
}

// CI is what CI says of the work of a run, which is asked for before it is completed.
type CI struct {
	After  int    `json:"after"`                           // number of the newest attempt when all was good; 0: it was not yet
	Commit string `json:"commit,omitempty" check:"Commit"` // that it was good on; empty: nothing has run there
}

// Merge is a merge of the base into the branch of a run.
type Merge struct {
	At        time.Time `json:"at"`
	Commit    string    `json:"commit" check:"Commit"`   // of the base
	Conflicts []string  `json:"conflicts,omitempty"`     // paths at which the two conflicted, as people see them
	Attempt   int       `json:"attempt" check:"attempt"` // number of the newest attempt before it
}

// Lease says which process may write, and until when.
type Lease struct {
	Owner   string    `json:"owner" check:"text"`
	Fence   int       `json:"fence"`
	Expires time.Time `json:"expires"`
}

// Issue is the issue as it read when the run began.
type Issue struct {
	Title  string   `json:"title"`
	Labels []string `json:"labels"`
	Author string   `json:"author"`
	Digest string   `json:"digest"` // of the body, which lies beside this file as issue.md
	// Discussion is the digest of discussion.json, what was said below it; empty: the run took note of nothing.
	Discussion string `json:"discussion,omitempty"`
	// Images are those of the issue and of its discussion, in the order of their numbers.
	Images []Image `json:"images,omitempty"`
}

// Image is an image that people see in an issue.
type Image struct {
	URL    string `json:"url"`              // as the text has it
	Digest string `json:"digest,omitempty"` // of the bytes; empty: they were not fetched
	Type   string `json:"type,omitempty"`   // png, jpeg, gif or webp
	Size   int    `json:"size,omitzero"`    // bytes
	Why    Reason `json:"why,omitempty"`    // they were not fetched
}

// Budget is what may be spent. A zero limit means no limit. The first four
// apply to what was spent since Since, a snapshot that a person's decision to
// go on renews; IssueUSD applies to all runs of the issue together.
type Budget struct {
	USD        float64 `json:"usd"`
	Tokens     int64   `json:"tokens"` // input and output
	Seconds    int     `json:"seconds"`
	Attempts   int     `json:"attempts"`
	IssueUSD   float64 `json:"issue_usd"`
	EarlierUSD float64 `json:"earlier_usd,omitzero"` // spent by runs of the issue before this one, where IssueUSD limits them
	Since      Spent   `json:"since"`
}

// Spent is a point in the spending of a run.
type Spent struct {
	USD      float64 `json:"usd"`
	Tokens   int64   `json:"tokens"`
	Seconds  int     `json:"seconds"`
	Attempts int     `json:"attempts"`
}

// Phase is the record of one phase.
type Phase struct {
	Name string `json:"-" check:"text,ID,new"` // its key in the file
	Task string `json:"task,omitempty"`        // that it does, as the part "implementation.t1" of implementation does t1

	Status         PhaseStatus `json:"status"`
	RetryCount     int         `json:"retry_count"` // revises in this generation
	StartedAt      *time.Time  `json:"started_at"`
	CompletedAt    *time.Time  `json:"completed_at" in:"completed!,failed,skipped"`
	ReviewResult   string      `json:"review_result" check:"Ruling,optional"`          // verdict of the newest review, or empty
	OutputFiles    []string    `json:"output_files" check:"text,file"`                 // paths from the top of the repository
	CurrentStep    Step        `json:"current_step" check:"optional" in:"in_progress"` // the step to do next; empty unless in progress
	CompletedSteps []Step      `json:"completed_steps"`

	RollbackContext *RollbackContext `json:"rollback_context"`

	Base string `json:"base" check:"Commit"` // commit the phase started from
	// Upstream is the commit of the base that Base has, once a newer one was merged, which is no work of the phase.
	Upstream   string `json:"upstream,omitempty" check:"Commit"`
	Generation int    `json:"generation"` // grows by one with every rollback to this phase or an earlier one
	Round      int    `json:"round"`      // reviews so far in this generation
	Digest     string `json:"digest"`     // of the artifact, as the newest write left it
	// Accepted is the digest of the artifact with which the phase was completed; see Edited.
	Accepted string `json:"accepted,omitempty"`

	Written int             `json:"written" check:"attempt"` // number of the attempt that wrote last
	Checks  *Checks         `json:"checks,omitempty"`        // newest run of the declared checks
	Verdict *Verdict        `json:"verdict,omitempty"`       // newest review
	Report  json.RawMessage `json:"report,omitzero"`         // what the agent returned, as the pipeline's schema asks
	Diff    *Diff           `json:"diff,omitempty"`          // what the phase changed in the tree
	// Violations are writes outside the phase's access that were reverted; the next revision is told.
	Violations []Violation `json:"violations,omitempty"`
	// Opened are the changes of protected paths that the newest write asks for. Each is made once a person approves.
	Opened []Opened `json:"opened,omitempty"`
	// Approve is the role of a person who has to approve the phase besides what the pipeline asks for, and Ask why.
	Approve string `json:"approve,omitempty" check:"Role"`
	Ask     Reason `json:"ask,omitempty"`
	// Touched is how often others have changed on the branch what the phase left. An approval is for one such number.
	Touched int `json:"touched,omitzero"`
	// Dropped is the phase after which a rule has left this one out, or its own name if its skip_if has; else empty.
	Dropped string `json:"dropped_after,omitempty" check:"phase" in:"skipped"`
	Use     *Use   `json:"use,omitempty"` // what a rule has decided about who does the phase
	// Recent holds the fingerprints of the newest rounds, to notice a circle.
	Recent []string `json:"recent,omitempty"`
	// AllowanceFrom is that of Run for this phase alone, where it is larger.
	AllowanceFrom int `json:"allowance_from,omitzero" check:"attempt"`
	// Best is the best work of the phase so far; nil: none was judged, or it is done beside others.
	Best *Best `json:"best,omitempty"`
	// Lane is where a part is done beside others, until its work is on the branch; nil: on the branch itself.
	Lane *Lane `json:"lane,omitempty" in:"in_progress,failed"`
}

// Best is work of a phase that none of its later attempts has surpassed, and what was found of it.
type Best struct {
	Commit      string          `json:"commit" check:"text,Commit"`     // that has it
	Written     int             `json:"written" check:"attempt"`        // the attempt that wrote it
	Digest      string          `json:"digest"`                         // of the artifact
	OutputFiles []string        `json:"output_files" check:"text,file"` // as those of Phase
	Report      json.RawMessage `json:"report,omitzero"`
	Diff        *Diff           `json:"diff,omitempty"`
	Checks      *Checks         `json:"checks,omitempty"`
	Verdict     *Verdict        `json:"verdict,omitempty"`
	Over        int             `json:"over,omitzero" check:"attempt"` // the attempt whose work was taken back to this; 0: none was
	Lost        []string        `json:"lost,omitempty"`                // tests that pass here and failed there
}

// Lane is the work of a part that is done beside others, in a tree of its own.
type Lane struct {
	Base string `json:"base" check:"text,Commit"`      // commit of the run's branch that the work started from
	Head string `json:"head,omitempty" check:"Commit"` // newest commit with the work, a second parent in the history of the branch; empty: none yet
	// Conflict is why the work could not be integrated; nil: it could, or nobody tried.
	Conflict *Conflict `json:"conflict,omitempty"`
}

// Conflict is why the work of a lane could not be merged with what was merged before it.
type Conflict struct {
	Parts []string `json:"parts,omitempty" check:"phase"` // that were merged since the lane began
	Paths []string `json:"paths,omitempty" check:"Path"`  // that both have changed; none: they merge, but checks fail on the result
	// Writer is the attempt in which the writer of the part brought the two together; 0: that is left to do.
	Writer int  `json:"writer,omitzero" check:"attempt"`
	Anew   bool `json:"anew,omitzero"`   // what the writer did was not enough: the part is done anew on what was merged
	Person bool `json:"person,omitzero"` // that was not enough either: a person decides
}

// Edited reports whether somebody has changed the artifact since the phase was completed with it.
func (p *Phase) Edited() bool { return p.Accepted != "" && p.Accepted != p.Digest }

// PhaseStatus is where a phase stands.
type PhaseStatus string

// The statuses of a phase.
const (
	PhasePending    PhaseStatus = "pending"
	PhaseInProgress PhaseStatus = "in_progress"
	PhaseCompleted  PhaseStatus = "completed"
	PhaseFailed     PhaseStatus = "failed"
	PhaseSkipped    PhaseStatus = "skipped"
)

// Step is a step of a phase.
type Step string

// The steps of a phase. The last two are done by reprise itself, the others by
// agents; Integrate brings the parts of a phase together and takes the place of
// its Execute.
const (
	Execute   Step = "execute"
	Review    Step = "review"
	Revise    Step = "revise"
	Check     Step = "check"
	Integrate Step = "integrate"
)

// Given is the agent that attempts have in which a document that people have written was
// taken as the work of a phase.
const Given = "given"

// ByAgent reports whether an agent does the step.
func (s Step) ByAgent() bool { return s != Check && s != Integrate }

// Attempt is one call of an agent, or one run of a phase's checks.
type Attempt struct {
	N          int           `json:"n"` // counts from 1 through the whole run
	Phase      string        `json:"phase" check:"text,phase"`
	Step       Step          `json:"step"`
	Generation int           `json:"generation"`
	Round      int           `json:"round"`
	Agent      string        `json:"agent,omitempty"` // name in the pipeline
	Model      string        `json:"model,omitempty"`
	Session    string        `json:"session,omitempty"`
	Confirmed  bool          `json:"session_confirmed,omitzero"` // the agent has named the session: it can be gone on with
	Resumed    bool          `json:"resumed,omitzero"`           // it went on with a session of an earlier attempt
	Status     AttemptStatus `json:"status"`
	Code       Code          `json:"code,omitempty"`  // why it did not succeed
	Class      Class         `json:"class,omitempty"` // of an infrastructure error
	Why        Reason        `json:"why,omitempty"`
	Stderr     string        `json:"stderr,omitempty"`  // the end of what the agent's program wrote there, where it did not succeed
	Verdict    Ruling        `json:"verdict,omitempty"` // what a review said of the work; of checks: pass or fail
	// FailedGates are, of a review, the gates that the work has not passed, as the pipeline has them.
	FailedGates []string   `json:"failed_gates,omitempty"`
	Broke       string     `json:"broke,omitempty" check:"Broke"` // rules that its changes broke, with commas between, see Rule; those were reverted
	Refused     string     `json:"refused,omitempty"`             // hosts that its network does not have, with how often each was asked for: "example.com:443 (2), ..."
	RetryAfter  int        `json:"retry_after_s,omitzero"`        // seconds to wait, as the service asked
	Usage       Usage      `json:"usage"`
	DurationMS  int64      `json:"duration_ms"`
	StartedAt   time.Time  `json:"started_at"`
	EndedAt     *time.Time `json:"ended_at" in:"succeeded!,failed!,blocked!,error!,interrupted!"`
}

// AttemptStatus is how an attempt ended.
type AttemptStatus string

// The statuses of an attempt. Started is one whose end nobody saw; Errored is
// an infrastructure error, which says nothing about the work.
const (
	Started      AttemptStatus = "started"
	Succeeded    AttemptStatus = "succeeded"
	Unsuccessful AttemptStatus = "failed"
	Blocked      AttemptStatus = "blocked"
	Errored      AttemptStatus = "error"
	Cut          AttemptStatus = "interrupted"
)

// Usage is what one attempt used, summed over all turns of the agent.
type Usage struct {
	InputTokens  int64   `json:"input_tokens"` // without cached ones
	OutputTokens int64   `json:"output_tokens"`
	CachedTokens int64   `json:"cached_tokens"`
	Turns        int     `json:"turns"`
	USD          float64 `json:"cost_usd"`
	Estimated    bool    `json:"estimated,omitzero"` // priced from a table, not by the agent
	Unknown      bool    `json:"unknown,omitzero"`   // nobody knows what it cost, and it counts as nothing
	ByGate       bool    `json:"by_gate,omitzero"`   // counted by the proxy, as the agent said nothing, or less
}
