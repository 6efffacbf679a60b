package agents

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
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

// Probe says whether the program of an agent, its key or login, and what its servers of tools need is there: nil, or an
// *engine.AgentError of class Missing or Auth. A path counts from dir, the top of a work tree. It starts nothing.
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
	if err := c.outfit(dir).lacks(); err != nil {
		return err
	}
	if from, elsewhere := LoginOf(name, c.opts.Environ); from+elsewhere == "" && len(gate.KeyVariables(name)) > 0 {
		return c.fail(metadata.Auth, errors.New("it has neither a key nor a login"))
	}
	return nil
}

// LoginOf says where an agent program has its key or its login from: by the name of a variable, never by what is in it.
// Where neither is known, elsewhere says what may name another way; without that, there is none.
func LoginOf(name string, env []string) (from, elsewhere string) {
	set := slices.DeleteFunc(gate.KeyVariables(name), func(variable string) bool { return process.Lookup(env, variable) == "" })
	if len(set) > 0 {
		return "key from " + strings.Join(set, ", "), ""
	}
	for _, f := range gate.LoginFiles(name, process.Lookup(env, "HOME"), env) {
		info, err := os.Stat(f.From)
		switch {
		case err != nil || !info.Mode().IsRegular():
		case f.Login:
			return "logged in", ""
		case slices.Contains([]string{"settings.json", "config.toml"}, filepath.Base(f.From)):
			elsewhere = "no key and no login that is known; " + f.From + " may name another way"
		}
	}
	if elsewhere == "" && runtime.GOOS != "linux" {
		elsewhere = "no key; a login in the keychain cannot be seen from here"
	}
	return "", elsewhere
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
