package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// triedSandbox tries whether the sandbox holds, with a file that a program in it
// must not be able to read.
func triedSandbox(ctx context.Context, env environ.Env, plan *pipelines.Pipeline) []Check {
	const name = "sandbox"
	root, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return []Check{lacking(name, err.Error(), "name a folder for temporary files in TMPDIR")}
	}
	defer func() { _ = os.RemoveAll(root) }() // a temporary folder; the system removes what is left
	helper, err := workspace.SandboxHelper()
	if err != nil {
		return []Check{lacking(name, err.Error(), "")}
	}
	box := sandbox.Sandbox{}
	if plan != nil {
		box = workspace.SandboxOf(plan)
	}
	box.Helper, box.State = helper, filepath.Join(root, "homes")
	opts, _, err := agents.Options{Environ: env.Environ}.Contain(sandbox.Required, box)
	if err != nil {
		return []Check{hinted(name, err.Error(), "without one, agents and checks can reach all that you can; the action wants one, unless its input says otherwise")}
	}
	held, err := holds(ctx, opts, root)
	switch {
	case err != nil:
		return []Check{lacking(name, "it cannot be entered: "+err.Error(), "do without, with --sandbox off")}
	case !held:
		return []Check{lacking(name, "it does not hold: a program in it read a file that it must not", "use another machine, or do without, with --sandbox off")}
	}
	return keeping(opts)
}

// keeping says what the sandbox of this machine holds, and what not.
func keeping(opts agents.Options) []Check {
	held := *opts.Confinement().Held // they are contained
	box := well("sandbox", fmt.Sprintf("in force (Landlock %d): keeps programs from files, memory and environment of others", held.Landlock))
	if !held.Own {
		box.Found += "; programs have no socket files of their own, unless the pipeline says `sandbox: sockets: true`"
	}
	if held.Together == sandbox.Namespaces {
		box.Found += "; a call has namespaces of its own: all that it starts ends with it"
	}
	if lacks := held.Lacks(); len(lacks) > 0 {
		box = hinted(box.Name, box.Found+"; but "+strings.Join(lacks, "; "), "run reprise on a machine, or as a user that is not root, with nothing else to reach, who may make user namespaces and control groups: see user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns in sysctl")
	}
	box.Found += ". It does not keep them from the network where the pipeline leaves it open, from memory of the machine, and from modes and owners of files that the user may change"
	if os.Geteuid() == 0 {
		box = hinted(box.Name, box.Found+"; nor, for root, from what only root may read in /etc", text.Join("; ", box.Do, "run reprise as a user that is not root"))
	}
	return []Check{box, well("limits", held.Limits.String())}
}

// holds reports whether a file in root, which has nothing else, is out of reach
// for a program that may work in a folder beside it.
func holds(ctx context.Context, opts agents.Options, root string) (bool, error) {
	tree := filepath.Join(root, "tree")
	if err := errors.Join(os.Mkdir(tree, 0o755), os.WriteFile(filepath.Join(root, "apart"), []byte("apart"), 0o600)); err != nil {
		return false, err
	}
	try := func(script string) (metadata.CheckResult, error) {
		return opts.Check(ctx, tree, pipelines.Check{Name: "sandbox", Run: script, Timeout: pipelines.Duration(programTime)})
	}
	entered, err := try("echo here > file")
	if err == nil && !entered.Pass {
		err = errors.New(text.OneLine(entered.Output))
	}
	if err != nil {
		return false, err
	}
	r, err := try("cat ../apart")
	return !r.Pass, err
}
