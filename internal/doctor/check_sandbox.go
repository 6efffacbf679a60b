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
	if held.Signals {
		box.Found += ", from signals to them"
	}
	if held.Sockets {
		box.Found += " and from services with a socket file"
	}
	if !held.Own {
		box.Found += " (programs have none of their own, unless the pipeline says `sandbox: sockets: true`)"
	}
	limits := well("limits", held.Limits.String())
	if held.Open != "" {
		limits = hinted(limits.Name, limits.Found+"; but "+"the number of processes has none: "+held.Open, "run reprise as a user that is not root, or let it make control groups")
		held.Open = ""
	}
	together, network := keptTogether(held), keptApart(held)
	held.Together, held.Closed = "", false
	if lacks := held.Lacks(); len(lacks) > 0 {
		box = hinted(box.Name, box.Found+"; but "+strings.Join(lacks, "; "), "give reprise a machine, or at least a user, with nothing else to reach")
	}
	open := well("not held", "the network where the pipeline leaves it open; memory of the machine; modes and owners of files that the user may change")
	if os.Geteuid() == 0 {
		open = hinted(open.Name, open.Found+"; and for root, what only root may read in /etc", "run reprise as a user that is not root")
	}
	return []Check{box, together, network, limits, open}
}

// keptTogether says by what all processes of a call end with it.
func keptTogether(held sandbox.Held) Check {
	const name, do = "processes", "let this user make user namespaces, if other rules of the machine allow it: see user.max_user_namespaces and kernel.apparmor_restrict_unprivileged_userns in sysctl"
	switch held.Together {
	case sandbox.Namespaces:
		return well(name, "a call has namespaces of its own: all that it starts ends with it, also when reprise is killed")
	case sandbox.ControlGroup:
		return hinted(name, "a call has a control group, and all that it starts ends with it; but no namespaces, so what it leaves in /dev/shm stays: "+held.Apart, do)
	}
	return hinted(name, "what a call leaves running is found by its environment, session and parents; but a call has no namespaces and no control group, so what hides may outlive reprise when it is killed: "+held.Apart, do)
}

// keptApart says what keeps calls from the network where the pipeline closes it.
func keptApart(held sandbox.Held) Check {
	const name, do = "network", "let this user make namespaces, if other rules of the machine allow it, or open the network in the pipeline"
	found := map[sandbox.NetworkBond]string{
		sandbox.OwnNetwork: "where the pipeline closes it, a call has one of its own, from which only its proxy can be reached",
		sandbox.PortAlone:  "where the pipeline closes it, a call reaches only the port of its proxy, but on any machine, and can start no servers: " + held.NoNet,
		sandbox.NoBond:     "where the pipeline closes it, a call still reaches all of it by TCP (Linux 6.7 or newer prevents that): " + held.NoNet,
	}[held.Network]
	if held.Closed && held.Network != sandbox.OwnNetwork {
		return hinted(name, found, do)
	}
	return well(name, found)
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
