package metadata

import (
	"fmt"
	"time"
)

// Task is a part of the work that a phase has found.
type Task struct {
	ID    string   `json:"id" check:"text,ID,new"`
	Phase string   `json:"phase" check:"phase"` // that found it
	Title string   `json:"title" check:"text"`
	Goal  string   `json:"goal"`
	Files []string `json:"files,omitempty" check:"Path"` // it is likely to touch, as the agent named them
	Needs []string `json:"needs,omitempty"`              // ids of tasks to be done before
}

// Question is something that an agent asks people. The run waits for the answer.
type Question struct {
	ID         string     `json:"id" check:"text,ID,new"` // q1, q2 and so on through the whole run
	Phase      string     `json:"phase" check:"phase"`
	Generation int        `json:"generation"`
	Attempt    int        `json:"attempt" check:"attempt,text"` // that asked
	Text       string     `json:"question" check:"text"`
	Options    []string   `json:"options,omitempty"`
	AskedAt    time.Time  `json:"asked_at"`
	Answer     string     `json:"answer,omitempty"`
	By         string     `json:"by,omitempty"` // who answered
	AnsweredAt *time.Time `json:"answered_at"`  // nil: it is open
}

// Open reports whether nobody has answered yet.
func (q Question) Open() bool { return q.AnsweredAt == nil }

// Approval is the word of a person that a phase may stand as it is: as one
// attempt wrote it, and not as it may read later.
type Approval struct {
	Phase      string `json:"phase" check:"phase"`
	Generation int    `json:"generation"`
	Attempt    int    `json:"attempt" check:"attempt,text"` // that wrote what was approved
	Touched    int    `json:"touched,omitzero"`             // see Phase.Touched
	Digest     string `json:"digest" check:"text"`          // of the artifact
	// Role is the one that was asked for: By had it, or a higher one. Empty if nobody asked for a certain one.
	Role    string    `json:"role,omitempty" check:"Role"`
	By      string    `json:"by,omitempty"`
	Comment int64     `json:"comment_id,omitzero"`
	At      time.Time `json:"at"`
}

// Child is an issue of its own that a phase asks for.
type Child struct {
	// ID stands for the title: whoever asks for the same asks for this one.
	ID     string `json:"id" check:"text,ID,new"`
	Phase  string `json:"phase" check:"phase"` // that asked first
	Title  string `json:"title" check:"text"`
	Body   string `json:"body,omitempty"`
	Number int    `json:"number,omitzero"` // of the issue; 0: none was opened
	URL    string `json:"url,omitempty" check:"Link"`
}

// Opened reports whether the issue is there.
func (c Child) Opened() bool { return c.Number != 0 }

// Use says who does the steps of a phase, other than the pipeline does.
type Use struct {
	Agent string `json:"agent,omitempty"`
	Tier  string `json:"tier,omitempty"`
}

// PullReview is a review of the run's pull request that was taken as a command.
type PullReview struct {
	ID       int64           `json:"id"`
	At       time.Time       `json:"at"` // when it was taken
	By       string          `json:"by"`
	URL      string          `json:"url,omitempty" check:"Link"`
	Phase    string          `json:"phase,omitempty" check:"phase"` // the run was taken back to it; empty: to none
	Comments []ReviewComment `json:"comments,omitempty" check:"-"`
	Refused  Reason          `json:"refused,omitempty"` // why it was not carried out; empty: it was
	Answered bool            `json:"answered,omitzero"` // in its conversations, and a new review was asked for
}

// ReviewComment is what somebody said about a line: a finding against the work.
type ReviewComment struct {
	Finding Finding `json:"finding"`
	Thread  int64   `json:"thread_id"`           // the first comment of its conversation
	Start   int     `json:"start_line,omitzero"` // the first of several lines, of which the finding names the last; 0: it is one
	Side    string  `json:"side,omitempty"`      // LEFT: the line is one that was deleted
	Hunk    string  `json:"hunk,omitempty"`      // of the diff, down to the line
}

