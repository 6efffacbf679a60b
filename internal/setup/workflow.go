package setup

import (
	"errors"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// GateOnly is the command that only says whether there is something to do.
const GateOnly = "gate"

// EndOnly is the command that only says of a job that has ended early that it has.
const EndOnly = "end"

// TaskOnly is the command that does one part of a run, beside other jobs.
const TaskOnly = "task"

// JoinOnly is the command that goes on with a run once its parts were done by jobs.
const JoinOnly = "join"

// OfIssue are the commands that no person gives and that need the number of an issue.
func OnlyForms() []string { return []string{EndOnly, TaskOnly, JoinOnly} }

// WorkflowYAML is what is looked at of a workflow. Much of it has several
// forms, and is left as it is.
type WorkflowYAML struct {
	Name        string                 `yaml:"name"`
	On          yaml.Node              `yaml:"on"`
	Permissions yaml.Node              `yaml:"permissions"`
	Concurrency yaml.Node              `yaml:"concurrency"`
	Env         map[string]yaml.Node   `yaml:"env"`
	Jobs        map[string]WorkflowJob `yaml:"jobs"`
	Defaults    WorkflowDefaults       `yaml:"defaults"`
	file        string                 // where it is
}

// WorkflowDefaults is what holds for steps that say nothing else.
type WorkflowDefaults struct {
	Run struct {
		Directory string `yaml:"working-directory"`
	}
}

// startedByWork gives the workflows in a folder that a push to a branch or a pull request would start,
// but for that of reprise, in the order of their files. What cannot be read is as if it were not there.
func startedByWork(folder fs.FS) (all []WorkflowYAML) {
	entries, _ := fs.ReadDir(folder, ".")
	for _, e := range entries[:min(len(entries), 100)] {
		w, wrongType := WorkflowYAML{file: path.Join(WorkflowsFolder, e.Name())}, new(yaml.TypeError)
		if ext := path.Ext(e.Name()); ext != ".yml" && ext != ".yaml" || w.file == File {
			continue
		}
		// A field that has another type than we look for says nothing of the others.
		err := yaml.Unmarshal([]byte(repository{folder}.read(e.Name())), &w)
		if (err == nil || errors.As(err, &wrongType)) && anyOn(&w.On) {
			all = append(all, w)
		}
	}
	return all
}

// WorkflowJob is what is looked at of a job of a workflow.
type WorkflowJob struct {
	RunsOn      yaml.Node            `yaml:"runs-on"`
	Services    yaml.Node            `yaml:"services"`
	Defaults    WorkflowDefaults     `yaml:"defaults"`
	Permissions yaml.Node            `yaml:"permissions"`
	Concurrency yaml.Node            `yaml:"concurrency"`
	Env         map[string]yaml.Node `yaml:"env"`
	Steps       []WorkflowStep       `yaml:"steps"`
	Uses        string               `yaml:"uses"`    // a workflow whose jobs stand for it
	Secrets     yaml.Node            `yaml:"secrets"` // what that gets
	With        map[string]yaml.Node `yaml:"with"`
}

// Ours reports whether the job stands for the jobs of reprise.
func (j WorkflowJob) Ours() bool { return ourJobs.MatchString(j.Uses) }

var ourJobs = regexp.MustCompile(`^[A-Za-z0-9-]+/reprise/\.github/workflows/run\.yml@`)

// WorkflowStep is what is looked at of a step of a job.
type WorkflowStep struct {
	Uses string               `yaml:"uses"`
	Run  string               `yaml:"run"`
	Dir  string               `yaml:"working-directory"`
	With map[string]yaml.Node `yaml:"with"`
	Env  map[string]yaml.Node `yaml:"env"`
}

// Input gives an input of the step's action, or "".
func (s WorkflowStep) Input(name string) string { return s.With[name].Value }

// Command is what a step of the action is told to do, without what belongs to it.
func (s WorkflowStep) Command() string {
	word, _, _ := strings.Cut(s.Input("command"), " ")
	return word
}

// Ours reports whether the step calls reprise.
func (s WorkflowStep) Ours() bool { return s.Uses == LocalAction || ourAction.MatchString(s.Uses) }

var ourAction = regexp.MustCompile(`^[A-Za-z0-9-]+/reprise@`)
