package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Agent carries out one task. Run returns when the agent and every process it
// started have ended, also when ctx is cancelled. An error is an *AgentError
// wherever its kind is known; the Result is filled as far as it got even then.
type Agent interface {
	Run(ctx context.Context, t Task) (Result, error)
}

// Task is one call of an agent: what to say and what it may do. Its JSON form
// is what a "command" agent reads on standard input.
type Task struct {
	Issue   string        `json:"issue"` // id of the issue
	Title   string        `json:"title"` // of the issue
	Phase   string        `json:"phase"`
	Step    metadata.Step `json:"step"`
	Attempt int           `json:"attempt"` // counts from 1 through the run
	Round   int           `json:"round"`   // reviews of this phase before this call
	Goal    string        `json:"goal"`
	Gates   []string      `json:"gates"`
	// Part is the task of the phase that the call is about, of one that is done in
	// parts.
	Part     *metadata.Task    `json:"part,omitempty"`
	Language string            `json:"language"`
	Prompt   string            `json:"prompt"`
	Dir      string            `json:"dir"`              // absolute path of the work tree
	Artifact string            `json:"artifact"`         // absolute path of the file to write, or for a review to judge
	Images   []string          `json:"images,omitempty"` // absolute paths of the images that the prompt names, to be read
	Access   pipelines.Access  `json:"access"`
	Network  pipelines.Network `json:"network"`          // what the program may reach of the network
	Schema   json.RawMessage   `json:"schema,omitempty"` // the JSON Schema of the structured answer; nil asks for none

	Session string `json:"session,omitempty"` // id of the session to start, or to go on with
	Resume  bool   `json:"resume,omitempty"`  // go on with Session

	Model string `json:"model,omitempty"`
	// Models may be asked besides Model and those of the agent, and no others; nil:
	// also any that are known to be no dearer.
	Models    []string             `json:"models,omitzero"`
	Turns     int                  `json:"turns,omitempty"`      // limit; 0 means none
	BudgetUSD float64              `json:"budget_usd,omitempty"` // limit; 0 means none
	Tools     pipelines.ToolChoice `json:"-"`                    // leaves out tools that the agent has; agents that cannot choose ignore it
	Effort    string               `json:"-"`                    // of thinking; empty: as the agent has it
	Timeout   time.Duration        `json:"timeout"`              // of the whole call, in nanoseconds
	Idle      time.Duration        `json:"idle"`                 // without any output, in nanoseconds

	Notify func(Activity) `json:"-"` // if not nil, it is told what the agent is doing, from one goroutine
}

// Diagnose is the step of a task that looks at a whole run, see
// Engine.Diagnose. No phase has it.
const Diagnose = phases.Diagnose

// Activity is a sign of life from a running agent.
type Activity struct {
	Session string         // set once, as soon as it is known
	Text    string         // one line on what it does now: a tool and its target, or the start of its words
	Usage   metadata.Usage // so far
}

// Result is what came out of a call of an agent.
type Result struct {
	Session    string          // empty if the agent has no sessions
	Model      string          // as the agent reports it
	Text       string          // its last words
	Structured json.RawMessage // the structured answer, not yet checked; nil if there was none
	Usage      metadata.Usage
	ToolCalls  int       // tools it asked for, but for those that are its answer or tell of its work; -1 if the agent does not tell
	RanNothing bool      // it could have run commands, and is known to have run none
	Denials    []string  // tools it asked for and was refused, each time
	Refused    []Refused // hosts that its network does not have
	Limit      string    // set when a limit ended it: "turns" or "budget"; what it wrote so far counts
	Warnings   []string  // such as a stream error after a good result
	Stderr     string    // the tail, for people
}

// Refused is a host that a program was refused.
type Refused struct {
	Host  string // with its port
	Count int    // how often it was asked for
}

// AgentError is an infrastructure error, which says nothing about the work.
type AgentError struct {
	Class      metadata.Class
	Agent      string          // what was run, such as "claude"
	RetryAfter time.Duration   // as the service asked; 0 if it did not
	Hint       metadata.Reason // what a person can do about it
	Err        error
	Stderr     string // the tail
}

// Error says who failed and why.
func (e *AgentError) Error() string {
	return fmt.Sprintf("%s: %v", e.Agent, e.Err)
}

// Unwrap returns the cause.
func (e *AgentError) Unwrap() error { return e.Err }
