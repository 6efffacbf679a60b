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

	"github.com/reprise-ci/reprise/internal/definition"
	"github.com/reprise-ci/reprise/internal/generated"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/workflow"
)

// workflowFiles looks at the workflow of the default branch, where GitHub reads it.
func workflowFiles(ctx context.Context, src *git.Source) []Check {
	const name = "workflow"
	data, err := src.ReadFile(ctx, definition.TrustedCommit(src), workflow.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []Check{hinted(name, "comments start nothing: "+absent(src), "reprise init; commit "+workflow.File+" to the default branch")}
	case err != nil:
		return []Check{lacking(name, err.Error(), "")}
	}
	found := agentPins(ctx, src, data)
	if agent, ok := written(string(data)); ok {
		return slices.Concat([]Check{well(name, workflow.File+", as reprise init writes it for "+agent)}, found, defaultToken())
	}
	found = append(found, lintWorkflow(data)...)
	if len(found) == 0 {
		return []Check{well(name, workflow.File+"; it differs from what reprise init writes in nothing that is known to matter")}
	}
	return found
}

// agentPins looks at the files by which the workflow installs the agent program,
// if it does so by the folder that init writes.
func agentPins(ctx context.Context, src *git.Source, flow []byte) []Check {
	const name = "workflow"
	if !bytes.Contains(flow, []byte(workflow.AgentsDir)) {
		return nil
	}
	if _, err := src.ReadFile(ctx, definition.TrustedCommit(src), workflow.AgentsLock); errors.Is(err, fs.ErrNotExist) {
		return []Check{lacking(name, "it installs the agent program by "+workflow.AgentsLock+", which is not on the default branch", "reprise init; commit the folder .github to the default branch")}
	} else if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	data, err := src.ReadFile(ctx, definition.TrustedCommit(src), workflow.AgentsFile)
	if err != nil {
		return []Check{lacking(name, workflow.AgentsFile+": "+err.Error(), "reprise init --force")}
	}
	var pins struct{ Dependencies map[string]string }
	if err := json.Unmarshal(data, &pins); err != nil {
		return []Check{lacking(name, workflow.AgentsFile+": "+err.Error(), "reprise init --force")}
	}
	var checks []Check
	for _, key := range slices.Sorted(maps.Keys(workflow.AgentInstalls())) {
		a := workflow.AgentInstalls()[key]
		if got, ok := pins.Dependencies[a.Package]; ok && series(got) != series(a.Version) {
			checks = append(checks, hinted(name, fmt.Sprintf("%s names %s %s; tried is %s", workflow.AgentsFile, a.Title, got, a.Version), "reprise init --force takes the version that is tried"))
		}
	}
	return checks
}

// absent says where the workflow is not, and whether it is only not committed.
func absent(src *git.Source) string {
	root, err := os.OpenRoot(src.Dir)
	if err != nil {
		return workflow.File + " cannot be looked for: " + err.Error()
	}
	defer func() { _ = root.Close() }() // opened for reading
	if _, err := root.Stat(workflow.File); err == nil {
		return workflow.File + " is here, but not on the default branch"
	}
	return "there is no " + workflow.File
}

// written reports whether a workflow is word for word what init writes, and for
// which agent.
func written(text string) (agent string, ok bool) {
	uses := []string{workflow.DefaultUses(), workflow.LocalAction}
	for _, m := range regexp.MustCompile(`uses: (\S+)`).FindAllStringSubmatch(text, -1) {
		uses = append(uses, strings.Replace(m[1], "/"+workflow.Jobs, "", 1))
	}
	names := slices.Sorted(maps.Keys(workflow.AgentInstalls()))
	for _, name := range names {
		for _, reviewer := range names {
			for _, u := range uses {
				for _, form := range []workflow.Form{workflow.Long, workflow.Short, workflow.Long.FanOut(), workflow.Short.FanOut()} {
					if same, err := workflow.Text(form, u, name, reviewer); err == nil && generated.Alike(same, text) {
						return name, true
					}
				}
			}
		}
	}
	return "", false
}
