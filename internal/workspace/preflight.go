package workspace

import (
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Ready says what is missing before anything is spent.
func (w *Workspace) Ready(opts agents.Options) error {
	var missing []metadata.Reason
	for _, name := range needed(w.Plan) {
		missing = append(missing, w.Missing(name, opts)...)
	}
	if len(missing) == 0 {
		return nil
	}
	slices.Sort(missing)
	missing = slices.Compact(missing)
	return exit.NotAllowed(metadata.Because("no_agent", "missing", Lined(missing), "spare", agents.Rehearsal))
}

// Missing says why neither an agent nor those that stand in for it are there;
// nothing if one is.
func (w *Workspace) Missing(name string, opts agents.Options) []metadata.Reason {
	if rehearsal.Playing(environ.Env{Environ: opts.Environ}.Getenv) {
		return nil // no program is called
	}
	var why []metadata.Reason
	a := w.Plan.Agents[name]
	for range w.Plan.Agents { // vet has refused fallbacks that go in a circle
		err := agents.Probe(a.Use, a, w.Repo.Tree(), opts)
		if err == nil {
			return nil
		}
		why = append(why, metadata.Because("agent_missing", "name", name, "why", exit.Why(err)))
		if a.Fallback == "" {
			break
		}
		name, a = a.Fallback, w.Plan.Agents[a.Fallback]
	}
	return why
}

// Lined puts each of some reasons on a line of its own.
func Lined(all []metadata.Reason) metadata.Reason {
	switch len(all) {
	case 0:
		return ""
	case 1:
		return all[0]
	}
	return metadata.Because("lines", "first", all[0], "then", Lined(all[1:]))
}

// needed lists the agents that the plan's steps name, each once.
func needed(plan *pipelines.Pipeline) []string {
	var out []string
	seen := map[string]bool{}
	for _, p := range plan.Phases {
		for _, s := range metadata.AgentSteps() {
			if s == metadata.Review && p.NoReview {
				continue
			}
			if name := phases.Settings(&p, s).Agent; !seen[name] {
				seen[name] = true
				out = append(out, name)
			}
		}
	}
	return out
}

// SayLacking prints, once and before an agent is called, what of the repository is
// missing in the work tree, and that there is no sandbox, or which of its usual
// protections are missing here.
func (w *Workspace) SayLacking(env environ.Env) {
	if w.saidLacking {
		return
	}
	w.saidLacking = true
	for _, names := range w.Closed {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+names.In(w.Catalogue()))
	}
	for _, lack := range w.Repo.Lacks() {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+lack)
	}
	if w.noSandbox != "" {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+w.noSandbox)
	}
	if w.Box.Held == nil {
		return
	}
	for _, lack := range w.Box.Held.Lacks() {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: the sandbox here does not hold all: "+lack)
	}
}
