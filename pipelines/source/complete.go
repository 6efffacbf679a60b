package source

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// DraftPipeline is a pipeline as it was written. A field that is named here is written in
// another form than a Pipeline has it; the others are as they are written.
type DraftPipeline struct {
	pipelines.Pipeline
	Defaults struct {
		Agent, Reviewer, Tier string
		Timeout, Idle         pipelines.Duration
		Revisions             int
		Retry                 pipelines.Retry
	}
	Prices map[string]struct {
		pipelines.Price
		Cached *float64 `json:"cached"`
	} `json:"prices"`
	Phases        []DraftPhase                 `json:"-"`
	Spare         []DraftPhase                 `json:"-"`
	WrittenPhases []json.RawMessage            `json:"phases"`
	WrittenSpare  []json.RawMessage            `json:"spare"`
	Setup         []DraftSetup                 `json:"setup"`
	Protect       pipelines.ProtectionSettings `json:"protect"`
	Transcripts   struct{ Keep text.Days }
	Base          struct{ Update string }
	Given         map[string]string `json:"given"`
	Network       *pipelines.Network
	AllowModels   []string `json:"allow_models"` // nil: nothing is said of them
}

// DraftSetup is a command of the setup as it was written.
type DraftSetup struct {
	pipelines.Setup
	Network *pipelines.Network `json:"network"` // in place of the one in Setup, which is never nil
}

// DraftPhase is a phase as it was written.
type DraftPhase struct {
	pipelines.Phase
	Approve pipelines.ApprovalSettings `json:"approve"`
	Review  bool                       `json:"review"`
	Revise  string                     `json:"revise"`
	DraftStep
	Steps struct{ Execute, Review, Revise DraftStep }
}

// DraftStep is what a phase, or one of its steps, says of who does it and how.
type DraftStep struct {
	pipelines.Step
	Network     *pipelines.Network    `json:"network"`
	Tools       *pipelines.ToolChoice `json:"tools"`
	AllowModels []string              `json:"allow_models"`
}

// draftOf reads a pipeline from its nodes. Values that break the schema are not among them.
// What is left out has its usual value, where that depends on nothing else.
func draftOf(n *Node) (DraftPipeline, error) {
	var d DraftPipeline
	d.Language, d.Baseline = "en", true
	d.Budget = pipelines.Budget{USD: 10, Time: pipelines.Duration(2 * time.Hour), Attempts: 60}
	d.Defaults.Revisions = 3
	d.Defaults.Retry = pipelines.Retry{Max: 3, Initial: pipelines.Duration(time.Second), Factor: 2, Cap: pipelines.Duration(time.Minute)}
	err := n.decode(&d)
	for _, l := range []struct {
		to      *[]DraftPhase
		written []json.RawMessage
		nodes   []*Node
	}{{&d.Phases, d.WrittenPhases, n.List("phases")}, {&d.Spare, d.WrittenSpare, n.List("spare")}} {
		for i, written := range l.written {
			p := DraftPhase{Review: true}
			p.Revisions, p.Retry = d.Defaults.Revisions, d.Defaults.Retry
			err = cmp.Or(err, json.Unmarshal(written, &p))
			if report := l.nodes[i].Get("report"); report != nil {
				p.ReportSchema = report.Schema
			}
			if p.SkipIf != nil {
				p.SkipIf.Tree = l.nodes[i].Get("skip_if").Get("when").Get("tree").FieldNames()
			}
			*l.to = append(*l.to, p)
		}
	}
	if err != nil {
		return d, fmt.Errorf("%s: %w", n.File, err)
	}
	d.Name = cmp.Or(d.Name, nameOf(n.File))
	return d, nil
}

// nameOf is the name of a pipeline by its file: "builtin:fix" and
// ".github/reprise/pipelines/fix.yaml" are both called fix.
func nameOf(file string) string {
	base := strings.TrimPrefix(path.Base(file), builtin.Prefix)
	return strings.TrimSuffix(base, path.Ext(base))
}

// AddDefaultAgents adds the agents of a pipeline that names none. The reviewer is another vendor's.
func (d *DraftPipeline) AddDefaultAgents() {
	agents := map[string]pipelines.Agent{
		"writer": {
			Use:      "claude",
			Models:   map[string]string{"heavy": "opus", "medium": "sonnet", "light": "haiku"},
			Fallback: "second",
		},
		"second":   {Use: "codex"},
		"reviewer": {Use: "codex", Access: pipelines.AccessRun, Fallback: "writer"},
	}
	maps.Copy(agents, d.Agents)
	d.Agents = agents
}

