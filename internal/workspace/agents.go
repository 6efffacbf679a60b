package workspace

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/pipelines"
)

// SandboxCommand is the hidden command that restricts itself and then becomes
// an agent's program.
const SandboxCommand = "sandboxed"

// AgentOptions says what all agents of a run share. It is worked out once, as
// the sandbox is tried for it, and again when the run is defined anew.
func AgentOptions(env environ.Env, w *Workspace, o Options) (agents.Options, error) {
	if w.agents != nil {
		return *w.agents, nil
	}
	opts := agents.Options{
		Proxy:   func(u *url.URL) (*url.URL, error) { return http.ProxyFromEnvironment(&http.Request{URL: u}) },
		Environ: env.Environ, Prices: w.Plan.Prices, Mark: TempMark(w.Repo.Tree()),
		Rehearsal: rehearsal.Agent{First: w.Plan.Phases[0].Name},
		Learn: func(agent string, found []string) {
			for _, value := range found {
				env.Finder().Learn(secrets.Secret{Name: "a login of " + agent, Value: value})
			}
		},
	}
	env.Learn(w.Plan)
	var err error
	if o.Stubs != "" {
		if opts.Rehearsal.Stubs, err = rehearsal.ReadStubs(o.Stubs); err != nil {
			return opts, exit.AsUsage(err)
		}
	}
	if opts, err = contain(w, o.Sandbox, opts); err == nil {
		w.agents = &opts
	}
	return opts, err
}

// contain puts what the run starts into the sandbox.
func contain(w *Workspace, how string, opts agents.Options) (agents.Options, error) {
	helper, err := SandboxHelper()
	if err != nil {
		return opts, err
	}
	box := SandboxOf(w.Plan)
	box.Helper = helper
	box.State, box.Objects = filepath.Join(filepath.Dir(w.Repo.Tree()), "homes"), objects(w)
	opts, note, err := opts.Contain(containment(how), box)
	if err == nil {
		w.Box, w.noSandbox = opts.Confinement(), note
	}
	return opts, exit.AsUsage(err)
}

// containment is how much depends on the sandbox, in the words of the command line.
func containment(how string) sandbox.Containment {
	return cmp.Or(sandbox.Containment(how), sandbox.BestEffort)
}

// SandboxHelper is the command that restricts itself, before its arguments.
func SandboxHelper() ([]string, error) {
	self, err := Executable()
	return []string{self, SandboxCommand, "--"}, err
}

// SandboxOf is a sandbox that leaves to programs what the pipeline says.
func SandboxOf(plan *pipelines.Pipeline) sandbox.Sandbox {
	p := plan.Sandbox
	box := sandbox.Sandbox{Sockets: p.Sockets, Limits: sandbox.Limits{File: uint64(p.File), Disk: uint64(p.Disk)}}
	for _, n := range networks(plan) {
		box.Closed, box.Lists = box.Closed || n.Closed, box.Lists || len(n.Allow) > 0
	}
	return box
}

// networks lists what each command of the setup, each step, and each check may reach
// of the network.
func networks(plan *pipelines.Pipeline) (out []pipelines.Network) {
	for _, s := range plan.Setup {
		out = append(out, s.Network)
	}
	for _, p := range slices.Concat(plan.Phases, plan.Spare) {
		out = append(out, p.Execute.Network, p.Review.Network, p.Revise.Network)
		for _, c := range p.Checks {
			out = append(out, c.Network)
		}
	}
	return out
}

// objects lists the folders of git objects that the .git of the work tree
// borrows: those of the user's repository, or of a rehearsal's own.
func objects(w *Workspace) []string {
	return []string{filepath.Join(w.Source.CommonDir, "objects"), filepath.Join(filepath.Dir(w.Repo.Tree()), "git", "objects")}
}

// Executable is the file of this program: as it was called, if that leads to it,
// since a program with several names goes by the name.
func Executable() (string, error) {
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("finding the program's own file: %w", err)
	}
	named, err := exec.LookPath(os.Args[0])
	if err != nil {
		return self, nil
	}
	a, err1 := os.Stat(named)
	b, err2 := os.Stat(self)
	if err1 != nil || err2 != nil || !os.SameFile(a, b) {
		return self, nil
	}
	return filepath.Abs(named)
}

// TempMark begins the names of the temporary folders of a run, whose tree is there.
func TempMark(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return "reprise-" + hex.EncodeToString(sum[:6]) + "-"
}
