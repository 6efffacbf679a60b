package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Calls say how agents are asked, and for what.
type Calls struct {
	Agent   func(name string) (Agent, error) // of that name in the pipeline
	Prompts *prompts.Set
	Issue   prompts.Issue // as it read when the run began
	// See gives the issue with its images named, and their files.
	See   func(ctx context.Context, is prompts.Issue) (named prompts.Issue, files []string)
	NewID func() string // a UUID, for sessions
	Rand  io.Reader     // for fences around untrusted text
	// Elsewhere is the number of the newest attempt that another machine has made. Agents'
	// sessions up to that one are not on this machine and cannot be resumed.
	Elsewhere int
}

// task is everything the agent of a decision is given.
func (e *Engine) task(ctx context.Context, run metadata.Run, d phases.Decision) (t Task, err error) {
	p := e.Plan.Phase(d.Phase)
	t = e.taskOf(run, d)
	t.Dir, t.Artifact, t.Schema, t.BudgetUSD = e.dirOf(d), artifactIn(e.dirOf(d), run, p), p.ReportSchema, e.remaining(run)
	if d.Do == phases.DoReview {
		t.Schema = json.RawMessage(phases.VerdictSchema)
	}
	t.Session, t.Resume, t.Part = e.NewID(), d.Resume > 0, phases.TaskOf(&run, run.Phase(d.Phase))
	if t.Resume {
		t.Session = run.Attempts[d.Resume-1].Session
	}
	for _, a := range run.Attempts {
		if t.Resume && a.Session == t.Session {
			t.SpentUSD += a.Usage.USD
		}
	}
	t.Wrong = func(answer json.RawMessage) string {
		return e.wrong(ctx, run, d, answer).In(prompts.Words(run.Language))
	}
	is, images := e.See(ctx, e.Issue)
	t.Images = images
	data, err := e.data(ctx, run, d, is, t)
	if err != nil {
		return t, err
	}
	name := phases.Settings(p, d.Step()).Prompt
	switch {
	case d.Again && t.Resume:
		name = "retry"
	case name == "":
		name = string(d.Do)
	}
	t.Prompt, err = e.Prompts.Render(name, data)
	return t, err
}

// Prompt gives the exact words for a decision.
func (e *Engine) Prompt(ctx context.Context, run metadata.Run, d phases.Decision) (string, error) {
	t, err := e.task(ctx, run, d)
	return t.Prompt, err
}

// taskOf is what pipeline and record alone say of a task.
func (e *Engine) taskOf(run metadata.Run, d phases.Decision) Task {
	p := e.Plan.Phase(d.Phase)
	s := phases.SettingsIn(phases.On(e.Plan, run), p, d.Step())
	return Task{
		Issue: run.IssueNumber, Title: run.IssueTitle, Phase: p.Name, Step: d.Step(),
		Attempt: len(run.Attempts) + 1, Round: run.Phase(d.Phase).Round, Goal: p.Goal, Gates: p.Gates, Language: run.Language,
		Access: phases.AccessOf(e.Plan, d), Model: e.model(run, p, d), Models: s.Models, Turns: s.Turns, Network: s.Network, Tools: s.Tools, Effort: s.Effort,
		Timeout: time.Duration(s.Timeout), Idle: time.Duration(s.Idle),
	}
}

// artifactIn gives the absolute path of the phase's artifact in a tree.
func artifactIn(dir string, run metadata.Run, p *pipelines.Phase) string {
	return filepath.Join(dir, filepath.FromSlash(path.Join(phases.PhaseFolder(run, p), p.Writes)))
}

// model gives the model for a step: the step's own, or for an agent that stands in for another, that agent's model of
// the same tier. It does not review what the same model has written, if it has another.
func (e *Engine) model(run metadata.Run, p *pipelines.Phase, d phases.Decision) string {
	s := phases.SettingsIn(phases.On(e.Plan, run), p, d.Step())
	if d.Agent == s.Agent {
		return s.Model
	}
	agent := e.Plan.Agents[d.Agent]
	model, wrote := agent.Models[s.Tier], phases.SettingsIn(phases.On(e.Plan, run), p, metadata.Execute)
	if d.Do == phases.DoReview && wrote.Model == model && e.Plan.Agents[wrote.Agent].Use == agent.Use {
		return cmp.Or(agent.Other(s.Tier), model)
	}
	return model
}

