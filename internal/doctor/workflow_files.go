package doctor

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// workflowFiles looks at the workflow of the default branch, where GitHub reads it.
func workflowFiles(ctx context.Context, src *git.Source) []Check {
	const name = "workflow"
	data, err := src.ReadFile(ctx, workspace.TrustedCommit(src), setup.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		missing, way := absent(src)
		return []Check{hinted(name, "comments start nothing: "+missing, way)}
	case err != nil:
		return []Check{lacking(name, err.Error(), "")}
	}
	found := append(agentPins(ctx, src, data), unawaited(ctx, src, data)...)
	if agent, ok := written(string(data)); ok {
		return slices.Concat([]Check{well(name, setup.File+", as reprise init writes it for "+agent)}, found, defaultToken())
	}
	found = append(found, lintWorkflow(data)...)
	if len(found) == 0 {
		return []Check{well(name, setup.File+"; it differs from what reprise init writes in nothing that is known to matter")}
	}
	return found
}

// unawaited names the workflows of the default branch that a push or a pull request starts,
// and whose end starts nothing: a run that waits for one of them would wait for ever.
func unawaited(ctx context.Context, src *git.Source, flow []byte) []Check {
	const name = "workflow"
	var w setup.WorkflowYAML
	if yaml.Unmarshal(flow, &w) != nil {
		return nil // which is said where it is looked at
	}
	folder, err := src.FS(ctx, workspace.TrustedCommit(src), setup.WorkflowsFolder)
	if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	there := w.Awaited()
	missing := slices.DeleteFunc(setup.Checking(folder), func(n string) bool { return slices.Contains(there, n) })
	if len(missing) == 0 {
		return nil
	}
	return []Check{hinted(name, fmt.Sprintf("workflow_run does not name %s: when CI has ended there, a run that waits for it does not go on by itself", text.Flat(strings.Join(missing, ", "))), "reprise init --upgrade, which names them; commit "+setup.File+" to the default branch")}
}

// agentPins looks at the files by which the workflow installs the agent program,
// if it does so by the folder that init writes.
func agentPins(ctx context.Context, src *git.Source, flow []byte) []Check {
	const name = "workflow"
	if !bytes.Contains(flow, []byte(setup.AgentsDir)) {
		return nil
	}
	if _, err := src.ReadFile(ctx, workspace.TrustedCommit(src), setup.AgentsLock); errors.Is(err, fs.ErrNotExist) {
		return []Check{lacking(name, "it installs the agent program by "+setup.AgentsLock+", which is not on the default branch", "reprise init; commit the folder .github to the default branch")}
	} else if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	data, err := src.ReadFile(ctx, workspace.TrustedCommit(src), setup.AgentsFile)
	if err != nil {
		return []Check{lacking(name, setup.AgentsFile+": "+err.Error(), "reprise init --force")}
	}
	var pins struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &pins); err != nil {
		return []Check{lacking(name, setup.AgentsFile+": "+err.Error(), "reprise init --force")}
	}
	var checks []Check
	for _, key := range slices.Sorted(maps.Keys(setup.AgentInstalls())) {
		a := setup.AgentInstalls()[key]
		if got, ok := pins.Dependencies[a.Package]; ok && series(got) != series(a.Version) {
			checks = append(checks, hinted(name, fmt.Sprintf("%s names %s %s; tried is %s", setup.AgentsFile, a.Title, got, a.Version), "reprise init --force takes the version that is tried"))
		}
	}
	return checks
}

// absent says where the workflow is not, and whether it is only not committed.
func absent(src *git.Source) (missing, way string) {
	way = "commit " + setup.File + " to the default branch"
	root, err := os.OpenRoot(src.Dir)
	if err != nil {
		return setup.File + " cannot be looked for: " + err.Error(), way
	}
	defer func() { _ = root.Close() }() // opened for reading
	if _, err := root.Stat(setup.File); err == nil {
		return setup.File + " is here, but not on the default branch", way
	}
	return "there is no " + setup.File, "reprise init; " + way
}

// written reports whether a workflow is word for word what init writes, and for
// which agent.
func written(flow string) (agent string, ok bool) {
	uses := []string{setup.DefaultUses(), setup.LocalAction}
	for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(flow, -1) {
		uses = append(uses, strings.Replace(m[1], "/"+setup.Jobs, "", 1))
	}
	var w setup.WorkflowYAML
	_ = yaml.Unmarshal([]byte(flow), &w) // one that cannot be read is not as init writes it
	names := slices.Sorted(maps.Keys(setup.AgentInstalls()))
	for _, name := range names {
		for _, reviewer := range names {
			for _, u := range uses {
				for _, form := range []setup.Form{setup.Long, setup.Short, setup.Long.FanOut(), setup.Short.FanOut()} {
					if same, err := setup.WorkflowText(form, u, w.Awaited(), name, reviewer); err == nil && setup.Alike(same, flow) {
						return name, true
					}
				}
			}
		}
	}
	return "", false
}
