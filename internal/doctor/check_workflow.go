package doctor

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
)

// workflowFiles looks at the workflow of the default branch, where GitHub reads it.
func (x *examination) workflowFiles(ctx context.Context) []Check {
	const name = "workflow"
	src := x.src
	data, err := src.ReadFile(ctx, src.Trusted(), setup.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		missing, way := absent(src)
		return []Check{hinted(name, "comments start nothing: "+missing, way)}
	case err != nil:
		return []Check{lacking(name, err.Error(), "")}
	}
	found := agentPins(ctx, src, data)
	w, bad := readWorkflow(data)
	if len(bad) > 0 {
		return append(found, bad...)
	}
	x.flow = &w
	found = append(found, unawaited(ctx, src, w)...)
	if setup.Untouched(string(data)) {
		return slices.Concat([]Check{well(name, setup.File+", as reprise init has written it")}, found, defaultToken())
	}
	found = append(found, lintWorkflow(w)...)
	if len(found) == 0 {
		return []Check{well(name, setup.File+"; it differs from what reprise init writes in nothing that is known to matter")}
	}
	return found
}

// readWorkflow reads a workflow, and says why it cannot be read.
func readWorkflow(data []byte) (w setup.WorkflowYAML, bad []Check) {
	if err := yaml.Unmarshal(data, &w); err != nil {
		bad = []Check{lacking("workflow", setup.File+": "+err.Error(), writeAnew)}
	}
	return w, bad
}

// unawaited names the workflows of the default branch that a push or a pull request starts,
// and whose end starts nothing: a run that waits for one of them would wait for ever.
func unawaited(ctx context.Context, src *git.Source, w setup.WorkflowYAML) []Check {
	const name = "workflow"
	folder, err := src.FS(ctx, src.Trusted(), setup.WorkflowsFolder)
	if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	there := w.Awaited()
	missing := slices.DeleteFunc(setup.Checking(folder), func(n string) bool { return slices.Contains(there, n) })
	if len(missing) == 0 {
		return nil
	}
	return []Check{hinted(name, fmt.Sprintf("workflow_run does not name %s: when CI has ended there, a run that waits for it does not go on by itself", text.Flat(strings.Join(missing, ", "))), "reprise init, which names them; commit "+setup.File+" to the default branch")}
}

// agentPins looks at the files by which the workflow installs the agent program,
// if it does so by the folder that init writes.
func agentPins(ctx context.Context, src *git.Source, flow []byte) []Check {
	const name = "workflow"
	if !bytes.Contains(flow, []byte(setup.AgentsDir)) {
		return nil
	}
	for _, file := range []string{setup.AgentsLock, setup.AgentsFile} {
		if _, err := src.ReadFile(ctx, src.Trusted(), file); err != nil {
			why := "cannot be read on the default branch: " + err.Error()
			if errors.Is(err, fs.ErrNotExist) {
				why = "is not on the default branch"
			}
			return []Check{lacking(name, fmt.Sprintf("it installs the agent program by %s, which %s", file, why), "reprise init; commit the folder .github to the default branch")}
		}
	}
	return nil
}

// absent says where the workflow is not, and whether it is only not committed.
func absent(src *git.Source) (missing, way string) {
	way = "commit " + setup.File + " to the default branch"
	root, err := os.OpenRoot(src.Dir)
	if err != nil {
		return setup.File + " cannot be looked for: " + err.Error(), way
	}
	defer root.Close() // opened for reading
	if _, err := root.Stat(setup.File); err == nil {
		return setup.File + " is here, but not on the default branch", way
	}
	return "there is no " + setup.File, "reprise init; " + way
}

const writeAnew = "take over what you want to keep, and write it anew: reprise init --force"

// lintWorkflow names what a workflow has that keeps runs from working, or
// working safely, as far as the file alone tells.
func lintWorkflow(w setup.WorkflowYAML) []Check {
	l := workflowLint{w: w}
	on := namesIn(w.On)
	if slices.Contains(on, "pull_request_target") {
		l.hint("take it out", "pull_request_target starts it: with that, people without rights come close to its keys")
	}
	if !slices.Contains(on, "issue_comment") {
		l.hint("add issue_comment with types: [created] to on:", "comments do not start it")
	}
	if !w.Concurrency.IsZero() {
		l.hint("put concurrency on the job that works", "its concurrency is on the whole workflow: any comment can drop a job that waits, or end one that works")
	}
	l.jobs()
	return l.found
}

