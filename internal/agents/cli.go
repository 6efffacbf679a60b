package agents

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// cli is what all agents that are programs have in common.
type cli struct {
	use     string // which agent, as pipelines name it
	name    string // which program
	program string // what to run: a name to be found in PATH, or a path
	knownProgram
	agent      pipelines.Agent
	opts       Options
	check      *pipelines.Check // what it is, if it is no agent
	federation *gate.Federation // makes its key; nil: it has another, or none
	output     io.Writer        // if not nil, it is given what it prints as it comes
}

// run carries out a call: prepare completes arguments and environment and gives standard input, line reads what is
// printed. Nothing is left of the call when it returns.
func (c cli) run(ctx context.Context, t engine.Task, says *said, prepare func(*Call) (string, error), line func([]byte) process.Reaction) (engine.Result, error) {
	t.Access = t.Access.AtMost(c.agent.Access)
	hands := c.handsFor(&t)
	if strings.HasPrefix(t.Model, "-") {
		return engine.Result{}, fmt.Errorf("%s: model %q begins with a hyphen, as an option does; name a model", c.name, t.Model)
	}
	words, tree, err := c.asCommitted(ctx, c.program, c.agent.Command[min(1, len(c.agent.Command)):])
	if err != nil {
		return engine.Result{}, err
	}
	if words[0], err = c.find(c.program, append(tree, t.Dir)[0]); err != nil {
		return engine.Result{}, err
	}
	if _, err := os.Stat(t.Dir); err != nil {
		return engine.Result{}, fmt.Errorf("%s: the work tree: %w", c.name, err)
	}
	temp, err := c.makeTemp(t.Dir)
	if err != nil {
		return engine.Result{}, c.fail(classOf(err), fmt.Errorf("making a temporary folder: %w", err))
	}
	defer folders.RemoveAll(temp)
	call := &Call{Task: t, Call: sandbox.Call{Argv: words, Dir: t.Dir, Temp: temp, Access: t.Access, Artifact: t.Artifact, Shown: slices.Concat(t.Images, tree), Network: closed(t.Network)}}
	if call.Network != nil && c.ACP != nil {
		call.Network.Listen = call.Network.Listen || c.ACP.Listens
	}
	call.Home = c.lookup("HOME")
	call.User = call.Home
	call.Env = c.environ(call)
	loggedIn := c.login(call.User)
	leave, err := c.opts.moveIn(ctx, call, c)
	if err != nil {
		return engine.Result{}, c.fail(classOf(err), err)
	}
	defer func() { leave(says.ending.Cause == process.Overfull) }()
	asks := wayOf(c, call)
	if t.Access != pipelines.AccessNone {
		if call.servers, asks.Tools, err = c.outfit(t.Dir).within(t.Tools).prepare(ctx, call); err != nil {
			return engine.Result{}, err
		}
	}
	if hands != nil {
		call.servers = append(call.servers, server{name: pipelines.Hands, allow: hands.tools()})
		says.hands = hands
		asks.Tools, asks.NoShell = append(asks.Tools, gate.Server{Name: pipelines.Hands, Handler: hands}), hands.shell
	}
	if err := c.makesKey(); err != nil {
		return engine.Result{}, err
	}
	way, err := gate.OpenPassage(asks)
	if err != nil {
		return engine.Result{}, c.fail(classOf(err), err)
	}
	defer way.Close()
	call.enter(way)
	stdin, err := prepare(call)
	if errors.As(err, new(*engine.AgentError)) {
		return engine.Result{}, err
	} else if err != nil {
		return engine.Result{}, c.fail(classOf(err), err)
	}
	if c.opts.Sandbox != nil {
		changed, err := c.opts.Sandbox(*call)
		if err != nil {
			return engine.Result{}, fmt.Errorf("%s: sandbox: %w", c.name, err)
		}
		call = &changed
	}
	if keep, read := c.opts.Transcript, line; keep != nil {
		line = func(l []byte) process.Reaction { keep(t, l); return read(l) }
	}
	watch := sandbox.WatchSpace(call.Dir, call.Temp) // without a sandbox only what must stay free counts
	if c.opts.box != nil {
		watch = c.opts.box.WatchDisk(call.Call)
	}
	says.ending, err = process.Program{
		Argv: call.Argv, Env: call.Env, Dir: call.Dir, Stdin: stdin, More: call.more, Line: line, MaxLine: says.longest, Own: call.Own, Network: call.Apart, Files: call.Files, Sealed: !t.Access.Writes(),
		Whole: t.Timeout, Idle: t.Idle, Grace: c.opts.Grace, Linger: c.opts.Linger, Watch: watch.Watch, Tell: way.Tell(), Told: says.cancel, Heard: way.Heard, Output: c.output,
	}.Run(ctx)
	if err != nil {
		return engine.Result{}, c.notStarted(err)
	}
	seen := way.Close()
	says.started, says.seen = true, seen
	says.hear(c, way.Trouble())
	if says.proves {
		says.prove(c, way.Last())
	}
	r, err := c.conclude(ctx, t, says.ending, says)
	if hands != nil {
		err = cmp.Or(err, hands.conclude(&r))
	}
	if why := (*engine.AgentError)(nil); errors.As(err, &why) && why.Class == metadata.Auth && c.login(call.User) != loggedIn {
		why.Class, why.Hint, why.Err = metadata.Network, "", fmt.Errorf("%w; its login was renewed meanwhile", why.Err)
	}
	if says.complete != nil {
		says.complete(&r)
	}
	told := gate.Told{Model: r.Model, Limit: r.Limit, Usage: r.Usage, Warnings: r.Warnings}
	way.Complete(seen, &told)
	r.Model, r.Limit, r.Usage, r.Warnings = told.Model, told.Limit, told.Usage, told.Warnings
	for _, host := range told.Refused {
		r.Refused = append(r.Refused, engine.Refused(host))
	}
	if said, _ := phases.AnsweredReport(r.Structured, r.Text); said != nil && !c.unknown() { // which may make an answer themselves
		was, heard := way.Said(said)
		r.Unsaid, r.Unheard = heard && !was, !heard
	}
	r.Warnings = append(r.Warnings, call.servers.failed()...)
	r.Usage = sane(r.Usage)
	if u := r.Usage; err == nil && !c.unknown() && !way.Hears("") && u.InputTokens+u.CachedTokens+u.OutputTokens == 0 && u.USD == 0 {
		r.Usage.Unknown = true // nobody has said or seen anything
	}
	if seen.Limit != gate.NoLimit && ctx.Err() == nil {
		err = nil // what was written until then counts
	}
	return r, err
}

