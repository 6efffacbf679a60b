package pipelines

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/hooks/hook"
	"github.com/reprise-ci/reprise/internal/size"
	"github.com/reprise-ci/reprise/pipelines/approval"
	"github.com/reprise-ci/reprise/pipelines/parts"
	"github.com/reprise-ci/reprise/pipelines/paths"
	"github.com/reprise-ci/reprise/pipelines/protection"
	"github.com/reprise-ci/reprise/pipelines/retry"
	"github.com/reprise-ci/reprise/pipelines/skipping"
	"github.com/reprise-ci/reprise/pipelines/tools"
)

// author is a pipeline as its author wrote it: what is left out is nil or
// zero. The fields are those of schema.cue.
type author struct {
	Name        string
	Description string
	Select      Select
	Language    string
	Agents      map[string]Agent
	Defaults    struct {
		Agent, Reviewer, Tier string
		Timeout, Idle         Duration
		Revisions             *int
		Retry                 retry.Asked
	}
	Budget struct {
		USD        *float64
		Tokens     *int64
		Time       *Duration
		Attempts   *int
		IssueUSD   *float64 `json:"issue_usd"`
		DayUSD     float64  `json:"day_usd"`
		RepoDayUSD float64  `json:"repo_day_usd"`
	}
	Limits Limits
	Prices map[string]struct {
		Input, Output float64
		Cached        *float64
	}
	Phases, Spare       []authorPhase
	Rules               []Rule
	Setup               []authorSetup
	Hooks               []hook.Hook
	Checks              string
	Jobs                int
	Presets             map[string][]string
	Protect             protection.Asked
	Secrets             Secrets
	Transcripts         struct{ Keep size.Days }
	Sandbox             Sandbox
	CI                  CI
	Base                struct{ Update string }
	Finish              string
	Labels              string
	Statuses, Notes     bool
	Parallel, Speculate bool
	Given               map[string]string
	Network             *Network
	Models              []string // nil: nothing is said of them
}

type authorSetup struct {
	Setup
	Network *Network `json:"network"` // in place of the one in Setup, which is never nil
}

type authorPhase struct {
	Name, Title, Goal string
	Needs             []string
	Writes            string
	Access            Access
	MustChange        bool `json:"must_change"`
	Gates             []string
	Report            string
	Checks            []Check
	Approve           approval.Asked
	Review            *bool
	Split             parts.Split
	Revise            string
	Revisions         *int
	Retry             retry.Asked
	SkipIf            *skipping.If `json:"skip_if"`
	authorStep
	Steps struct{ Execute, Review, Revise authorStep }

	schema json.RawMessage // of Report, as JSON Schema
}

type authorStep struct {
	Agent, Tier, Model string
	Timeout, Idle      Duration
	Turns              int
	Prompt             string
	Network            *Network
	Access             Access // of a review
	Models             []string
	Tools              *tools.Choice
	Effort             string
}

// newAuthor reads a pipeline from its nodes. Values that break the schema are
// not among them.
func newAuthor(n *node) (author, error) {
	var a author
	var data bytes.Buffer
	n.writeJSON(&data)
	if err := json.Unmarshal(data.Bytes(), &a); err != nil {
		return a, fmt.Errorf("%s: %w", n.file, err)
	}
	for i := range a.Phases {
		a.Phases[i].schema = n.get("phases").item(i).get("report").reportSchema()
	}
	for i := range a.Spare {
		a.Spare[i].schema = n.get("spare").item(i).get("report").reportSchema()
	}
	if a.Name == "" {
		a.Name = nameOf(n.file)
	}
	return a, nil
}

// nameOf is the name of a pipeline by its file: "builtin:fix" and
// ".github/reprise/pipelines/fix.yaml" are both called fix.
func nameOf(file string) string {
	base := strings.TrimPrefix(path.Base(file), builtinPrefix)
	return strings.TrimSuffix(base, path.Ext(base))
}

// addDefaultAgents adds the agents of a pipeline that names none to those of
// the ones that build on it. The reviewer is another vendor's, who sees other
// mistakes.
func (a *author) addDefaultAgents() {
	agents := map[string]Agent{
		"writer": {
			Use:      "claude",
			Models:   map[string]string{"heavy": "opus", "medium": "sonnet", "light": "haiku"},
			Fallback: "second",
		},
		"second":   {Use: "codex"},
		"reviewer": {Use: "codex", Access: AccessRun, Fallback: "writer"},
	}
	maps.Copy(agents, a.Agents)
	a.Agents = agents
}

