package workflow

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/generated"
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

// AgentInstalls gives the agent programs that a workflow can install, by name.
func AgentInstalls() map[string]AgentInstall {
	return map[string]AgentInstall{
		"claude": {Name: "claude", Title: "Claude Code", Package: "@anthropic-ai/claude-code", Version: "2.1.197", Setup: "install.cjs", Secret: "ANTHROPIC_API_KEY"},
		"codex":  {Name: "codex", Title: "Codex", Package: "@openai/codex", Version: "0.169.0", Secret: "OPENAI_API_KEY"},
		"gemini": {Name: "gemini", Title: "Gemini CLI", Package: "@google/gemini-cli", Version: "0.61.0", Secret: "GEMINI_API_KEY"},
	}
}

const (
	// DefaultAgent is the agent that init installs unless it is told another.
	DefaultAgent = "claude"
	LocalAction  = "./" // the action is in the repository that uses it
	// ProjectPage is where people read about reprise.
	ProjectPage = "https://github.com/reprise-ci/reprise"
)

// Template is the workflow file before the values of a repository are filled in,
// for text/template.
//
//go:embed init_workflow.yml
var Template string

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

// GeneratedFiles gives the workflow that calls the action uses and installs the named
// agents, who writes and who reviews if that is another one, and the files by which it is installed.
func GeneratedFiles(uses string, agents ...string) ([]generated.File, error) {
	workflow, err := Text(uses, agents...)
	if err != nil {
		return nil, err
	}
	files := []generated.File{{Name: File, Text: workflow}}
	for _, name := range []string{AgentsFile, AgentsLock} {
		text, err := pins(path.Base(name), unique(agents))
		if err != nil {
			return nil, err
		}
		files = append(files, generated.File{Name: name, Text: text, Upgrade: upgrade(name, text)})
	}
	return files, nil
}

// actionName is what a workflow may name as an action of another repository.
var actionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// Text gives the workflow that calls the action uses and installs the
// named agents: who writes and, after it, who reviews.
func Text(uses string, agents ...string) (string, error) {
	var installs []AgentInstall
	for i, agent := range unique(agents) {
		install, ok := AgentInstalls()[agent]
		if !ok {
			names := strings.Join(slices.Sorted(maps.Keys(AgentInstalls())), ", ")
			return "", exit.Usagef("--%s %.40q: a workflow can install %s; for another one, write the workflow with one of these and change its steps", []string{"agent", "reviewer"}[min(i, 1)], agent, names)
		}
		installs = append(installs, install)
	}
	if uses != LocalAction && !actionName.MatchString(uses) {
		return "", exit.Usagef("--uses %.120q is no action: give OWNER/REPO@VERSION, such as %s, or ./ in the repository of the action", uses, DefaultUses())
	}
	setup := slices.ContainsFunc(installs, func(a AgentInstall) bool { return a.Setup != "" })
	t, err := template.New("workflow").Delims("<<", ">>").Parse(Template)
	if err != nil {
		return "", fmt.Errorf("workflow template: %w", err)
	}
	var out strings.Builder
	err = t.Execute(&out, map[string]any{
		"Uses": uses, "Local": uses == LocalAction, "Agents": installs, "Setup": setup, "AgentsDir": AgentsDir,
		"Docs": ProjectPage + "/blob/main/docs/github.md", "Flags": flagsFor(uses, unique(agents)),
	})
	return generated.Stamped(out.String(), environ.Version), err
}

// flagsFor gives the flags that write the same workflow again.
func flagsFor(uses string, agents []string) string {
	flags := ""
	if agents[0] != DefaultAgent {
		flags += " --agent " + agents[0]
	}
	if len(agents) > 1 {
		flags += " --reviewer " + agents[1]
	}
	if uses != DefaultUses() {
		flags += " --uses " + uses
	}
	return flags
}

// unique leaves out names that are empty or there twice.
func unique(names []string) (out []string) {
	for _, name := range names {
		if name != "" && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// releaseNumber is the version of a release and its first number.
var releaseNumber = regexp.MustCompile(`^(v[0-9]+)\.[0-9]+\.[0-9]+`)

// DefaultUses is the action as a workflow calls it: by the first number of
// this program's version, which each release moves on.
func DefaultUses() string {
	major := "v1"
	if m := releaseNumber.FindStringSubmatch(environ.Version); m != nil {
		major = m[1]
	}
	return strings.TrimPrefix(ProjectPage, "https://github.com/") + "@" + major
}