// Writer is the agent that executes and revises unless a phase says otherwise;
// "" if the author has to choose.
func (d *DraftPipeline) Writer() string {
	if d.Defaults.Agent != "" {
		return d.Defaults.Agent
	}
	if _, ok := d.Agents["writer"]; ok {
		return "writer"
	}
	if names := slices.Sorted(maps.Keys(d.Agents)); len(names) == 1 {
		return names[0]
	}
	return ""
}

// Reviewer is the agent that reviews what writer wrote: another one, if there is.
func (d *DraftPipeline) Reviewer(writer string) string {
	if d.Defaults.Reviewer != "" {
		return d.Defaults.Reviewer
	}
	if _, ok := d.Agents["reviewer"]; ok && writer != "reviewer" {
		return "reviewer"
	}
	names := slices.Sorted(maps.Keys(d.Agents))
	otherVendor := func(n string) bool { return d.Agents[n].Use != d.Agents[writer].Use }
	if i := slices.IndexFunc(names, otherVendor); i >= 0 {
		return names[i]
	}
	if i := slices.IndexFunc(names, func(n string) bool { return n != writer }); i >= 0 {
		return names[i]
	}
	return writer
}

// Complete fills in every default. The source is what people know the file by.
func (d *DraftPipeline) Complete(source string) *pipelines.Pipeline {
	p := d.Pipeline
	p.Limits.Files, p.Limits.Bytes = p.Limits.Most() // a frozen pipeline says what counts
	p.Protect, p.Open = d.Protect.Paths, d.Protect.Open
	p.KeepTranscripts, p.Update, p.Documents, p.Source = d.Transcripts.Keep, d.Base.Update, d.Given, source
	p.Jobs = pipelines.JobsFor(p.Jobs, p.Parallel || p.Splits())
	for model, price := range d.Prices {
		if p.Prices == nil {
			p.Prices = map[string]pipelines.Price{}
		}
		p.Prices[model] = pipelines.Price{Input: price.Input, Cached: valueOr(price.Cached, price.Input), Output: price.Output}
	}
	for _, s := range d.Setup {
		s.Timeout, s.Setup.Network = cmp.Or(s.Timeout, pipelines.Duration(10*time.Minute)), valueOr(cmp.Or(s.Network, d.Network), pipelines.Network{})
		p.Setup = append(p.Setup, s.Setup)
	}
	for i := range p.Rules {
		if back := p.Rules[i].Then.Rollback; back != nil {
			back.Step = cmp.Or(back.Step, "revise")
		}
		p.Rules[i].Then.Split = d.Splits(p.Rules[i])
	}
	for i, ph := range d.Phases {
		p.Phases = append(p.Phases, d.phase(i, ph))
	}
	for i, ph := range d.Spare {
		p.Spare = append(p.Spare, d.phase(len(d.Phases)+i, ph))
	}
	p.Baseline = d.Baseline && slices.ContainsFunc(slices.Concat(p.Phases, p.Spare), func(p pipelines.Phase) bool { return len(p.Checks) > 0 })
	return &p
}