// writer is the agent that executes and revises unless a phase says otherwise;
// "" if the author has to choose.
func (a *author) writer() string {
	if a.Defaults.Agent != "" {
		return a.Defaults.Agent
	}
	if _, ok := a.Agents["writer"]; ok {
		return "writer"
	}
	if names := sortedKeys(a.Agents); len(names) == 1 {
		return names[0]
	}
	return ""
}

// reviewer is the agent that reviews what writer wrote: another one, if there is.
func (a *author) reviewer(writer string) string {
	if a.Defaults.Reviewer != "" {
		return a.Defaults.Reviewer
	}
	if _, ok := a.Agents["reviewer"]; ok && writer != "reviewer" {
		return "reviewer"
	}
	names := sortedKeys(a.Agents)
	otherVendor := func(n string) bool { return a.Agents[n].Use != a.Agents[writer].Use }
	if i := slices.IndexFunc(names, otherVendor); i >= 0 {
		return names[i]
	}
	if i := slices.IndexFunc(names, func(n string) bool { return n != writer }); i >= 0 {
		return names[i]
	}
	return writer
}

// complete fills in every default.
func (a *author) complete(source string) *Pipeline {
	p := &Pipeline{
		Name:        a.Name,
		Description: a.Description,
		Select:      a.Select,
		Language:    cmp.Or(a.Language, "en"),
		Agents:      a.Agents,
		Budget: Budget{
			USD:      value(a.Budget.USD, 10),
			Tokens:   value(a.Budget.Tokens, 0),
			Time:     value(a.Budget.Time, Duration(2*time.Hour)),
			Attempts: value(a.Budget.Attempts, 60),
			IssueUSD: value(a.Budget.IssueUSD, 0), DayUSD: a.Budget.DayUSD, RepoDayUSD: a.Budget.RepoDayUSD,
		},
		Limits:  a.limits(),
		Rules:   a.Rules,
		Presets: a.Presets,
		Protect: a.Protect.Paths, Open: a.Protect.Open,
		Secrets: a.Secrets, KeepTranscripts: a.Transcripts.Keep,
		Sandbox: a.Sandbox,
		Hooks:   a.Hooks,
		CI:      a.CI,
		Update:  a.Base.Update,
		Finish:  a.Finish, Notes: a.Notes, Labels: a.Labels, Statuses: a.Statuses,
		Jobs: parts.Jobs(a.Jobs, a.Parallel || a.Speculate || slices.ContainsFunc(a.Rules, Rule.splits)), Parallel: a.Parallel, Speculate: a.Speculate, Documents: a.Given,
		Source: source,
	}
	for model, price := range a.Prices {
		if p.Prices == nil {
			p.Prices = map[string]Price{}
		}
		p.Prices[model] = Price{Input: price.Input, Cached: value(price.Cached, price.Input), Output: price.Output}
	}
	for _, s := range a.Setup {
		s.Timeout, s.Setup.Network = cmp.Or(s.Timeout, Duration(10*time.Minute)), value(cmp.Or(s.Network, a.Network), Network{})
		p.Setup = append(p.Setup, s.Setup)
	}
	for i := range p.Rules {
		if back := p.Rules[i].Then.Rollback; back != nil {
			back.Step = cmp.Or(back.Step, "revise")
		}
		p.Rules[i].Then.Split = a.splits(p.Rules[i])
	}
	for i, ph := range a.Phases {
		p.Phases = append(p.Phases, a.phase(i, ph))
	}
	for i, ph := range a.Spare {
		p.Spare = append(p.Spare, a.phase(len(a.Phases)+i, ph))
	}
	p.Baseline = a.Checks != "strict" && slices.ContainsFunc(slices.Concat(p.Phases, p.Spare), func(p Phase) bool { return len(p.Checks) > 0 })
	return p
}

// limits are written out, so that a frozen pipeline says what counts.
func (a *author) limits() Limits {
	l := a.Limits
	l.Files, l.Bytes = l.Most()
	return l
}

