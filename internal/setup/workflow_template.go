package setup

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
)

// AgentInstall is how a workflow gets an agent program and its key.
type AgentInstall struct {
	Name    string // as pipelines name it
	Title   string
	Package string // on npm
	Version string // the exact one: a newer one may speak another protocol
	Setup   string // script of the package that has to be run once; "": none
	Secret  string // of the repository, and the variable that the program reads
}

//go:embed agent_installs.yaml
var agentInstalls []byte

// AgentInstalls gives the agent programs that a workflow can install, by name.
func AgentInstalls() map[string]AgentInstall {
	return text.TableIn(map[string]AgentInstall{}, agentInstalls)
}

const (
	// DefaultAgent is the agent that init installs unless it is told another.
	DefaultAgent = "claude"
	LocalAction  = "./" // the action is in the repository that uses it
	published    = "reprise-ci/reprise"
)

// Form is how a workflow file says what its jobs do.
type Form string

// The forms of a workflow file.
const (
	Short Form = "short" // it calls the workflow of the action's repository, which has the jobs
	Long  Form = "long"  // it has the jobs itself, for people to change
)

// Workflow is what the workflow of a repository is made from.
type Workflow struct {
	Form    Form
	Uses    string   // the action that it calls
	FanOut  bool     // its jobs do the parts of a phase beside each other
	Awaited []string // workflows: when one has ended on the branch of a run, it is started
	Agents  []string // that it installs: who writes and, after it, who reviews
}

// Jobs is where the repository of the action has the workflow that the short form calls.
const Jobs = ".github/workflows/run.yml"

// templates are the forms before the values of a repository are filled in, for
// text/template. Both begin alike, as the long form defines it.
//
//go:embed init_workflow.yml short_workflow.yml
var templates embed.FS

// agentLocks has, for each agent, the package.json and package-lock.json by which
// a workflow installs it.
//
//go:embed init_agents
var agentLocks embed.FS

// The files that init writes, from the top of a repository.
const (
	File       = ".github/workflows/reprise.yml" // where GitHub finds it
	AgentsDir  = ".github/reprise/agents"        // the agent program, pinned
	AgentsFile = AgentsDir + "/package.json"
	AgentsLock = AgentsDir + "/package-lock.json"
)

// Files gives the workflow, and of the long form the files by which it installs agents.
func (w Workflow) Files() ([]GeneratedFile, error) {
	workflow, err := w.Text()
	if err != nil {
		return nil, err
	}
	files := []GeneratedFile{{Name: File, Text: workflow}}
	if w.Form == Short {
		return files, nil
	}
	for _, name := range []string{AgentsFile, AgentsLock} {
		text, err := pins(path.Base(name), unique(w.Agents))
		if err != nil {
			return nil, err
		}
		files = append(files, GeneratedFile{Name: name, Text: text, Stands: stands(text)})
	}
	return files, nil
}

// actionName is what a workflow may name as an action of another repository.
var actionName = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// InstallsOf says how the programs of who writes and who reviews are installed, or that one is not known.
func InstallsOf(agents ...string) (installs []AgentInstall, err error) {
	for i, agent := range unique(agents) {
		install, ok := AgentInstalls()[agent]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(AgentInstalls())), ", ")
			return nil, exit.Usagef("--%s %.40q: init knows %s; for another one, write with one of these, and change what was written", []string{"agent", "reviewer"}[min(i, 1)], agent, names)
		}
		installs = append(installs, install)
	}
	return installs, nil
}