// phase fills in the defaults of the phase at index i, which numbers its folder.
func (d *DraftPipeline) phase(i int, ph DraftPhase) pipelines.Phase {
	access := pipelines.AccessArtifacts
	if ph.MustChange {
		access = pipelines.AccessTree
	}
	out := ph.Phase
	out.Goal, out.Folder = strings.TrimSpace(ph.Goal), fmt.Sprintf("%02d_%s", i, ph.Name)
	out.Writes, out.Access = cmp.Or(ph.Writes, pipelines.ArtifactPath(ph.Name)), cmp.Or(ph.Access, access)
	out.Approve, out.Approvers = ph.Approve.Role, ph.Approve.Count
	out.NoReview, out.ReviseAlways, out.Checks = !ph.Review, ph.Revise == "always", nil
	given := cmp.Or(ph.Network, d.Network)
	alone := out.Access != pipelines.AccessTree
	for _, c := range ph.Checks {
		c.Timeout, c.Network = cmp.Or(c.Timeout, pipelines.Duration(10*time.Minute)), valueOr(given, pipelines.Network{Closed: alone, Listen: alone})
		out.Checks = append(out.Checks, c)
	}
	out.Execute = d.step(ph.Steps.Execute, ph.DraftStep, d.Writer())
	inherited := ph.DraftStep
	inherited.Prompt = "" // a template for execute says nothing to the others
	out.Revise = d.step(ph.Steps.Revise, inherited, out.Execute.Agent)
	// Names of models and tools are those of one agent, and the reviewer is another one.
	inherited.Agent, inherited.Model, inherited.Tools = "", "", nil
	out.Review = d.step(ph.Steps.Review, inherited, d.Reviewer(out.Execute.Agent))
	if r := &out.Review; r.Agent == out.Execute.Agent && r.Model == out.Execute.Model && cmp.Or(ph.Steps.Review.Model, ph.Steps.Review.Tier) == "" {
		r.Model = cmp.Or(d.Agents[r.Agent].Other(r.Tier), r.Model) // it sees other mistakes
	}
	for step, own := range map[*pipelines.Step]DraftStep{&out.Execute: ph.Steps.Execute, &out.Revise: ph.Steps.Revise} {
		writes := out.Access.AtMost(d.Agents[step.Agent].Access) == pipelines.AccessTree
		step.Network = valueOr(cmp.Or(own.Network, given), pipelines.Network{Closed: !writes})
		step.Models = firstList(own.AllowModels, ph.AllowModels, d.AllowModels)
	}
	look := pipelines.AccessRead
	if out.Access == pipelines.AccessTree {
		look = pipelines.AccessRun
	}
	out.Review.Access = cmp.Or(ph.Steps.Review.Access, look)
	runs := out.Review.Access.AtMost(d.Agents[out.Review.Agent].Access) == pipelines.AccessRun
	out.Review.Network = valueOr(ph.Steps.Review.Network, pipelines.Network{Closed: true, Listen: runs}) // tests may have servers
	out.Review.Models = firstList(ph.Steps.Review.AllowModels, d.AllowModels)
	return out
}

// firstList gives the first list that there is; an empty one counts.
func firstList(lists ...[]string) []string {
	for _, l := range lists {
		if l != nil {
			return l
		}
	}
	return nil
}

// step works out one step from what it says, what its phase says, the agent that
// does it if neither names one, and the defaults.
func (d *DraftPipeline) step(s, phase DraftStep, agent string) pipelines.Step {
	out := pipelines.Step{
		Agent:   cmp.Or(s.Agent, phase.Agent, agent),
		Tier:    cmp.Or(s.Tier, phase.Tier, d.Defaults.Tier, "medium"),
		Timeout: cmp.Or(s.Timeout, phase.Timeout, d.Defaults.Timeout, pipelines.Duration(20*time.Minute)),
		Idle:    cmp.Or(s.Idle, phase.Idle, d.Defaults.Idle, pipelines.Duration(5*time.Minute)),
		Turns:   cmp.Or(s.Turns, phase.Turns),
		Prompt:  cmp.Or(s.Prompt, phase.Prompt),
		Tools:   valueOr(cmp.Or(s.Tools, phase.Tools), pipelines.ToolChoice{}),
		Effort:  cmp.Or(s.Effort, phase.Effort),
	}
	model := phase.Model
	if s.Agent != "" && s.Agent != phase.Agent {
		model = "" // it belongs to the other agent
	}
	out.Model = cmp.Or(s.Model, model, d.Agents[out.Agent].Models[out.Tier])
	return out
}

// valueOr is what p points to, or otherwise where there is nothing.
func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// NamesOf are those of the phases, in their order.
func NamesOf(phases []DraftPhase) []string {
	var names []string
	for _, p := range phases {
		names = append(names, p.Name)
	}
	return names
}

// Splits gives the phase that a rule splits, or "".
func (d *DraftPipeline) Splits(r pipelines.Rule) pipelines.PartPhase {
	if r.Then.Split != pipelines.NextPhase {
		return r.Then.Split
	}
	at := slices.Index(NamesOf(d.Phases), r.After)
	for _, p := range d.Phases[at+1:] {
		if p.Access == pipelines.AccessTree || p.MustChange {
			return pipelines.PartPhase(p.Name)
		}
	}
	return ""
}
