package main

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/agents"
	"github.com/reprise-ci/reprise/pipelines"
)

// sandboxCommand is the hidden command that restricts itself and then becomes
// an agent's program.
const sandboxCommand = "sandboxed"

func enterSandbox(env environment) *cobra.Command {
	return &cobra.Command{
		Use: sandboxCommand + " -- PROGRAM [ARGUMENT...]", Hidden: true, Short: "Become a program within limits (for reprise itself)",
		Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] != "--" {
				args = []string{"--"}
			}
			return usage(agents.Enter(args[1:], env.environ))
		},
	}
}

// sandboxFlag adds the flag that says how much depends on the sandbox.
func sandboxFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "sandbox", string(agents.BestEffort), "keep agents and checks from all but their work: required, best-effort or off")
}

// contain puts what the run starts into the sandbox.
func (w *workspace) contain(how string, opts agents.Options) (agents.Options, error) {
	self, err := ownFile()
	if err != nil {
		return opts, err
	}
	box := leaving(w.plan.Sandbox)
	box.Helper = []string{self, sandboxCommand, "--"}
	box.State, box.Objects = filepath.Join(filepath.Dir(w.repo.Tree()), "homes"), w.objects()
	opts, note, err := opts.Contain(cmp.Or(agents.Containment(how), agents.BestEffort), box)
	if err == nil {
		w.box, w.lack = boxedBy(opts), note
	}
	return opts, usage(err)
}

// leaving is a sandbox that leaves to programs what the pipeline says.
func leaving(p pipelines.Sandbox) agents.Sandbox {
	return agents.Sandbox{Sockets: p.Sockets, Limits: agents.Limits{File: uint64(p.File), Disk: uint64(p.Disk)}}
}

// sayLacking says, once and before an agent is called, what the work tree has not
// of the repository, and that there is no sandbox, or what it does not hold
// though it should.
func (w *workspace) sayLacking(env environment) {
	if w.told {
		return
	}
	w.told = true
	for _, lack := range w.repo.Lacks() {
		_, _ = fmt.Fprintln(env.stderr, "reprise: "+lack)
	}
	if w.lack != "" {
		_, _ = fmt.Fprintln(env.stderr, "reprise: "+w.lack)
	}
	if w.box.Held == nil {
		return
	}
	for _, lack := range w.box.Held.Lacks() {
		_, _ = fmt.Fprintln(env.stderr, "reprise: the sandbox here does not hold all: "+lack)
	}
}

// objects lists the folders of git objects that the .git of the work tree
// borrows: those of the user's repository, or of a rehearsal's own.
func (w *workspace) objects() []string {
	return []string{filepath.Join(w.source.CommonDir, "objects"), filepath.Join(filepath.Dir(w.repo.Tree()), "git", "objects")}
}

// ownFile is the file of this program: as it was called, if that leads to it,
// since a program with several names goes by the name.
func ownFile() (string, error) {
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
