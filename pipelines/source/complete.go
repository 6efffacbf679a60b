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

// draft is a pipeline that is being completed. A field that is named here is written in
// another form than a Pipeline has it; the others are as they are written.
type draft struct {
	pipelines.Pipeline
	reach
	Defaults struct {
		pipelines.Step
		Reviewer  string
		Revisions int
		Retry     pipelines.Retry
	}
	PhaseTexts  json.RawMessage                `json:"phases"` // read one by one
	SpareTexts  json.RawMessage                `json:"spare"`
	Protection  struct{ Paths, Open []string } `json:"protect"`
	Transcripts struct{ Keep text.Days }
	Base        struct{ Update string }
	Artifacts   map[string]string `json:"given"`
}

// reach is what a pipeline, a phase or a step says of what may be reached; nil: nothing.
type reach struct {
	Network     *pipelines.Network `json:"network"`
	AllowModels []string           `json:"allow_models"`
}

// or gives what is said, or otherwise. An empty list of models counts.
func (r reach) or(otherwise reach) reach {
	if r.AllowModels == nil {
		r.AllowModels = otherwise.AllowModels
	}
	return reach{cmp.Or(r.Network, otherwise.Network), r.AllowModels}
}

// How long a command and a call of an agent may take, and an agent be silent.
const (
	usualCommand = pipelines.Duration(10 * time.Minute)
	usualTimeout = pipelines.Duration(20 * time.Minute)
	usualIdle    = pipelines.Duration(5 * time.Minute)
)

// complete reads a pipeline from its nodes and fills in every default. Values that break the schema are not among them.
// Without agents of its own it has the usual ones.
func complete(n *node, agents bool) (*draft, error) {
	d := &draft{}
	d.Language, d.Baseline = "en", true
	d.Budget = pipelines.Budget{USD: 10, Time: pipelines.Duration(2 * time.Hour), Attempts: 60}
	d.Defaults.Tier, d.Defaults.Revisions = "medium", 3
	d.Defaults.Retry = pipelines.Retry{Max: 3, Initial: pipelines.Duration(time.Second), Factor: 2, Cap: pipelines.Duration(time.Minute)}
	err := n.decode(d)
	if !agents {
		all := map[string]pipelines.Agent{ // the reviewer is another vendor's
			"writer": {
				Use:      "claude",
				Models:   map[string]string{"heavy": "opus", "medium": "sonnet", "light": "haiku"},
				Fallback: "second",
			},
			"second":   {Use: "codex"},
			"reviewer": {Use: "codex", Access: pipelines.AccessRun, Fallback: "writer"},
		}
		maps.Copy(all, d.Agents)
		d.Agents = all
	}
	d.Name, d.Source = cmp.Or(d.Name, nameOf(n.File)), n.File
	d.Limits.Files, d.Limits.Bytes = d.Limits.Most() // a frozen pipeline says what counts
	d.Protect, d.Open = d.Protection.Paths, d.Protection.Open
	d.KeepTranscripts, d.Update, d.Documents = d.Transcripts.Keep, d.Base.Update, d.Artifacts
	for model, price := range d.Prices {
		if n.get("prices").get(model).get("cached") == nil {
			price.Cached = price.Input
			d.Prices[model] = price
		}
	}
	for i := range d.Setup {
		s := &d.Setup[i]
		if s.Timeout = cmp.Or(s.Timeout, usualCommand); n.get("setup").item(i).get("network") == nil {
			s.Network = valueOr(d.Network, pipelines.Network{})
		}
	}
	for i, node := range slices.Concat(n.list("phases"), n.list("spare")) {
		ph, wrong := d.phase(i, node)
		list := &d.Phases
		if i >= len(n.list("phases")) {
			list = &d.Spare
		}
		*list, err = append(*list, ph), cmp.Or(err, wrong)
	}
	for i := range d.Rules {
		then := &d.Rules[i].Then
		if then.Rollback != nil {
			then.Rollback.Step = cmp.Or(then.Rollback.Step, "revise")
		}
		if then.Split == pipelines.NextPhase {
			then.Split = d.next(d.Rules[i].After)
		}
	}
	d.TakeJobs()
	d.Baseline = d.Baseline && slices.ContainsFunc(slices.Concat(d.Phases, d.Spare), func(ph pipelines.Phase) bool { return len(ph.Checks) > 0 })
	if err != nil {
		return nil, fmt.Errorf("%s: %w", n.File, err)
	}
	return d, nil
}

// nameOf is the name of a pipeline by its file: "builtin:fix" and
// ".github/reprise/pipelines/fix.yaml" are both called fix.
func nameOf(file string) string {
	base := strings.TrimPrefix(path.Base(file), builtin.Prefix)
	return strings.TrimSuffix(base, path.Ext(base))
}

// writer is the agent that executes and revises unless a phase says otherwise;
// "" if the author has to choose.
func (d *draft) writer() string {
	if _, usual := d.Agents["writer"]; d.Defaults.Agent == "" && usual {
		return "writer"
	}
	if names := slices.Collect(maps.Keys(d.Agents)); d.Defaults.Agent == "" && len(names) == 1 {
		return names[0]
	}
	return d.Defaults.Agent
}