// phase fills in the defaults of the phase at index i, which numbers its folder.
func (a *author) phase(i int, ph authorPhase) Phase {
	access := AccessArtifacts
	if ph.MustChange {
		access = AccessTree
	}
	out := Phase{
		Name:         ph.Name,
		Title:        ph.Title,
		Goal:         strings.TrimSpace(ph.Goal),
		Needs:        ph.Needs,
		Folder:       fmt.Sprintf("%02d_%s", i, ph.Name),
		Writes:       cmp.Or(ph.Writes, paths.Artifact(ph.Name)),
		Access:       cmp.Or(ph.Access, access),
		MustChange:   ph.MustChange,
		Gates:        ph.Gates,
		Report:       ph.Report,
		ReportSchema: ph.schema,
		Approve:      ph.Approve.Role,
		Approvers:    ph.Approve.Count,
		NoReview:     !value(ph.Review, true),
		Split:        ph.Split,
		ReviseAlways: ph.Revise == "always",
		Revisions:    value(ph.Revisions, value(a.Defaults.Revisions, 3)),
		Retry:        ph.Retry.Or(a.Defaults.Retry),
		SkipIf:       ph.SkipIf,
	}
	given := cmp.Or(ph.Network, a.Network)
	alone := out.Access != AccessTree
	for _, c := range ph.Checks {
		c.Timeout, c.Network = cmp.Or(c.Timeout, Duration(10*time.Minute)), value(given, Network{Closed: alone, Listen: alone})
		out.Checks = append(out.Checks, c)
	}
	out.Execute = a.step(ph.Steps.Execute, ph.authorStep, a.writer())
	inherited := ph.authorStep
	inherited.Prompt = "" // a template for execute says nothing to the others
	out.Revise = a.step(ph.Steps.Revise, inherited, out.Execute.Agent)
	// Models and tools are one agent's words, and the reviewer is another agent.
	inherited.Agent, inherited.Model, inherited.Tools = "", "", nil
	out.Review = a.step(ph.Steps.Review, inherited, a.reviewer(out.Execute.Agent))
	if r := &out.Review; r.Agent == out.Execute.Agent && r.Model == out.Execute.Model && cmp.Or(ph.Steps.Review.Model, ph.Steps.Review.Tier) == "" {
		r.Model = cmp.Or(a.Agents[r.Agent].Other(r.Tier), r.Model) // it sees other mistakes
	}
	for step, own := range map[*Step]authorStep{&out.Execute: ph.Steps.Execute, &out.Revise: ph.Steps.Revise} {
		writes := out.Access.AtMost(a.Agents[step.Agent].Access) == AccessTree
		step.Network = value(cmp.Or(own.Network, given), Network{Closed: !writes})
		step.Models = firstList(own.Models, ph.Models, a.Models)
	}
	look := AccessRead
	if out.Access == AccessTree {
		look = AccessRun
	}
	out.Review.Access = cmp.Or(ph.Steps.Review.Access, look)
	runs := out.Review.Access.AtMost(a.Agents[out.Review.Agent].Access) == AccessRun
	out.Review.Network = value(ph.Steps.Review.Network, Network{Closed: true, Listen: runs}) // tests may have servers
	out.Review.Models = firstList(ph.Steps.Review.Models, a.Models)
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

// step settles one step from what it says, what its phase says, the agent that
// does it if neither names one, and the defaults.
func (a *author) step(s, phase authorStep, agent string) Step {
	out := Step{
		Agent:   cmp.Or(s.Agent, phase.Agent, agent),
		Tier:    cmp.Or(s.Tier, phase.Tier, a.Defaults.Tier, "medium"),
		Timeout: cmp.Or(s.Timeout, phase.Timeout, a.Defaults.Timeout, Duration(20*time.Minute)),
		Idle:    cmp.Or(s.Idle, phase.Idle, a.Defaults.Idle, Duration(5*time.Minute)),
		Turns:   cmp.Or(s.Turns, phase.Turns),
		Prompt:  cmp.Or(s.Prompt, phase.Prompt),
		Tools:   value(cmp.Or(s.Tools, phase.Tools), tools.Choice{}),
		Effort:  cmp.Or(s.Effort, phase.Effort),
	}
	model := phase.Model
	if s.Agent != "" && s.Agent != phase.Agent {
		model = "" // it belongs to the other agent
	}
	out.Model = cmp.Or(s.Model, model, a.Agents[out.Agent].Models[out.Tier])
	return out
}

// value is what p points to, or otherwise where there is nothing.
func value[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}
