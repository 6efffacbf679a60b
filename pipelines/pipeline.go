// Package pipelines defines what a run does. A pipeline is a list of phases with goals, gates
// and checks. It is plain data: resolved, with all defaults filled in, and able to survive a
// trip through JSON, which is how a run freezes it. The room source reads pipelines from the
// files that people write.
package pipelines

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// Pipeline is a resolved pipeline.
type Pipeline struct {
	Name            string              `json:"name"`
	Description     string              `json:"description,omitempty"`
	Select          Select              `json:"select"`
	Language        string              `json:"language"` // "en" or "ja"
	Agents          map[string]Agent    `json:"agents"`
	Budget          Budget              `json:"budget"`
	Limits          Limits              `json:"limits"`
	Prices          map[string]Price    `json:"prices,omitempty"` // by model, over the built-in table
	Phases          []Phase             `json:"phases"`           // in the order they run
	Spare           []Phase             `json:"spare,omitempty"`  // phases a rule may insert
	Rules           []Rule              `json:"rules,omitempty"`
	Setup           []Setup             `json:"setup,omitempty"` // makes a work tree ready
	Hooks           []Hook              `json:"hooks,omitempty"`
	Baseline        bool                `json:"baseline,omitempty"` // checks that fail before the work do not hold it up
	Presets         map[string][]string `json:"presets,omitempty"`
	Protect         []string            `json:"protect,omitempty"` // path patterns, besides the built-in ones
	Open            []string            `json:"open,omitempty"`    // of built-in ones, that a person approves changes to
	Secrets         Secrets             `json:"secrets,omitzero"`
	Jobs            int                 `json:"jobs,omitempty"`             // most phases or parts of one that are done at the same time; 0: one
	Parallel        bool                `json:"parallel,omitempty"`         // phases that do not need each other are done at the same time
	KeepTranscripts text.Days           `json:"keep_transcripts,omitempty"` // 0: as long as is usual
	Sandbox         Sandbox             `json:"sandbox,omitzero"`
	CI              CI                  `json:"ci,omitzero"`
	Notes           bool                `json:"notes,omitempty"`    // agents are told what NotesFile of the default branch says
	Update          string              `json:"update,omitempty"`   // when the base is merged: "before-code", "never", or else before the run ends
	Finish          string              `json:"finish,omitempty"`   // what becomes of the run's folder: FinishKeep, or else it is removed
	Labels          string              `json:"labels,omitempty"`   // what labels a pull request gets: LabelsCopy, or else none
	Statuses        bool                `json:"statuses,omitempty"` // each commit that is pushed gets a status
	Sign            bool                `json:"sign,omitempty"`     // each commit is signed
	SignOff         bool                `json:"signoff,omitempty"`  // each commit says who signs it off
	// Documents are files that people have written as the artifacts of phases, by their names.
	Documents map[string]string `json:"documents,omitempty"`
	Source    string            `json:"source"` // "builtin:full", or the path of the file
	// Origins says which file says each setting that a repository may have for all pipelines; else it is as usual.
	Origins map[string]string `json:"origins,omitempty"`
	Preset  string            `json:"preset,omitempty"` // the preset that was applied, if any
	Part    Part              `json:"part,omitzero"`    // what Cut has left
	Given   Given             `json:"given,omitzero"`   // in place of what the file says
}

// NotesFile is what people who know a repository tell all agents that work in it.
const NotesFile = ".github/reprise/notes.md"

// FinishKeep leaves the folder of a run on its branch when it is completed.
const FinishKeep = "keep"

// LabelsCopy gives a pull request the labels of the issue.
const LabelsCopy = "copy"

// Auto is named in place of a pipeline where the issue is to decide, see package choice.
const Auto = "auto"

// GivenForRun is the origin of what was said for one run alone: on the command line, or in the inputs of a workflow.
const GivenForRun = "given"

// GoOn lists the decisions of a phase with which a run goes on by itself. With any other one a person decides.
func GoOn() []string { return []string{"pass", "pass_with_issues"} }

// Given is who does the work of every step because a person said so when the run began or
// was refreshed, and what a judgment of the issue has changed. The zero value is nothing.
type Given struct {
	Agent  string `json:"agent,omitempty"`
	Model  string `json:"model,omitempty"`
	Weight string `json:"weight,omitempty"` // see the room choice
}