// unknown reports whether it is a program of the user's of which nothing is known, or a check.
func (c cli) unknown() bool { return c.use == "" || c.use == "command" }

// login is what the user's login for the program is now.
func (c cli) login(home string) (all string) {
	for _, f := range logins(c.name, home, c.opts.Environ) {
		if f.secret {
			data, _ := os.ReadFile(f.From) // the user has none, or the program cannot read it either
			all += string(data)
		}
	}
	return all
}

// environ gives what the program may see.
func (c cli) environ(call *Call) []string {
	if c.check != nil { // what tools expect of CI, without a word on colours, and what it asks for
		vars := map[string]string{"CI": "true", "GIT_TERMINAL_PROMPT": "0"}
		maps.Copy(vars, c.check.Env)
		vars["HOME"], vars["TMPDIR"] = call.Home, call.Temp
		return environ(c.opts.Environ, commonVars(), vars)
	}
	allowed := slices.Concat(commonVars(), c.Variables, c.agent.Env)
	return environ(c.opts.Environ, allowed, map[string]string{
		"HOME": call.Home, "TMPDIR": call.Temp, "TERM": "dumb", "NO_COLOR": "1", "GIT_TERMINAL_PROMPT": "0",
	})
}

// outfit makes what the agent is given ready for work in a tree.
func (c cli) outfit(dir string) outfit { return outfit{c, dir, c.agent.ToolSet} }

// lookup gives the value of a variable of the user's.
func (c cli) lookup(name string) string { return process.Lookup(c.opts.Environ, name) }

// asCommitted gives a command line in which the first word that names a file of the repository is the path of that file
// where people have committed it, and the tree that it is in, if there is such a word: in the work tree, agents and
// whoever can push to the run's branch may have changed it.
func (c cli) asCommitted(ctx context.Context, program string, args []string) (words, tree []string, err error) {
	words = slices.Concat([]string{program}, args)
	for i, word := range words {
		if c.opts.Program == nil || !filepath.IsLocal(word) || strings.ContainsAny(word, "\n\x00") || word[0] == '-' || i == 0 && !strings.ContainsRune(word, filepath.Separator) {
			continue
		}
		top, err := c.opts.Program(ctx, path.Clean(filepath.ToSlash(word)))
		if err != nil {
			return nil, nil, fmt.Errorf("%s: read %s as it is committed: %w", c.name, word, err)
		}
		if top != "" {
			words[i] = filepath.Join(top, word)
			return words, []string{top}, nil
		}
		if i == 0 {
			return nil, nil, c.missing(fmt.Errorf("there is no program %s; a path counts from the top of the repository, as it is committed", word))
		}
	}
	return words, nil, nil
}