// At is where that stands, such as main.go:3-7; empty if nobody knows.
func (c ReviewComment) At() string {
	switch {
	case c.Finding.Line == 0:
		return c.Finding.File
	case c.Start == 0:
		return fmt.Sprintf("%s:%d", c.Finding.File, c.Finding.Line)
	}
	return fmt.Sprintf("%s:%d-%d", c.Finding.File, c.Start, c.Finding.Line)
}

// AnswerReviews notes what the newest verdict of a phase says of comments on lines.
func (r *Run) AnswerReviews(p *Phase) {
	for _, v := range r.Reviews {
		for i := range v.Comments {
			to := &v.Comments[i].Finding
			for _, f := range p.Verdict.Findings {
				if v.Phase == p.Name && f.ID == to.ID {
					to.Status, to.Severity, to.Solution = f.Status, f.Severity, f.Problem
				}
			}
		}
	}
}

// AwaitsCI reports whether CI has not spoken yet of all that was done.
func (r *Run) AwaitsCI() bool { return r.CI != nil && r.CI.After != len(r.Attempts) }

// MissesCI reports whether a run has stopped for CI that did not come in its time, and that
// nothing announces: people have to see to it.
func (r *Run) MissesCI() bool {
	return r.Stop != nil && r.Stop.Code == AwaitingCI && (r.Stop.Why.Code() == "ci_absent" || r.Stop.Why.Code() == "ci_silent")
}

// Decision is one decision of the engine: what it saw, what it chose, why.
type Decision struct {
	At      time.Time `json:"at"`
	Step    string    `json:"step" check:"text"` // execute, review, revise, check, wait, finish, fail, rollback, retry, refresh, refresh-issue, rule, skip_if, choose, or a person's command
	Phase   string    `json:"phase,omitempty" check:"phase"`
	Why     Reason    `json:"why" check:"text"`
	Attempt int       `json:"attempt,omitzero"`    // the attempt it led to
	By      string    `json:"by,omitempty"`        // the person whose command it was
	Command string    `json:"command,omitempty"`   // the person's command, as one writes it in a comment: the first line
	Comment int64     `json:"comment_id,omitzero"` // the comment in which the command stood
	Job     string    `json:"job,omitempty"`       // the job that brought a command which stood in no comment
}

// Rollback is one entry of the history of rollbacks, which only grows.
type Rollback struct {
	Timestamp        time.Time `json:"timestamp"`
	FromPhase        string    `json:"from_phase" check:"phase"`
	FromStep         Step      `json:"from_step" check:"optional"`
	ToPhase          string    `json:"to_phase" check:"text,phase"`
	ToStep           Step      `json:"to_step" check:"AgentStep"`
	Reason           string    `json:"reason" check:"text"`
	TriggeredBy      Trigger   `json:"triggered_by"`
	By               string    `json:"by,omitempty"`
	CommentURL       string    `json:"comment_url,omitempty" check:"Link"`
	ReviewResultPath string    `json:"review_result_path,omitempty" check:"Path"`
}

// Trigger says who caused a rollback.
type Trigger string

// The triggers of a rollback.
const (
	Manual    Trigger = "manual"
	Automatic Trigger = "automatic"
)

// RollbackContext is why a phase was taken back. It stays until a review after it passes.
type RollbackContext struct {
	TriggeredAt  time.Time        `json:"triggered_at"`
	FromPhase    string           `json:"from_phase" check:"phase"`
	FromStep     Step             `json:"from_step" check:"optional"`
	Reason       string           `json:"reason" check:"text"`
	ReviewResult string           `json:"review_result,omitempty" check:"Path"` // path of a review to read
	Details      *RollbackDetails `json:"details"`
	Earlier      []string         `json:"earlier,omitempty"` // reasons of rollbacks before that are not met either, the newest first
	By           string           `json:"by,omitempty"`
	CommentURL   string           `json:"comment_url,omitempty" check:"Link"`
}

// RollbackDetails counts what the review that led to a rollback had found.
type RollbackDetails struct {
	BlockerCount    int      `json:"blocker_count"`
	SuggestionCount int      `json:"suggestion_count"`
	AffectedTests   []string `json:"affected_tests,omitempty"`
}
