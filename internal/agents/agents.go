package agents

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// For gives the agent of that name: claude, codex, gemini, command or
// rehearsal. It starts nothing and needs no program to be there, see Probe.
func For(name string, a pipelines.Agent, opts Options) (engine.Agent, error) {
	c := newCLI(name, a, opts)
	kinds := map[string]engine.Agent{"claude": claude{c}, "codex": codex{c}, "gemini": gemini{c}, "command": command{c}, Rehearsal: c.opts.Rehearsal}
	it, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("there is no agent %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	if name == "command" && len(a.Command) == 0 {
		return nil, fmt.Errorf(`an agent with use: "command" needs command: ["program", "argument", ...]`)
	}
	for _, v := range a.Env {
		if why := pipelines.WithheldFromAll(v); why != "" {
			return nil, fmt.Errorf("env: %s: %s", v, why)
		}
	}
	a.Use = name
	for _, wrong := range pipelines.WrongTools(a) {
		if wrong.Keys[0] != "command" {
			return nil, fmt.Errorf("%v: %s", wrong.Keys[0], wrong.Why)
		}
	}
	return it, nil
}

// Probe says whether the program of an agent and what its servers of tools need is there: nil, or an *engine.AgentError
// of class Missing. A path counts from dir, the top of a work tree. It starts nothing.
func Probe(name string, a pipelines.Agent, dir string, opts Options) error {
	if name == Rehearsal {
		return nil
	}
	if _, err := For(name, a, opts); err != nil {
		return err
	}
	c := newCLI(name, a, opts)
	if _, err := c.find(c.program, dir); err != nil {
		return err
	}
	return c.outfit(dir).lacks()
}

// newCLI gives what an agent of that name has in common with all that are programs.
func newCLI(name string, a pipelines.Agent, opts Options) cli {
	c := cli{name: name, program: name, knownProgram: programs()[name], agent: a, opts: opts.withDefaults()}
	for variable, more := range c.Clouds {
		if process.Lookup(c.opts.Environ, variable) != "" {
			c.Variables = slices.Concat(c.Variables, more)
		}
	}
	if name == "command" && len(a.Command) > 0 {
		c.program = a.Command[0]
		c.name = filepath.Base(c.program)
	}
	return c
}
