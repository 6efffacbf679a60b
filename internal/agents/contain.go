package agents

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// Contain puts all that o starts into the sandbox. Where there is none, sandbox.BestEffort gives o as it is and a
// sentence for the user, sandbox.Required an error.
func (o Options) Contain(how sandbox.Containment, s sandbox.Sandbox) (Options, string, error) {
	box, note, err := s.Prepare(how, o.withDefaults().Environ)
	if box != nil {
		o = o.within(box)
	}
	return o, note, err
}

// within puts all that o starts into a sandbox.
func (o Options) within(box *sandbox.Sandbox) Options {
	o.box, o.Contained = box, true
	o.Sandbox = func(c Call) (Call, error) {
		held, err := box.Hold(c.Call)
		c.Call = held
		return c, err
	}
	return o
}

// Beside gives o for work in another tree at the same time: programs have homes of their own in the folder state, checks
// in another one, and the names of temporary folders begin with a mark.
func (o Options) Beside(state, checks, mark, checkMark string) Options {
	o.Mark, o.CheckMark = mark, checkMark
	if o.box == nil {
		return o
	}
	return o.within(o.box.Beside(state, checks))
}

// Confinement says what o keeps programs in. To find out, it may make a control
// group and remove it.
func (o Options) Confinement() sandbox.Confinement { return o.box.Confinement() }

// Unchanged gives o for the commands of a setup, and for checks of code that no agent has written: what they leave in their
// home is there for other checks and for agents. What other checks leave there is not.
func (o Options) Unchanged() Options {
	o.unchanged = true
	return o
}

// Stay has one check find what another has left in their home, until leave is called.
func (o Options) Stay(ctx context.Context) (leave func(), err error) {
	if o.box == nil {
		return func() {}, nil
	}
	return o.box.Enter(ctx)
}

// moveIn gives a call a home and a control group of its own, if there is a sandbox. leave is called after it, and
// clears the home if the call has filled it.
func (o Options) moveIn(ctx context.Context, c *Call, who cli) (leave func(full bool), err error) {
	agent := who.name
	files := logins(agent, c.User, o.Environ)
	if o.box == nil {
		o.learn(agent, files)
		return func(bool) { o.learn(agent, files) }, nil
	}
	home := sandbox.Home{Program: agent, Keep: who.Sessions, Clean: o.unchanged && who.check != nil}
	for _, f := range files {
		home.Files = append(home.Files, f.File)
	}
	c.Env = slices.DeleteFunc(c.Env, func(kv string) bool { // its own home has them in their usual places
		name, _, _ := strings.Cut(kv, "=")
		return slices.Contains([]string{"CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME"}, name)
	})
	moveOut, err := o.box.MoveIn(ctx, &c.Call, home)
	if err != nil {
		return nil, err
	}
	o.learn(agent, files)
	return func(full bool) {
		moveOut(full)
		o.learn(agent, files)
	}, nil
}

// closed is what the sandbox leaves of the network to a call; nil: all of it.
func closed(n pipelines.Network) *sandbox.Network {
	if !n.Closed {
		return nil
	}
	return &sandbox.Network{Listen: n.Listen}
}

// enter has a call take its way to the network.
func (c *Call) enter(way *gate.Passage) {
	c.Env, c.hears = way.Env, way.Hears
	if c.Network != nil {
		c.Network.Port = way.Port()
	}
	for i := range c.servers {
		if s := &c.servers[i]; s.launch == "" {
			s.address, s.key = way.Server(s.name)
		}
	}
}

// learn tells what secrets are in logins and settings: as they were copied, or
// as the user has them.
func (o Options) learn(agent string, files []login) {
	if o.Learn == nil {
		return
	}
	var found []string
	for _, f := range files {
		for _, data := range [][]byte{f.Data, f.Fresh} {
			found = append(found, secretsIn(f, data)...)
		}
		if f.Data == nil {
			data, _ := os.ReadFile(f.From) // the user has none, or the program cannot read it either
			found = append(found, secretsIn(f, data)...)
		}
	}
	if len(found) > 0 {
		o.Learn(agent, found)
	}
}

// Check runs a phase's check in dir, as an agent without keys is run. One that cannot be judged, because ctx is over or
// there is no shell, is an error.
func (o Options) Check(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error) {
	// The rest of 4,000 is for what is added; npm says why first, and then how it is used.
	return o.runCheck(ctx, dir, c, &process.Excerpt{HeadMax: 600, TailMax: 3250})
}

// runCheck runs it, and keeps of its output what an excerpt takes: all as it was printed if the excerpt says how that is
// shown, else the lines that people read.
func (o Options) runCheck(ctx context.Context, dir string, c pipelines.Check, out *process.Excerpt) (metadata.CheckResult, error) {
	o = o.withDefaults()
	o.Transcript = nil
	shell := cli{name: "check", program: "/bin/sh", opts: o, check: &c}
	if out.Show != nil {
		shell.output = out
	}
	r := metadata.CheckResult{Name: c.Name, Run: c.Run, ExitCode: -1}
	told, s := Account{Dir: dir}, &said{}
	var began time.Time
	_, err := shell.run(ctx, engine.Task{Dir: dir, Access: pipelines.AccessTree, Network: c.Network, Timeout: time.Duration(c.Timeout)}, s, func(call *Call) (string, error) {
		began = time.Now()
		call.Argv = append(call.Argv, "-c", "exec 2>&1\n"+c.Run) // both streams in the order they were written in
		return "", nil
	}, func(line []byte) process.Reaction {
		if shown, is := told.line(line); is && shell.output == nil {
			_, _ = fmt.Fprintf(out, "%s\n", shown) // never fails
		}
		return process.GoOn
	})
	if !s.started {
		return r, fmt.Errorf("check %s: %w", c.Name, err)
	}
	r.DurationMS = time.Since(began).Milliseconds()
	if text := gate.Refusals(s.seen); text != "" {
		_, _ = fmt.Fprintf(out, "\nreprise: it %s\n", text)
	}
	switch e := s.ending; {
	case e.Cause == process.Cancelled:
		return r, fmt.Errorf("check %s: %w", c.Name, context.Cause(ctx))
	case e.Cause == process.TimedOut:
		_, _ = fmt.Fprintf(out, "\nreprise: it took longer than its %v and was ended\n", time.Duration(c.Timeout))
	case e.Cause == process.Overfull:
		_, _ = fmt.Fprintf(out, "\nreprise: %s; the check was ended\n", e.Why)
	case e.State != nil:
		r.ExitCode = e.Code()
		r.Pass = r.ExitCode == 0
	}
	r.Output = out.String()
	if !r.Pass || len(c.JUnit) > 0 {
		told.jUnitIn(dir, c.JUnit, began.Add(-10*time.Millisecond)) // as coarse as times of files are
	}
	if r.Ran, r.Failed = told.tests(); !r.Pass {
		r.FailedTests = told.Names()
	}
	return r, nil
}