// dirOf is where the agent of a decision works.
func (e *Engine) dirOf(d phases.Decision) string {
	if e.inCopy(d) {
		return e.Tree.CopyDir(copyFor(d))
	}
	return e.Tree.Dir()
}

// inCopy reports whether that is a copy of the work.
func (e *Engine) inCopy(d phases.Decision) bool {
	return d.Do == phases.DoReview || phases.AccessOf(e.Plan, d) == pipelines.AccessRun
}

// copyFor names the copy for an agent. It is the same for each call of a session: programs look for theirs by the folder.
func copyFor(d phases.Decision) string {
	if d.Do == phases.DoReview {
		return "review"
	}
	return "work"
}

// mostPlaces is how many changed places a prompt names.
const mostPlaces = 200

// asked is what any prompt has of its task.
func (e *Engine) asked(run metadata.Run, is prompts.Issue, t Task) prompts.Data {
	is.Path = filepath.Join(t.Dir, filepath.FromSlash(path.Join(phases.Folder(run.IssueNumber), phases.IssueFile)))
	return prompts.Data{
		Pipeline: e.Plan.Name, Phase: t.Phase, Step: string(t.Step), Goal: t.Goal, Access: string(t.Access),
		Artifact: t.Artifact, Dir: t.Dir, Schema: string(t.Schema), Issue: is, Protected: e.Plan.Protect,
	}
}

func (e *Engine) data(ctx context.Context, run metadata.Run, d phases.Decision, is prompts.Issue, t Task) (_ prompts.Data, err error) {
	p, rec := e.Plan.Phase(d.Phase), run.Phase(d.Phase)
	data := e.asked(run, is, t)
	data.Gates, data.Round, data.Base, data.Opened, data.Rollback = p.Gates, rec.Round, run.BaseCommit, e.Plan.Open, phases.RollbackFeedback(run, rec)
	data.Feedback = phases.FeedbackOn(phases.On(e.Plan, run), rec, d, filepath.Join(t.Dir, filepath.FromSlash(phases.ConflictFolder(run, p))))
	data.Answers, data.Resumed, data.Part = phases.AnswersFor(run, rec), t.Resume, partOf(run, rec)
	for _, earlier := range phases.VisiblePhases(phases.On(e.Plan, run), p.Name) {
		data.Documents = append(data.Documents, prompts.Document{Phase: earlier.Name, Path: artifactIn(t.Dir, run, earlier)})
	}
	if data.Others, err = e.others(ctx, run, d); err != nil {
		return data, err
	}
	notice, err := e.notice(ctx, run, d)
	if err != nil {
		return data, err
	}
	if notice != "" {
		data.Feedback = cmp.Or(data.Feedback, &prompts.Feedback{})
		data.Feedback.Notice = notice
	}
	if d.Do != phases.DoExecute {
		if data.Diff, _, err = e.since(ctx, run, p, rec); err != nil {
			return data, err
		}
	}
	if d.Do == phases.DoReview {
		changed, err := e.changedSinceReview(ctx, rec)
		if err != nil {
			return data, err
		}
		data.Changed = strings.Trim(fmt.Sprint(changed[:min(len(changed), mostPlaces)]), "[]")
	}
	data.Diff += phases.OpenedDiff(rec.Opened) // of protected paths, for a person
	data.Boundary = prompts.NewBoundary(e.Rand, data.Texts()...)
	return data, nil
}