// Select says which issues take a pipeline when none is named.
type Select struct {
	Labels []string `json:"labels,omitempty"` // any of them
	Title  string   `json:"title,omitempty"`  // a regular expression
	Type   string   `json:"type,omitempty"`   // GitHub's issue type
}

// Agent is an agent as a pipeline names it.
type Agent struct {
	Use      string            `json:"use"`                // the program: claude, acp, command, rehearsal and so on
	Models   map[string]string `json:"models,omitempty"`   // by tier: heavy, medium, light
	Access   Access            `json:"access,omitempty"`   // the most it may do, whatever the phase says
	Fallback string            `json:"fallback,omitempty"` // name of the agent that takes over
	Command  []string          `json:"command,omitempty"`  // program and arguments, for use: "command" and "acp"
	CallUSD  *float64          `json:"call_usd,omitempty"` // what a call of a command costs where it prints no usage; nil: nobody knows
	Env      []string          `json:"env,omitempty"`      // names of further variables it may see
	ToolSet
}

// Other gives the model of another tier, for who reviews what the one of this tier
// has written; "" if the agent has none.
func (a Agent) Other(tier string) string {
	for _, t := range map[string][]string{"heavy": {"medium", "light"}, "medium": {"heavy", "light"}, "light": {"medium", "heavy"}}[tier] {
		if m := a.Models[t]; m != "" && m != a.Models[tier] {
			return m
		}
	}
	return ""
}

// OfOneMind names the phases in which the same model of the same program writes and reviews.
func (p *Pipeline) OfOneMind() (names []string) {
	for _, ph := range p.Phases {
		writer, reviewer := p.Agents[ph.Execute.Agent], p.Agents[ph.Review.Agent]
		known := writer.Use != "" && !TakesCommand(writer.Use) && writer.Use != "rehearsal"
		if !ph.NoReview && known && writer.Use == reviewer.Use && ph.Execute.Model == ph.Review.Model {
			names = append(names, ph.Name)
		}
	}
	return names
}

// Secrets is what of the search for secrets a pipeline changes.
type Secrets struct {
	Allow []string `json:"allow,omitempty"` // path patterns of what may look like a secret; values of the user are found there, too
}

// Duration is a time that reads and writes as text, such as "20m".
type Duration = text.Time

// Price is what a model costs, in US dollars for a million tokens.
type Price struct {
	Input  float64 `json:"input"`
	Cached float64 `json:"cached"`
	Output float64 `json:"output"`
}

// Phase is a resolved phase.
type Phase struct {
	Name       string   `json:"name"`
	Title      string   `json:"title,omitempty"` // for people; empty: made of the name
	Goal       string   `json:"goal"`
	Needs      []string `json:"needs,omitempty"`
	Folder     string   `json:"folder"` // of its artifacts, such as "00_planning"
	Writes     string   `json:"writes"` // file name of its artifact
	Access     Access   `json:"access"`
	MustChange bool     `json:"must_change,omitempty"` // the tree has to differ after execute
	Gates      []string `json:"gates,omitempty"`
	Report     string   `json:"report,omitempty"` // CUE text: what the agent returns
	// ReportSchema is Report as JSON Schema, for agents that take one.
	ReportSchema json.RawMessage `json:"report_schema,omitempty"`
	Checks       []Check         `json:"checks,omitempty"`
	Proves       Proof           `json:"proves,omitempty"`    // what the tests of the change have to show
	Tests        []string        `json:"tests,omitempty"`     // patterns of their paths; nil: as IsTest has them
	Approve      string          `json:"approve,omitempty"`   // role of the person who must approve
	Approvers    int             `json:"approvers,omitempty"` // how many people have to; 0: one
	NoReview     bool            `json:"no_review,omitempty"`
	Split        phaseSplit      `json:"split,omitzero"`          // how its parts are done, once a rule splits it
	ReviseAlways bool            `json:"revise_always,omitempty"` // act on suggestions once, too
	Revisions    int             `json:"revisions"`
	Retry        Retry           `json:"retry"`
	SkipIf       *SkipIf         `json:"skip_if,omitempty"` // nil: the phase is never left out for it
	Execute      Step            `json:"execute"`
	Review       Step            `json:"review"`
	Revise       Step            `json:"revise"`
}