// Text gives the text of the workflow.
func (w Workflow) Text() (string, error) {
	if w.Form != Short && w.Form != Long {
		return "", exit.Usagef("--workflow %.20q: there are short and long", w.Form)
	}
	installs, err := InstallsOf(w.Agents...)
	if err != nil {
		return "", err
	}
	if w.Uses != LocalAction && !actionName().MatchString(w.Uses) {
		return "", exit.Usagef("--uses %.120q is no action: give OWNER/REPO@VERSION, such as OWNER/reprise@main, or ./ in the repository of the action", w.Uses)
	}
	if w.Form == Short && w.Uses == LocalAction {
		return "", exit.Usagef("--workflow short calls the workflow of another repository, so it cannot have --uses ./; leave out one of the two")
	}
	var secrets []string
	for _, a := range installs {
		if !slices.Contains(secrets, a.Secret) {
			secrets = append(secrets, a.Secret)
		}
	}
	setup := slices.ContainsFunc(installs, func(a AgentInstall) bool { return a.Setup != "" })
	t, err := template.New("").Delims("<<", ">>").ParseFS(templates, "*.yml")
	if err != nil {
		return "", fmt.Errorf("workflow template: %w", err)
	}
	all := unique(w.Agents) // with flags that write the same again, beside what init reads in the workflow that is there
	flags := text.If(all[0] != DefaultAgent, " --agent "+all[0]) + text.Prefixed(" --reviewer ", strings.Join(all[1:], "")) + text.If(w.FanOut, " --fan-out")
	calls := w.Uses
	if w.Form == Short {
		repository, version, _ := strings.Cut(w.Uses, "@")
		calls = repository + "/" + Jobs + "@" + version
	}
	var lines []string // each is a pattern that is this name alone
	for _, name := range w.Awaited {
		lines = append(lines, "'"+strings.NewReplacer("'", "''", "\n", "\n\n        ").Replace(literally(name))+"'")
	}
	name := map[Form]string{Short: "short_workflow.yml", Long: "init_workflow.yml"}[w.Form]
	var out strings.Builder
	err = t.ExecuteTemplate(&out, name, map[string]any{
		"Uses": calls, "Local": w.Uses == LocalAction, "Agents": installs, "Secrets": secrets, "Setup": setup, "AgentsDir": AgentsDir,
		"Docs": "https://github.com/" + published + "/blob/main/docs/github.md", "Flags": flags, "FanOut": w.FanOut, "Awaited": lines,
	})
	return stamped(out.String(), environ.Version), err
}

// unique leaves out names that are empty, or there twice in a row.
func unique(names []string) []string {
	return slices.Compact(slices.DeleteFunc(slices.Clone(names), func(name string) bool { return name == "" }))
}

// releaseNumber is the version of a release and its first number.
var releaseNumber = text.Pattern(`^(v[0-9]+)\.[0-9]+\.[0-9]+`)

// DefaultUses is the action as a workflow calls it: by the first number of
// this program's version, which each release moves on.
func DefaultUses() string {
	major := "v1"
	if m := releaseNumber().FindStringSubmatch(environ.Version); m != nil {
		major = m[1]
	}
	return published + "@" + major
}

// UsualForm gives the form for an action. The workflow that the short form calls has jobs of the released action, so
// only for that one it is short.
func UsualForm(uses string) Form {
	if uses == DefaultUses() {
		return Short
	}
	return Long
}

// Standing gives what a workflow that is there was made from, as far as it tells: nothing if it calls no action that is
// known, or cannot be read.
func Standing(existing string) (there Workflow) {
	var w WorkflowYAML
	_ = yaml.Unmarshal([]byte(existing), &w) // then it has no jobs
	for _, job := range w.Jobs {
		steps, short := job.Ours()
		for _, s := range steps {
			there.Form, there.Uses, there.FanOut = map[bool]Form{true: Short, false: Long}[short], s.Uses, there.FanOut || s.Input("fan-out") == "true"
		}
	}
	return there
}

// ActionFor gives the action that a workflow is to call where nobody names one: that of this release, unless the one
// that is there calls another repository, or this is a copy of reprise. "" if this program is no release.
func ActionFor(calls, goMod string) string {
	released := releaseNumber().MatchString(environ.Version)
	switch {
	case calls != "" && !(released && strings.HasPrefix(calls, published+"@")):
		return calls
	case strings.HasPrefix(goMod, "module github.com/"+published+"\n"):
		return LocalAction
	case released:
		return DefaultUses()
	}
	return ""
}
