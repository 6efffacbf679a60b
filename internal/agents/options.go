package agents

import (
	"net/url"
	"os"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/rehearsal"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Options are what all agents of a run share. The zero value is usable.
type Options struct {
	// Environ is reprise's own environment, as os.Environ gives it; nil stands
	// for that. An agent gets the few variables of it that it needs.
	Environ []string
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
	Sandbox  func(Call) (Call, error)
	installs bool             // see ForSetup
	box      *sandbox.Sandbox // gives programs homes of their own; nil: they have the user's
	// Learn, if not nil, is told the secrets in the user's logins and settings
	// that a program is about to see, and those of logins that it has renewed.
	Learn func(agent string, secrets []string)
	// Transcript, if not nil, is given each line that a program prints, as it
	// comes: valid UTF-8, at most 1 MB. It is valid only during the call.
	Transcript func(t engine.Task, line []byte)

	// Proxy gives the proxy of the user for an address, or nil, as net/http takes it.
	// If Proxy is nil, no model is asked through one.
	Proxy func(*url.URL) (*url.URL, error)

	// Rehearsal is the agent that needs no program.
	Rehearsal rehearsal.Agent
}

// Call is a program about to be started for a task; a check has none.
type Call struct {
	sandbox.Call
	Task engine.Task

	servers servers
	hears   func(gate.API) bool // see passage.Hears
}

// patience is how long a tool may take, in milliseconds: less than the agent may be silent,
// so that the program goes on without it. 0 means that nothing limits it.
func (c *Call) patience() int64 {
	idle := c.Task.Idle.Milliseconds()
	return max(idle-30_000, idle/2)
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
