package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Options are what all agents of a run share. The zero value is usable.
type Options struct {
	// Environ is reprise's own environment, as os.Environ gives it; nil stands
	// for that. An agent gets the few variables of it that it needs.
	Environ []string
	// Home is the HOME of the agents. Empty keeps the HOME of Environ, where
	// the programs have their logins.
	Home string
	// Temp is the folder in which each call gets a temporary folder of its
	// own; empty stands for the system's.
	Temp string
	// Mark begins the names of those folders, so that Sweep finds them. It
	// belongs to one run on this machine; empty stands for one nobody sweeps.
	Mark string
	// Prices are laid over the built-in price table, by model.
	Prices map[string]pipelines.Price
	// Grace is the time between asking a program to end and ending it; 0
	// stands for 10 s.
	Grace time.Duration
	// Linger is the time a program has to end by itself after it has given its
	// result; 0 stands for 5 s.
	Linger time.Duration
	// Contained says that something else limits what agents may do, so that
	// Codex need not nest its own sandbox in it. Contain sets it.
	Contained bool
	// Sandbox, if not nil, may change what is about to be started. Contain sets
	// it.
	Sandbox func(Call) (Call, error)
	box     *Sandbox // gives programs homes of their own; nil: they have the user's
	// Learn, if not nil, is told the secrets in the user's logins and settings
	// that a program is about to see, and those of logins that it has renewed.
	Learn func(agent string, secrets []string)
	// Transcript, if not nil, is given what a program printed, once its call
	// is over: valid UTF-8, head and tail, at most about 500 kB.
	Transcript func(t phases.Task, text string)

	// FirstPhase is the phase whose first review a rehearsal fails; empty
	// lets all pass.
	FirstPhase string
	// Pace is how long a rehearsal takes for a call.
	Pace time.Duration
	// Quiet, if not nil, changes the report of a rehearsed phase, so that no
	// rule of the pipeline fires by chance.
	Quiet func(ctx context.Context, phase string, report json.RawMessage) (json.RawMessage, error)
	// Stubs, if not nil, are results that a rehearsal plays back.
	Stubs *Stubs
}

// Call is a program about to be started.
type Call struct {
	Task phases.Task
	Argv []string // the first is an absolute path
	Env  []string // all that the program gets to see
	Dir  string
	Home string
	User string // the user's home, which is Home unless there is a sandbox
	Temp string // folder for this call alone, removed after it

	group string // the file by which it enters its control group; "" without one
}

// For gives the agent of that name: claude, codex, gemini, command or
// rehearsal. It starts nothing and needs no program to be there, see Probe.
func For(name string, a pipelines.Agent, opts Options) (phases.Agent, error) {
	kinds := map[string]func(cli) phases.Agent{
		"claude":  func(c cli) phases.Agent { return claude{c} },
		"codex":   func(c cli) phases.Agent { return codex{c} },
		"gemini":  func(c cli) phases.Agent { return gemini{c} },
		"command": func(c cli) phases.Agent { return command{c} },
		"rehearsal": func(c cli) phases.Agent {
			return rehearsal{first: c.opts.FirstPhase, pace: c.opts.Pace, stubs: c.opts.Stubs, quiet: c.opts.Quiet}
		},
	}
	make, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("there is no agent %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	if name == "command" && len(a.Command) == 0 {
		return nil, fmt.Errorf(`an agent with use: "command" needs command: ["program", "argument", ...]`)
	}
	for _, v := range a.Env {
		if why := pipelines.Withheld(v); why != "" {
			return nil, fmt.Errorf("env: %s: %s", v, why)
		}
	}
	return make(newCLI(name, a, opts)), nil
}

// Probe says whether the program of an agent is there, with a hint how to get
// it if not: an *phases.AgentError of class Missing. A path that is not absolute
// counts from dir, the top of a work tree. It starts nothing.
func Probe(name string, a pipelines.Agent, dir string, opts Options) error {
	if name == "rehearsal" {
		return nil
	}
	if _, err := For(name, a, opts); err != nil {
		return err
	}
	c := newCLI(name, a, opts)
	_, err := c.find(c.program, dir)
	return err
}

// withDefaults fills in what was left empty.
func (o Options) withDefaults() Options {
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	if o.Grace == 0 {
		o.Grace = 10 * time.Second
	}
	if o.Linger == 0 {
		o.Linger = 5 * time.Second
	}
	return o
}