// find gives the absolute path of a program. A path that is not absolute
// counts from dir.
func (c cli) find(program, dir string) (string, error) {
	candidates, below := []string{program}, false
	named := !strings.ContainsRune(program, filepath.Separator)
	if named {
		candidates = nil
		for _, d := range filepath.SplitList(c.lookup("PATH")) {
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
		switch {
		case err == nil && below && isBareScript(found):
			return "", c.missing(fmt.Errorf("%s has no first line that says what runs it, such as #!/bin/sh: add it, and commit that", path))
		case err == nil:
			return found, nil
		}
		_, unseen := os.Stat(path)
		switch {
		case errors.Is(err, fs.ErrPermission) && unseen == nil && below:
			return "", c.missing(fmt.Errorf("%s is not executable: make it so with chmod +x, and commit that", path))
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

// isBareScript reports whether a program of the repository is a text that only a shell would
// start by itself: the system does not, each time it is asked.
func isBareScript(program string) bool {
	text, err := folders.ReadRegular(program, 1<<20) // what is longer is hardly a script
	return err == nil && len(text) > 0 && !bytes.HasPrefix(text, []byte("#!")) && utf8.Valid(text) &&
		!bytes.ContainsFunc(text, func(r rune) bool { return r < ' ' && !strings.ContainsRune("\n\t\r", r) })
}

func (c cli) missing(why error) *engine.AgentError {
	return c.fail(metadata.Missing, why)
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

// classOf tells a disk that is full or closed from other trouble.
func classOf(err error) metadata.Class {
	if folders.NoDisk(err) {
		return metadata.Disk
	}
	return metadata.Crash
}

func (c cli) fail(class metadata.Class, err error) *engine.AgentError {
	e := &engine.AgentError{Class: class, Agent: c.name, Err: err}
	switch {
	case class == metadata.Missing && c.Install != "":
		e.Hint = metadata.Because("hint_install", "command", c.Install)
	case class == metadata.Auth:
		e.Hint = map[string]metadata.Reason{
			"claude": metadata.Because("hint_claude_login"), "codex": metadata.Because("hint_codex_login"), "gemini": metadata.Because("hint_gemini_login"),
		}[c.name]
	}
	return e
}

// makesKey makes the key of the program, where that is how it has one; see gate.Federation.
func (c cli) makesKey() error {
	if c.federation == nil || c.check != nil {
		return nil
	}
	if err := c.federation.Check(); err != nil {
		return &engine.AgentError{Class: metadata.Auth, Agent: c.name, Err: err}
	}
	return nil
}

// told is the error of a call by what the program, or its service, says of that.
func (c cli) told(said string, err error) *engine.AgentError {
	class, wait, hint := gate.MeaningOf(c.name, said, time.Now())
	e := c.fail(class, err)
	e.RetryAfter, e.Hint = min(wait, maxDelay), cmp.Or(hint, e.Hint)
	return e
}

// gone is the error of a session that is not on this machine. Starting afresh is the way on.
func (c cli) gone(session string) *engine.AgentError {
	return c.fail(metadata.Session, fmt.Errorf("session %.100q is not there", session))
}

// The most that is believed of what a program prints, into which a command that its model started can write, too.
const (
	maxTokens  = 1_000_000_000_000
	maxUSD     = 1e9
	maxTimes   = 1_000_000 // turns
	maxDenials = 100
	maxDelay   = 32 * 24 * time.Hour // no service closes for longer
	maxWord    = 200                 // characters of a name
)

// sane brings a usage within what can be.
func sane(u metadata.Usage) metadata.Usage {
	u.InputTokens, u.CachedTokens, u.OutputTokens = tokens(u.InputTokens), tokens(u.CachedTokens), tokens(u.OutputTokens)
	u.Turns = min(max(u.Turns, 0), maxTimes)
	if u.USD = max(u.USD, 0); math.IsNaN(u.USD) || u.USD > maxUSD {
		u.USD = maxUSD // what cannot be told is rather too much than nothing
	}
	return u
}

func tokens(n int64) int64 { return min(max(n, 0), maxTokens) }

// delayOf is a delay in seconds.
func delayOf(seconds float64) time.Duration {
	return time.Duration(min(max(seconds, 0), maxDelay.Seconds()) * float64(time.Second))
}

// sessionForm is the form of a session's id, which is an argument of the next call and so begins unlike an option.
var sessionForm = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)

// sessionOf gives the id of a session as a program tells it, or otherwise.
func sessionOf(told, otherwise string) string {
	if sessionForm().MatchString(told) {
		return told
	}
	return otherwise
}

// wordFrom gives a name that a program tells, without what could not be one.
func wordFrom(text string) string { return process.OneLine(text, maxWord) }

// deny takes down that the use of a tool was refused.
func (s *said) deny(tool string) {
	if len(s.result.Denials) < maxDenials {
		s.result.Denials = append(s.result.Denials, wordFrom(tool))
	}
}

// agentWords collects what an agent says in pieces, up to the length of a line.
type agentWords struct{ strings.Builder }

func (w *agentWords) add(text string) {
	w.WriteString(text[:min(len(text), max(process.MaxLine-w.Len(), 0))])
}
