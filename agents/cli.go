package agents

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// cli is what all agents that are programs have in common.
type cli struct {
	name    string // which agent
	program string // what to run: a name to be found in PATH, or a path
	install string // how to get it
	vars    []string
	agent   pipelines.Agent
	opts    Options
}

func newCLI(name string, a pipelines.Agent, opts Options) cli {
	c := cli{name: name, program: name, agent: a, opts: opts.withDefaults()}
	switch name {
	case "claude":
		c.install, c.vars = "npm install -g @anthropic-ai/claude-code", claudeVars(c.opts.Environ)
	case "codex":
		c.install, c.vars = "npm install -g @openai/codex", codexVars()
	case "gemini":
		c.install, c.vars = "npm install -g @google/gemini-cli", geminiVars()
	case "command":
		if len(a.Command) > 0 {
			c.program = a.Command[0]
			c.name = filepath.Base(c.program)
		}
	}
	return c
}

// run carries out a call: prepare completes the program's arguments and
// environment and gives its standard input, and says reads what it prints.
// Nothing is left of the call when run returns.
func (c cli) run(ctx context.Context, t phases.Task, says *said, prepare func(*Call) (string, error), line func([]byte) reaction) (phases.Result, error) {
	t.Access = least(t.Access, c.agent.Access)
	if strings.HasPrefix(t.Model, "-") {
		return phases.Result{}, fmt.Errorf("%s: model %q begins with a hyphen, as an option does; name a model", c.name, t.Model)
	}
	path, err := c.find(c.program, t.Dir)
	if err != nil {
		return phases.Result{}, err
	}
	if _, err := os.Stat(t.Dir); err != nil {
		return phases.Result{}, fmt.Errorf("%s: the work tree: %w", c.name, err)
	}
	temp, err := c.opts.makeTemp()
	if err != nil {
		return phases.Result{}, c.fail(classOf(err), fmt.Errorf("making a temporary folder: %w", err))
	}
	defer func() { _ = folders.RemoveAll(temp) }()
	call := &Call{Task: t, Argv: []string{path}, Dir: t.Dir, Temp: temp}
	call.Home = lookup(c.opts.Environ, "HOME")
	if c.opts.Home != "" {
		call.Home = c.opts.Home
	}
	call.User = call.Home
	call.Env = c.environ(call)
	leave, err := c.opts.moveIn(call, c.name)
	if err != nil {
		return phases.Result{}, c.fail(classOf(err), err)
	}
	full := false
	defer func() { leave(full) }()
	stdin, err := prepare(call)
	if err != nil {
		return phases.Result{}, c.fail(classOf(err), err)
	}
	if c.opts.Sandbox != nil {
		changed, err := c.opts.Sandbox(*call)
		if err != nil {
			return phases.Result{}, fmt.Errorf("%s: sandbox: %w", c.name, err)
		}
		call = &changed
	}
	e, err := program{
		argv: call.Argv, env: call.Env, dir: call.Dir, stdin: stdin, line: line,
		whole: t.Timeout, idle: t.Idle, grace: c.opts.Grace, linger: c.opts.Linger, room: c.opts.room(call),
	}.run(ctx)
	if err != nil {
		return phases.Result{}, c.notStarted(err)
	}
	full = e.cause == overfull
	if c.opts.Transcript != nil {
		c.opts.Transcript(t, e.stdout)
	}
	return c.conclude(ctx, t, e, says)
}

// environ gives what the program may see.
func (c cli) environ(call *Call) []string {
	allowed := slices.Concat(commonVars(), c.vars, c.agent.Env)
	return environ(c.opts.Environ, allowed, map[string]string{
		"HOME": call.Home, "TMPDIR": call.Temp, "TERM": "dumb", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0",
	})
}

// find gives the absolute path of a program. A path that is not absolute
// counts from dir.
func (c cli) find(program, dir string) (string, error) {
	candidates, below := []string{program}, false
	named := !strings.ContainsRune(program, filepath.Separator)
	if named {
		candidates = nil
		for _, d := range filepath.SplitList(lookup(c.opts.Environ, "PATH")) {
			if filepath.IsAbs(d) {
				candidates = append(candidates, filepath.Join(d, program))
			}
		}
	} else if !filepath.IsAbs(program) {
		candidates[0], below = filepath.Join(dir, program), true
	}
	why := fmt.Errorf("there is no program %q in PATH", program)
	for _, path := range candidates {
		found, err := exec.LookPath(path)
		if err == nil {
			return found, nil
		}
		_, unseen := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrPermission) && unseen == nil:
			why = fmt.Errorf("%s is not executable", path)
		case named: // the folder does not have it, or may not be entered
		case errors.Is(unseen, fs.ErrPermission):
			why = unseen
		default:
			why = fmt.Errorf("there is no program %s", path)
		}
	}
	if below && dir != "" {
		why = fmt.Errorf("%w; a path counts from the top of the repository, as it is committed", why)
	}
	return "", c.missing(why)
}

func (c cli) missing(why error) *phases.AgentError {
	e := c.fail(metadata.Missing, why)
	if c.install != "" {
		e.Hint = "install it with: " + c.install
	}
	return e
}

// notStarted names an error of starting a program.
func (c cli) notStarted(err error) error {
	for _, gone := range []error{fs.ErrNotExist, fs.ErrPermission, syscall.ENOEXEC} {
		if errors.Is(err, gone) {
			return c.missing(err)
		}
	}
	return c.fail(classOf(err), err)
}

func (c cli) fail(class metadata.Class, err error) *phases.AgentError {
	return &phases.AgentError{Class: class, Agent: c.name, Err: err}
}

// classOf tells a disk that is full or closed from other trouble.
func classOf(err error) metadata.Class {
	for _, disk := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, disk) {
			return metadata.Disk
		}
	}
	return metadata.Crash
}

// least gives the smaller of two access levels. An empty limit limits nothing.
func least(a, limit pipelines.Access) pipelines.Access {
	order := []pipelines.Access{pipelines.AccessNone, pipelines.AccessRead, pipelines.AccessArtifacts, pipelines.AccessTree}
	if i := slices.Index(order, limit); i >= 0 && i < slices.Index(order, a) {
		return limit
	}
	return a
}

// settle decodes JSON from a program into v, and says whether it was JSON. What
// does not fit is left out: the programs grow new fields and kinds of events
// all the time.
func settle(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	var misfit *json.UnmarshalTypeError
	return err == nil || errors.As(err, &misfit)
}
