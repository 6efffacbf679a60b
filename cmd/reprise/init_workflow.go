package main

import (
	"embed"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
)

// agentInstall is how a workflow gets an agent program and its key.
type agentInstall struct {
	Name    string // as pipelines name it
	Title   string
	Package string // on npm
	Version string // the exact one: a newer one may speak another protocol
	Setup   string // script of the package that has to be run once; "": none
	Secret  string // of the repository, and the variable that the program reads
}

// agentInstalls gives the agent programs that a workflow can install, by name.
func agentInstalls() map[string]agentInstall {
	return map[string]agentInstall{
		"claude": {Name: "claude", Title: "Claude Code", Package: "@anthropic-ai/claude-code", Version: "2.1.197", Setup: "install.cjs", Secret: "ANTHROPIC_API_KEY"},
		"codex":  {Name: "codex", Title: "Codex", Package: "@openai/codex", Version: "0.169.0", Secret: "OPENAI_API_KEY"},
		"gemini": {Name: "gemini", Title: "Gemini CLI", Package: "@google/gemini-cli", Version: "0.61.0", Secret: "GEMINI_API_KEY"},
	}
}

const (
	defaultAgent = "claude"
	localAction  = "./" // the action is in the repository that uses it
	projectPage  = "https://github.com/reprise-ci/reprise"
)

//go:embed init_workflow.yml
var workflowTemplate string

// agentLocks has, for each agent, the package.json and package-lock.json by which
// a workflow installs it.
//
//go:embed init_agents
var agentLocks embed.FS

// The files that init writes, from the top of a repository.
const (
	workflowFile = ".github/workflows/reprise.yml" // where GitHub finds it
	agentsDir    = ".github/reprise/agents"        // the agent program, pinned
	agentsFile   = agentsDir + "/package.json"
	agentsLock   = agentsDir + "/package-lock.json"
)

// initFile is a file that init writes.
type initFile struct{ name, text string }

// initFiles gives the workflow that calls the action uses and installs the named
// agent, and the files by which it is installed.
func initFiles(uses, agent string) ([]initFile, error) {
	workflow, err := workflowText(uses, agent)
	if err != nil {
		return nil, err
	}
	files := []initFile{{workflowFile, workflow}}
	for _, name := range []string{agentsFile, agentsLock} {
		text, err := agentLocks.ReadFile(path.Join("init_agents", agent, path.Base(name)))
		if err != nil {
			return nil, err
		}
		files = append(files, initFile{name, string(text)})
	}
	return files, nil
}

// actionName is what a workflow may name as an action of another repository.
var actionName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9-]*/[A-Za-z0-9._-]+@[A-Za-z0-9][A-Za-z0-9._/-]*$`)

// workflowText gives the workflow that calls the action uses and installs the
// named agent.
func workflowText(uses, agent string) (string, error) {
	install, ok := agentInstalls()[agent]
	if !ok {
		names := strings.Join(slices.Sorted(maps.Keys(agentInstalls())), ", ")
		return "", usagef("--agent %.40q: a workflow can install %s; for another one, write the workflow with one of these and change its steps", agent, names)
	}
	if uses != localAction && !actionName.MatchString(uses) {
		return "", usagef("--uses %.120q is no action: give OWNER/REPO@VERSION, such as %s, or ./ in the repository of the action", uses, defaultUses())
	}
	t, err := template.New("workflow").Delims("<<", ">>").Parse(workflowTemplate)
	if err != nil {
		return "", fmt.Errorf("workflow template: %w", err)
	}
	var out strings.Builder
	err = t.Execute(&out, map[string]any{
		"Uses": uses, "Local": uses == localAction, "Agent": install, "AgentsDir": agentsDir,
		"Docs": projectPage + "/blob/main/docs/github.md", "Flags": flagsFor(uses, agent),
	})
	return out.String(), err
}

// flagsFor gives the flags that write the same workflow again.
func flagsFor(uses, agent string) string {
	flags := ""
	if agent != defaultAgent {
		flags += " --agent " + agent
	}
	if uses != defaultUses() {
		flags += " --uses " + uses
	}
	return flags
}

// releaseNumber is the version of a release and its first number.
var releaseNumber = regexp.MustCompile(`^(v[0-9]+)\.[0-9]+\.[0-9]+`)

// defaultUses is the action as a workflow calls it: by the first number of
// this program's version, which each release moves on.
func defaultUses() string {
	major := "v1"
	if m := releaseNumber.FindStringSubmatch(version); m != nil {
		major = m[1]
	}
	return strings.TrimPrefix(projectPage, "https://github.com/") + "@" + major
}
