package setup

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"golang.org/x/mod/semver"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
)

// The commands that workflows alone give.
const (
	GateOnly = "gate" // only says whether there is something to do
	EndOnly  = "end"  // only says of a job that has ended early that it has
	TaskOnly = "task" // does one part of a run, beside other jobs
	JoinOnly = "join" // goes on with a run once its parts were done by jobs
)

// OnlyForms are the commands that no person gives and that need the number of an issue.
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
	Defaults    workflowDefaults       `yaml:"defaults"`
	file        string                 // where it is
}

// workflowDefaults is what holds for steps that say nothing else.
type workflowDefaults struct {
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
	Defaults    workflowDefaults     `yaml:"defaults"`
	Permissions yaml.Node            `yaml:"permissions"`
	Concurrency yaml.Node            `yaml:"concurrency"`
	Env         map[string]yaml.Node `yaml:"env"`
	Steps       []WorkflowStep       `yaml:"steps"`
	Uses        string               `yaml:"uses"`    // a workflow whose jobs stand for it
	Secrets     yaml.Node            `yaml:"secrets"` // what that gets
	With        map[string]yaml.Node `yaml:"with"`
}

// Ours gives the steps of a job that call reprise. A job that stands for the jobs of reprise is one such step, in short.
func (j WorkflowJob) Ours() (steps []WorkflowStep, short bool) {
	if ourJobs().MatchString(j.Uses) {
		return []WorkflowStep{{Uses: strings.Replace(j.Uses, "/"+Jobs, "", 1), With: j.With}}, true
	}
	return slices.DeleteFunc(slices.Clone(j.Steps), func(s WorkflowStep) bool { return s.Uses != LocalAction && !ourAction().MatchString(s.Uses) }), false
}

var (
	ourJobs   = text.Pattern(`^[A-Za-z0-9-]+/reprise/\.github/workflows/run\.yml@`)
	ourAction = text.Pattern(`^[A-Za-z0-9-]+/reprise@`)
)

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

// Awaited gives the names below workflow_run in what starts a workflow. A pattern for several names is no name.
func (w WorkflowYAML) Awaited() (names []string) {
	var on struct {
		Run struct {
			Workflows oneOrMore `yaml:"workflows"`
		} `yaml:"workflow_run"`
	}
	if w.On.Kind != yaml.MappingNode || w.On.Decode(&on) != nil {
		return nil
	}
	for _, pattern := range on.Run.Workflows {
		if name := escaped().ReplaceAllString(pattern, "$1"); literally(name) == pattern {
			names = append(names, name)
		}
	}
	return names
}

// oneOrMore are texts of which one may stand without a list.
type oneOrMore []string

// UnmarshalYAML reads one text or a list of texts.
func (o *oneOrMore) UnmarshalYAML(n *yaml.Node) error {
	if n.Kind == yaml.ScalarNode {
		*o = oneOrMore{n.Value}
		return nil
	}
	return n.Decode((*[]string)(o))
}

// GitHub reads the names below workflow_run as patterns, although its documents do not
// say so: https://github.com/actions/runner/issues/854
var (
	special = text.Pattern(`[\\*?+!\[\]]`)
	escaped = text.Pattern(`\\(.)`)
)

// literally gives the pattern that is one name and no other.
func literally(name string) string { return special().ReplaceAllString(name, `\$0`) }

// WorkflowsFolder is where GitHub finds workflows, from the top of a repository.
const WorkflowsFolder = ".github/workflows"

// HasChecks reports whether a repository has a workflow that a push or a pull
// request would start.
func HasChecks(dir string) bool {
	return len(Checking(os.DirFS(filepath.Join(dir, WorkflowsFolder)))) > 0
}