// reviewer is the agent that reviews what writer wrote: another one, if there is, and then one of another vendor.
func (d *draft) reviewer(writer string) string {
	if d.Defaults.Reviewer != "" {
		return d.Defaults.Reviewer
	}
	worse := func(name string) int {
		switch {
		case name == writer:
			return 3
		case name == "reviewer":
			return 0
		case d.Agents[name].Use != d.Agents[writer].Use:
			return 1
		}
		return 2
	}
	return slices.MinFunc(append(slices.Sorted(maps.Keys(d.Agents)), writer), func(a, b string) int { return worse(a) - worse(b) })
}

// phase completes the phase at index i, which numbers its folder.
func (d *draft) phase(i int, n *node) (pipelines.Phase, error) {
	w := struct {
		pipelines.Phase
		reach
		Approve struct {
			Role  string
			Count int
		} `json:"approve"`
		Review bool   `json:"review"`
		Revise string `json:"revise"`
	}{Phase: pipelines.Phase{Revisions: d.Defaults.Revisions, Retry: d.Defaults.Retry}, Review: true}
	err := n.decode(&w)
	ph, outer, access := w.Phase, w.or(d.reach), pipelines.AccessArtifacts
	if ph.MustChange {
		access = pipelines.AccessTree
	}
	ph.Access, ph.Writes = cmp.Or(ph.Access, access), cmp.Or(ph.Writes, pipelines.ArtifactPath(ph.Name))
	ph.Goal, ph.Folder = strings.TrimSpace(ph.Goal), fmt.Sprintf("%02d_%s", i, ph.Name)
	ph.Approve, ph.Approvers = w.Approve.Role, w.Approve.Count
	ph.NoReview, ph.ReviseAlways = !w.Review, w.Revise == "always"
	if report := n.get("report"); report != nil {
		ph.ReportSchema = report.Schema
	}
	if ph.SkipIf != nil {
		ph.SkipIf.Tree = n.get("skip_if").get("when").get("tree").fieldNames()
	}
	alone := ph.Access != pipelines.AccessTree
	for i := range ph.Checks {
		c := &ph.Checks[i]
		c.Timeout, c.Network = cmp.Or(c.Timeout, usualCommand), valueOr(outer.Network, pipelines.Network{Closed: alone, Listen: alone})
	}
	step := func(name, agent string, outer reach, but ...string) (s pipelines.Step) {
		s, wrong := d.step(n, ph.Access, name, agent, outer, but)
		err = cmp.Or(err, wrong)
		return s
	}
	ph.Execute = step("execute", d.writer(), outer)
	ph.Revise = step("revise", ph.Execute.Agent, outer, "prompt") // a template for execute says nothing to the others
	// Names of models and tools are those of one agent, and the reviewer is another one.
	ph.Review = step("review", d.reviewer(ph.Execute.Agent), reach{AllowModels: d.AllowModels}, "prompt", "agent", "model", "tools")
	own := n.get("steps").get("review")
	if r := &ph.Review; r.Agent == ph.Execute.Agent && r.Model == ph.Execute.Model && own.get("model") == nil && own.get("tier") == nil {
		r.Model = cmp.Or(d.Agents[r.Agent].Other(r.Tier), r.Model) // it sees other mistakes
	}
	return ph, err
}

// step completes a step of a phase with an access. What it says counts over what its phase says, but for some fields,
// and that over the defaults; outer is what else says what it may reach. The agent does it if none is named.
func (d *draft) step(phase *node, access pipelines.Access, name, agent string, outer reach, but []string) (pipelines.Step, error) {
	s, may, own, said := d.Defaults.Step, reach{}, phase.get("steps").get(name), phase.clone()
	s.Agent = agent
	if own.get("tools") != nil {
		but = append(but, "tools")
	}
	if other := own.get("agent").text(); other != "" && other != phase.get("agent").text() {
		but = append(but, "model") // it belongs to the other agent
	}
	for _, field := range append(but, "access", "network") {
		delete(said.Fields, field)
	}
	err := cmp.Or(said.decode(&s), own.decode(&s), own.decode(&may))
	if name == "review" {
		look := pipelines.AccessRead
		if access == pipelines.AccessTree {
			look = pipelines.AccessRun
		}
		s.Access = cmp.Or(s.Access, look)
	}
	s.Timeout, s.Idle = cmp.Or(s.Timeout, d.Defaults.Timeout, usualTimeout), cmp.Or(s.Idle, d.Defaults.Idle, usualIdle)
	s.Model = cmp.Or(s.Model, d.Agents[s.Agent].Models[s.Tier])
	held := cmp.Or(s.Access, access).AtMost(d.Agents[s.Agent].Access)
	may = may.or(outer)
	s.Models, s.Network = may.AllowModels, valueOr(may.Network, pipelines.Network{
		Closed: held != pipelines.AccessTree, Listen: name == "review" && held == pipelines.AccessRun, // tests may have servers
	})
	return s, err
}

// valueOr is what p points to, or otherwise where there is nothing.
func valueOr[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}

// next gives the first phase after another one that may change the code, or "".
func (d *draft) next(after string) pipelines.PartPhase {
	for _, p := range d.Phases[slices.Index(pipelines.NamesOf(d.Phases), after)+1:] {
		if p.Access == pipelines.AccessTree || p.MustChange {
			return pipelines.PartPhase(p.Name)
		}
	}
	return ""
}