// workflowLint gathers what is found.
type workflowLint struct {
	w     setup.WorkflowYAML
	found []Check
}

func (l *workflowLint) hint(do, format string, args ...any) {
	l.found = append(l.found, hinted("workflow", fmt.Sprintf(format, args...), do))
}

// namesIn gives the names in a scalar, a list or the keys of a mapping.
func namesIn(n yaml.Node) (out []string) {
	switch n.Kind {
	case yaml.ScalarNode:
		out = append(out, n.Value)
	case yaml.SequenceNode:
		for _, c := range n.Content {
			out = append(out, c.Value)
		}
	case yaml.MappingNode:
		for i := 0; i < len(n.Content); i += 2 {
			out = append(out, n.Content[i].Value)
		}
	}
	return out
}

func (l *workflowLint) jobs() {
	var gates, works int
	for _, name := range slices.Sorted(maps.Keys(l.w.Jobs)) {
		job := l.w.Jobs[name]
		steps, short := job.Ours()
		for _, s := range steps {
			if short {
				gates++
				works++
				l.called(name, job)
				continue
			}
			l.permissions(name, job, s, needsOf(s))
			switch s.Command() {
			case setup.GateOnly:
				gates++
			case setup.EndOnly, setup.TaskOnly:
			default:
				works++
				l.work(name, job, s)
			}
		}
	}
	switch {
	case works == 0:
		l.hint(writeAnew, "no job of %s is seen to call reprise", setup.File)
	case gates == 0:
		l.hint(writeAnew, "it has no job with command: gate: every comment starts the job that has the keys")
	}
}

// work looks at the job that has the keys.
func (l *workflowLint) work(name string, job setup.WorkflowJob, ours setup.WorkflowStep) {
	switch c := job.Concurrency; {
	case c.IsZero():
		l.hint("add concurrency with the issue in its group", "job %s has no concurrency: two jobs can start for one issue, and one of them in vain", name)
	case c.Kind == yaml.MappingNode && valueOf(c, "cancel-in-progress") == "true":
		l.hint("cancel-in-progress: false", "job %s is ended by the next command of the same issue", name)
	}
	for _, s := range job.Steps {
		if strings.HasPrefix(s.Uses, "actions/checkout@") && s.Input("persist-credentials") != "false" {
			l.hint("persist-credentials: false", "the checkout of job %s leaves the token on the disk", name)
		}
	}
	if !l.hasKey(job, ours) {
		l.hint("hand it over in env: of the step that calls reprise", "job %s has no key of an agent", name)
	}
	if ours.Input("github-token") == "" && ours.Input("dispatch") == "" {
		l.found = append(l.found, defaultToken()...)
	}
}

// hasKey reports whether the step gets the key of an agent, or needs none.
func (l *workflowLint) hasKey(job setup.WorkflowJob, s setup.WorkflowStep) bool {
	return s.Input("agent") == agents.Rehearsal || slices.ContainsFunc([]map[string]yaml.Node{l.w.Env, job.Env, s.Env}, func(env map[string]yaml.Node) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(env)), isKey)
	})
}

// isKey reports whether a variable is enough for one of the agent programs.
func isKey(variable string) bool { return slices.Contains(gate.KeyVariables(""), variable) }

// defaultToken says what the token of a job cannot do.
func defaultToken() []Check {
	return []Check{hinted("workflow", "what it pushes starts no other workflow, since it uses the token of the job: your CI does not run on the branch by itself",
		"give the action the input dispatch, or the token of an app as github-token")}
}

// valueOf gives what a mapping has under a key, or "".
func valueOf(n yaml.Node, key string) string {
	var in map[string]yaml.Node
	_ = n.Decode(&in) // what is no mapping has no keys
	return in[key].Value
}