// Step is how one step of a phase is carried out.
type Step struct {
	Agent   string   `json:"agent"` // a key of Pipeline.Agents
	Tier    string   `json:"tier,omitempty"`
	Model   string   `json:"model,omitempty"` // resolved from agent and tier unless given; empty: the agent's default
	Timeout Duration `json:"timeout"`
	Idle    Duration `json:"idle"`
	Turns   int      `json:"turns,omitempty"`
	Prompt  string   `json:"prompt,omitempty"` // name of an own template
	Network Network  `json:"network,omitzero"`
	Access  Access   `json:"access,omitempty"` // of a review; empty: read
	// Models may be asked besides the agent's, and no others; nil: also any known to be no dearer.
	Models []string   `json:"models,omitzero"`
	Tools  ToolChoice `json:"tools,omitzero"`   // among those that the agent has
	Effort string     `json:"effort,omitempty"` // in place of the agent's; empty: that one
}

// Check is a command that reprise runs itself to judge a phase.
type Check struct {
	Name    string            `json:"name"`
	Run     string            `json:"run"` // for /bin/sh
	Timeout Duration          `json:"timeout"`
	Env     map[string]string `json:"env,omitempty"` // besides what every check sees
	// JUnit are patterns of files in which the check names tests that failed.
	JUnit   []string `json:"junit,omitempty"`
	Retries int      `json:"retries,omitempty"` // how often it is run once more if it fails
	Network Network  `json:"network,omitzero"`  // of its phase, or a setup's own
}

// Setup is a command that makes a work tree ready.
type Setup struct {
	Check
	WhenChanged []string `json:"when_changed,omitempty"` // path patterns of files that it depends on, besides lock files
}

// Rule changes what follows a phase, depending on what came out of it.
type Rule struct {
	After string `json:"after"`
	When  string `json:"when"` // CUE text; fires when it subsumes the facts
	Then  Then   `json:"then"`
}

// splits reports whether the rule has a phase done in parts.
func (r Rule) splits() bool { return r.Then.Split != "" }

// Then is what a rule does. Exactly one field is set.
type Then struct {
	Skip     string        `json:"skip,omitempty"` // "review"
	Insert   string        `json:"insert,omitempty"`
	Drop     []string      `json:"drop,omitempty"`
	Approve  string        `json:"approve,omitempty"`
	Rollback *RuleRollback `json:"rollback,omitempty"`
	Use      *RuleUse      `json:"use,omitempty"`
	Split    PartPhase     `json:"split,omitempty"` // the phase whose work is split into the tasks that After has found
}

// RuleRollback is where a rule takes the run back to.
type RuleRollback struct {
	To     string `json:"to"`
	Step   string `json:"step"`
	Reason string `json:"reason"`
}

// RuleUse changes who does the steps that follow.
type RuleUse struct {
	Agent string `json:"agent,omitempty"`
	Tier  string `json:"tier,omitempty"`
}

// Phase returns the phase of that name, also one that only a rule inserts, or nil.
func (p *Pipeline) Phase(name string) *Phase {
	name, part, isPart := strings.Cut(name, ".")
	for _, list := range [][]Phase{p.Phases, p.Spare} {
		for i := range list {
			switch {
			case list[i].Name != name:
			case isPart:
				return list[i].part(part)
			default:
				return &list[i]
			}
		}
	}
	return nil
}

// FullName is the name of a pipeline, with its preset behind a slash if it has one, as --pipeline takes it.
func (p *Pipeline) FullName() string {
	if p.Preset == "" {
		return p.Name
	}
	return p.Name + "/" + p.Preset
}

// IsSpare says whether a phase only runs when a rule inserts it.
func (p *Pipeline) IsSpare(name string) bool {
	return slices.ContainsFunc(p.Spare, func(s Phase) bool { return s.Name == name })
}

// Reports says whether the phase's report has a field of that name.
func (p *Phase) Reports(field string) bool {
	var s struct {
		Properties map[string]json.RawMessage
	}
	if p.ReportSchema == nil || json.Unmarshal(p.ReportSchema, &s) != nil {
		return false
	}
	_, there := s.Properties[field]
	return there
}

