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

// fanOut ends the name of a form whose jobs do the parts of a phase beside each other.
const fanOut = "+fan-out"

// FanOut gives the form whose jobs do the parts of a phase beside each other.
func (f Form) FanOut() Form { return f.Plain() + fanOut }

// FansOut reports whether it is such a form.
func (f Form) FansOut() bool { return f != f.Plain() }

// Plain gives the form whose one job does all.
func (f Form) Plain() Form { return Form(strings.TrimSuffix(string(f), fanOut)) }

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

// GeneratedFiles gives the workflow that calls the action uses, goes on with the end of the awaited ones and installs
// who writes and who reviews, and of the long form the files by which it installs them.
func GeneratedFiles(form Form, uses string, awaited []string, agents ...string) ([]GeneratedFile, error) {
	workflow, err := WorkflowText(form, uses, awaited, agents...)
	if err != nil {
		return nil, err
	}
	files := []GeneratedFile{{Name: File, Text: workflow}}
	if form.Plain() == Short {
		return files, nil
	}
	for _, name := range []string{AgentsFile, AgentsLock} {
		text, err := pins(path.Base(name), unique(agents))
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

// WorkflowText gives the workflow that calls the action uses, is started when an awaited one has ended on the branch of
// a run, and installs who writes and, after it, who reviews.
func WorkflowText(form Form, uses string, awaited []string, agents ...string) (string, error) {
	fans := form.FansOut()
	if form = form.Plain(); form != Short && form != Long {
		return "", exit.Usagef("--workflow %.20q: there are short and long", form)
	}
	installs, err := InstallsOf(agents...)
	if err != nil {
		return "", err
	}
	if uses != LocalAction && !actionName().MatchString(uses) {
		return "", exit.Usagef("--uses %.120q is no action: give OWNER/REPO@VERSION, such as OWNER/reprise@main, or ./ in the repository of the action", uses)
	}
	if form == Short && uses == LocalAction {
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
	all := unique(agents) // with flags that write the same again, beside what init reads in the workflow that is there
	flags := text.If(all[0] != DefaultAgent, " --agent "+all[0]) + text.Prefixed(" --reviewer ", strings.Join(all[1:], "")) + text.If(fans, " --fan-out")
	calls := uses
	if form == Short {
		repository, version, _ := strings.Cut(uses, "@")
		calls = repository + "/" + Jobs + "@" + version
	}
	var lines []string // each is a pattern that is this name alone
	for _, name := range awaited {
		lines = append(lines, "'"+strings.NewReplacer("'", "''", "\n", "\n\n        ").Replace(literally(name))+"'")
	}
	name := map[Form]string{Short: "short_workflow.yml", Long: "init_workflow.yml"}[form]
	var out strings.Builder
	err = t.ExecuteTemplate(&out, name, map[string]any{
		"Uses": calls, "Local": uses == LocalAction, "Agents": installs, "Secrets": secrets, "Setup": setup, "AgentsDir": AgentsDir,
		"Docs": "https://github.com/" + published + "/blob/main/docs/github.md", "Flags": flags, "FanOut": fans, "Awaited": lines,
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

// Standing gives the form of a workflow that is there, and the action that it calls; neither if it calls none that is
// known, or cannot be read.
func Standing(existing string) (form Form, calls string) {
	var w WorkflowYAML
	_ = yaml.Unmarshal([]byte(existing), &w) // then it has no jobs
	fans := false
	for _, job := range w.Jobs {
		if given := job.With["fan-out"]; job.Ours() {
			form, calls, fans = Short, strings.Replace(job.Uses, "/"+Jobs, "", 1), fans || given.Value == "true"
		}
		for _, s := range job.Steps {
			if s.Ours() {
				form, calls, fans = Long, s.Uses, fans || s.Input("fan-out") == "true"
			}
		}
	}
	if fans {
		form = form.FanOut()
	}
	return form, calls
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