// partOf gives the task to which a part of a phase is limited; nil for a phase.
func partOf(run metadata.Run, rec *metadata.Phase) *prompts.Part {
	t := phases.TaskOf(&run, rec)
	if t == nil {
		return nil
	}
	part := &prompts.Part{ID: t.ID, Title: t.Title, Goal: t.Goal, Files: t.Files}
	for _, other := range phases.PartsOf(&run, phases.WholeOf(rec)) {
		if o := phases.TaskOf(&run, other); o != nil && o.ID != t.ID {
			part.Others = append(part.Others, o.ID+": "+o.Title)
		}
	}
	return part
}

// others gives the open runs that the agent of a decision has to know of: all of them before the first phase that
// changes code, and from there on those that change the same files.
func (e *Engine) others(ctx context.Context, run metadata.Run, d phases.Decision) (lines []string, err error) {
	if e.Others == nil || d.Do != phases.DoExecute {
		return nil, nil
	}
	all, err := e.Others(ctx, run)
	for _, o := range all {
		if len(o.Shared) > 0 || phases.PlansFiles(e.Plan, d.Phase) {
			lines = append(lines, o.String())
		}
	}
	return lines, err
}

// Agent carries out one task. Run returns when all its processes have ended, also when ctx is cancelled. An error is an
// *AgentError wherever its kind is known; the Result is filled as far as it got even then.
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
	// Part is the task that the call is limited to, in a phase that is done in parts.
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
	// SpentUSD is what earlier calls of the session have cost.
	SpentUSD float64 `json:"-"`

	Model string `json:"model,omitempty"`
	// Models may be asked besides Model and the agent's, and no others; nil: also any known to be no dearer.
	Models    []string             `json:"models,omitzero"`
	Turns     int                  `json:"turns,omitempty"`      // limit; 0 means none
	BudgetUSD float64              `json:"budget_usd,omitempty"` // limit; 0 means none
	Tools     pipelines.ToolChoice `json:"-"`                    // leaves out tools that the agent has; agents that cannot choose ignore it
	Effort    string               `json:"-"`                    // of thinking; empty: as the agent has it
	Timeout   time.Duration        `json:"timeout"`              // of the whole call, in nanoseconds
	Idle      time.Duration        `json:"idle"`                 // without any output, in nanoseconds

	// Wrong, if not nil, says what is wrong with an answer, or "".
	Wrong func(answer json.RawMessage) string `json:"-"`
	// Fresh, if not nil, says that the program judges the work. It gives the folder with a copy of it for what the program
	// runs, and makes that anew each time.
	Fresh func(context.Context) (dir string, err error) `json:"-"`

	Notify func(Activity) `json:"-"` // if not nil, it is told what the agent is doing, from one goroutine
}

// Activity is a sign of life from a running agent.
type Activity struct {
	Session string         // set once, as soon as it is known
	Text    string         // one line on what it does now: a tool and its target, or the start of its words
	Usage   metadata.Usage // so far
}

// Result is what came out of a call of an agent.
type Result struct {
	Session    string          `json:"-"`                    // empty if the agent has no sessions
	Model      string          `json:"model,omitempty"`      // as the agent reports it
	Text       string          `json:"text,omitempty"`       // its last words
	Structured json.RawMessage `json:"structured,omitempty"` // the structured answer, not yet checked; nil if there was none, null if its words are none either
	Usage      metadata.Usage  `json:"usage"`
	ToolCalls  int             `json:"tool_calls,omitempty"`  // tools it asked for, but for those that are its answer or tell of its work; -1 if the agent does not tell
	Unsaid     bool            `json:"unsaid,omitempty"`      // the answer is none that a model gave in this call
	Unheard    bool            `json:"unheard,omitempty"`     // nobody but the program itself knows what the model said
	RanNothing bool            `json:"ran_nothing,omitempty"` // it could have run commands, and is known to have run none
	Denials    []string        `json:"denials,omitempty"`     // tools it asked for and was refused, each time
	Refused    []Refused       `json:"-"`                     // hosts that its network does not have
	Limit      string          `json:"limit,omitempty"`       // set when a limit ended it: "turns" or "budget"; what it wrote so far counts
	Warnings   []string        `json:"warnings,omitempty"`    // such as a stream error after a good result
	Stderr     string          `json:"-"`                     // the tail, for people
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