// Checking gives the names of the workflows in a folder that a push to a branch or a pull request would start, each
// once. As on GitHub, one without a name has that of its file.
func Checking(folder fs.FS) (names []string) {
	for _, w := range startedByWork(folder) {
		if name := cmp.Or(w.Name, w.file); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// anyOn looks for an event in what a workflow is started by: one name, a list
// of names, or names with settings.
func anyOn(on *yaml.Node) bool {
	switch on.Kind {
	case yaml.ScalarNode:
		return on.Value == "push" || on.Value == "pull_request"
	case yaml.SequenceNode:
		return slices.ContainsFunc(on.Content, anyOn)
	case yaml.MappingNode:
		for i := 0; i+1 < len(on.Content); i += 2 {
			if event := on.Content[i]; anyOn(event) && (event.Value != "push" || onWork(on.Content[i+1])) {
				return true
			}
		}
	}
	return false
}

// onWork reports whether a push to a branch that somebody works on can start what has these filters: not where they
// name tags alone, or nothing but certain branches.
func onWork(push *yaml.Node) bool {
	var f struct {
		Branches oneOrMore `yaml:"branches"`
		Ignored  oneOrMore `yaml:"branches-ignore"`
		Tags     oneOrMore `yaml:"tags"`
		NoTags   oneOrMore `yaml:"tags-ignore"`
	}
	if push.Kind != yaml.MappingNode || push.Decode(&f) != nil {
		return true
	}
	if len(f.Branches) > 0 {
		return slices.ContainsFunc(f.Branches, func(b string) bool {
			return special().MatchString(b) || strings.HasPrefix(b, environ.BranchPrefix)
		})
	}
	return len(f.Ignored) > 0 || len(f.Tags)+len(f.NoTags) == 0
}

// pins gives a file of npm that installs some agents. A test holds that no package is needed by two.
func pins(name string, agents []string) (string, error) {
	all := map[string]any{}
	for _, agent := range agents {
		data, err := agentLocks.ReadFile(path.Join("init_agents", agent, name))
		if err != nil || len(agents) == 1 {
			return string(data), err
		}
		var one map[string]any
		if err := json.Unmarshal(data, &one); err != nil {
			return "", fmt.Errorf("%s of %s: %w", name, agent, err)
		}
		if at := join(all, one); at != "" {
			return "", exit.Usagef("%s need different versions of %s, so one folder cannot have both: let another agent review, or take --workflow short", strings.Join(agents, " and "), path.Base(at))
		}
	}
	joined, err := text.JSON(all)
	return string(joined), err
}

// join adds to an object what another one has besides. It names what has another version in each; "": nothing.
func join(to, from map[string]any) string {
	for key, value := range from {
		inner, is := to[key].(map[string]any)
		more, too := value.(map[string]any)
		switch {
		case is && too && inner["version"] != more["version"]:
			return key
		case is && too:
			if more["optional"] == nil { // one of them cannot do without
				delete(inner, "optional")
			}
			if at := join(inner, more); at != "" {
				return at
			}
		case key != "optional" || to["version"] == nil:
			to[key] = value
		}
	}
	return ""
}

// versions gives the versions of the agent programs that a file of npm names.
func versions(text string) map[string]string {
	type dependencies struct{ Dependencies map[string]string }
	var p struct {
		dependencies
		Packages map[string]dependencies // of a lock file, itself under no name
	}
	if json.Unmarshal([]byte(text), &p) != nil {
		return nil
	}
	if p.Dependencies != nil {
		return p.Dependencies
	}
	return p.Packages[""].Dependencies
}

// stands says of an older text of a file whether it is to stay: a version that is newer
// than ours comes from people, or from a bot of theirs.
func stands(text string) func(string) fileState {
	return func(old string) fileState {
		ours, theirs := versions(text), versions(old)
		if !maps.EqualFunc(ours, theirs, func(string, string) bool { return true }) {
			return changed // it names other agent programs
		}
		for program, version := range ours {
			if semver.Compare("v"+theirs[program], "v"+version) < 0 {
				return outdated
			}
		}
		return Same
	}
}