// part gives the phase as one of its parts is done: in a folder of its own. Approved is the whole.
func (p *Phase) part(id string) *Phase {
	part := *p
	part.Name, part.Folder, part.Approve = p.Name+"."+id, p.Folder+"."+id, ""
	part.NoReview = p.NoReview || p.Split.Review == "whole"
	return &part
}

// Retry says how often and when an infrastructure error is tried again.
type Retry struct {
	Max     int       `json:"max"`
	Initial text.Time `json:"initial"`
	Factor  float64   `json:"factor"`
	Cap     text.Time `json:"cap"`
}

// SkipIf is what is asked before a phase begins; if it holds, the phase is left out.
type SkipIf struct {
	When string   `json:"when"`           // CUE text; holds when it subsumes the facts
	Tree []string `json:"tree,omitempty"` // path patterns of which it asks whether the branch has such files
}

// Proof is what the tests of a change have to show.
type Proof string

// The proofs; "" asks for none.
const (
	ProvesFix  Proof = "true" // one fails without the change
	ProvesNew  Proof = "new"  // or cannot even run there
	ProvesSame Proof = "same" // the tests of the base pass with the change
)

// ProofCheck is what the check is called that a proof counts as.
const ProofCheck = "proof"

// MarshalJSON writes a proof as a pipeline has it.
func (p Proof) MarshalJSON() ([]byte, error) {
	if p == ProvesFix {
		return []byte("true"), nil
	}
	return json.Marshal(string(p))
}

// UnmarshalJSON reads true, false for none, or a word.
func (p *Proof) UnmarshalJSON(data []byte) error {
	switch string(data) {
	case "true":
		*p = ProvesFix
		return nil
	case "false":
		*p = ""
		return nil
	}
	return json.Unmarshal(data, (*string)(p))
}

// CI is what CI has to say of the newest commit before a pull request is ready.
type CI struct {
	Wait     text.Time `json:"wait,omitempty"`    // how long a job waits for it; usually 20m
	Fixes    *int      `json:"fixes,omitempty"`   // how often the work is revised for what fails; usually 2
	Required Names     `json:"required,omitzero"` // nil: all that start; empty: nothing
}

// Most are the two limits: how long a job waits for CI, and how often the work is revised for what fails.
func (c CI) Most() (wait time.Duration, fixes int) {
	wait, fixes = time.Duration(cmp.Or(c.Wait, Duration(20*time.Minute))), 2
	if c.Fixes != nil {
		fixes = *c.Fixes
	}
	return wait, fixes
}

// WorkflowFile reports whether a name is that of the file of a workflow.
func WorkflowFile(name string) bool { return workflowFile().MatchString(name) }

var workflowFile = text.Pattern(`^[A-Za-z0-9_][A-Za-z0-9_.-]*\.ya?ml$`)

// Files are the workflows that are required by the names of their files.
func (c CI) Files() []string {
	return slices.DeleteFunc(slices.Clone([]string(c.Required)), func(name string) bool { return !WorkflowFile(name) })
}

// Names is a list of names, for which a file may also say "all": that is nil.
type Names []string

// UnmarshalJSON reads a list, or "all".
func (n *Names) UnmarshalJSON(data []byte) error {
	if string(data) == `"all"` {
		*n = nil
		return nil
	}
	return json.Unmarshal(data, (*[]string)(n))
}

// Hook is a command or a webhook. Its zero values are the defaults.
type Hook struct {
	On      []string `json:"on"`                // start, phase, wait, complete, fail, retry, rollback
	Run     string   `json:"run,omitempty"`     // for /bin/sh
	URL     string   `json:"url,omitempty"`     // https
	Secret  string   `json:"secret,omitempty"`  // the variable that has the key of signatures
	Private bool     `json:"private,omitempty"` // the host may be one of a private network
	Timeout string   `json:"timeout,omitempty"` // of one try, such as "10s"
}

// Wrong says what is wrong with a hook whose fields are right, or "".
func (h Hook) Wrong() string {
	switch {
	case (h.Run == "") == (h.URL == ""):
		return "expected one of run, a command, and url, the address of a webhook"
	case len(h.On) == 0:
		return "on is empty, so that it is told of nothing"
	case h.Run != "" && (h.Secret != "" || h.Private):
		return "secret and private are of a webhook; a command has none"
	}
	return ""
}
