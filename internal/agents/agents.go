// Package agents is the door to the agent programs. An agent gets one task,
// works on it, and says what came of it: Claude Code, Codex and Gemini are
// programs with typed streams, "acp" is any that speaks the Agent Client Protocol,
// as those do that are only rows of programs.yaml, "command" is any program that
// reads a task and prints a result as JSON, and "rehearsal" is built in and needs
// neither key nor network.
//
// Every program gets only the environment it needs, never reprise's own tokens.
// Package process runs it under supervision, and package sandbox holds it. What it
// says about itself is read from the typed events of its stream, never from prose.
package agents

import (
	"cmp"
	"context"
	_ "embed" // the programs
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// For gives the agent of that name: rehearsal, command, acp, or one of Programs. It starts nothing and needs no program
// to be there, see Probe.
func For(name string, a pipelines.Agent, opts Options) (engine.Agent, error) {
	c := newCLI(name, a, opts)
	kinds := map[string]engine.Agent{"claude": claude{c}, "codex": codex{c}, "gemini": gemini{c}, "command": command{c}, Rehearsal: c.opts.Rehearsal}
	for program, row := range programs() {
		if row.ACP != nil {
			kinds[program] = acp{c}
		}
	}
	it, ok := kinds[name]
	if !ok {
		return nil, fmt.Errorf("there is no agent %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
	}
	if pipelines.TakesCommand(name) && len(a.Command) == 0 {
		return nil, fmt.Errorf(`an agent with use: %q needs command: ["program", "argument", ...]`, name)
	}
	for _, v := range a.Env {
		if why := pipelines.WithheldFromAll(v); why != "" {
			return nil, fmt.Errorf("env: %s: %s", v, why)
		}
	}
	a.Use = name
	var wrong error
	pipelines.WrongTools(a, func(why string, keys ...any) {
		if wrong == nil && keys[0] != "command" {
			wrong = fmt.Errorf("%v: %s", keys[0], why)
		}
	})
	return it, wrong
}

// Probe says whether the program of an agent, its key or login, and what its servers of tools need is there: nil, or an
// *engine.AgentError of class Missing or Auth. A path counts from dir, the top of a work tree. It starts nothing; a key that has to be made first is.
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
	switch from, elsewhere := LoginOf(name, c.opts.Environ); {
	case c.ACP != nil && c.unkeyed() != "":
		return c.fail(metadata.Auth, errors.New(c.unkeyed()))
	case from+elsewhere == "" && len(gate.KeyVariables(name)) > 0:
		return c.fail(metadata.Auth, errors.New("it has neither a key nor a login"))
	}
	return c.makesKey()
}

// unkeyed says what to do where the program is given no key with which the gate can ask a model in its place; "" if it is.
func (c cli) unkeyed() string {
	keys, given := gate.KeptKeys(), slices.Concat(c.Variables, c.agent.Env)
	if slices.ContainsFunc(keys, func(name string) bool { return c.lookup(name) != "" && listed(given, name) }) {
		return ""
	}
	do := "name in its env, and set, "
	if c.use != "acp" {
		do, keys = "set ", slices.DeleteFunc(keys, func(name string) bool { return !listed(given, name) })
	}
	return "it has no key that reprise could keep for it, and a login of its own would go past the proxy, which counts and limits: " + do + strings.Join(keys, " or ")
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
	c := cli{use: name, name: name, program: name, knownProgram: programs()[name], agent: a, opts: opts.withDefaults()}
	for variable, more := range c.Clouds {
		if process.Lookup(c.opts.Environ, variable) != "" {
			c.Variables = slices.Concat(c.Variables, more)
		}
	}
	c.federation = gate.Federate(name, c.opts.Environ, func(secret string) {
		if c.opts.Learn != nil {
			c.opts.Learn(name, []string{secret})
		}
	})
	if name == "acp" { // it may be any of those that are known
		for _, row := range programs() {
			c.Sessions = append(c.Sessions, row.Sessions...)
		}
		c.Variables = gate.BasesOf(a.Env)
	}
	if pipelines.TakesCommand(name) && len(a.Command) > 0 {
		c.program = a.Command[0]
		c.name = filepath.Base(c.program)
	}
	return c
}

// Rehearsal is the agent that needs no program, key or network.
const Rehearsal = "rehearsal"

// Programs names the agent programs that reprise knows by name; one comes before those that are taken in its place.
func Programs() []string { return []string{"claude", "codex", "gemini", "opencode", "qwen", "copilot"} }

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
	// CheckMark, if not empty, is Mark for checks, one of which has the same folder whenever it runs in a copy of that name:
	// tests that look at TMPDIR are in caches then, too.
	CheckMark string
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
	Sandbox   func(Call) (Call, error)
	unchanged bool             // see Unchanged
	box       *sandbox.Sandbox // gives programs homes of their own; nil: they have the user's
	// Learn, if not nil, is told the secrets in the user's logins and settings
	// that a program is about to see, and those of logins that it has renewed.
	Learn func(agent string, secrets []string)
	// Transcript, if not nil, is given each line that a program prints, as it
	// comes: valid UTF-8, at most 1 MB. It is valid only during the call.
	Transcript func(t engine.Task, line []byte)

	// Proxy gives the proxy of the user for an address, or nil, as net/http takes it.
	// If Proxy is nil, no model is asked through one.
	Proxy func(*url.URL) (*url.URL, error)

	// Known is what several runs know of the limits of services; nil: nothing.
	Known *gate.Known

	// Program, if not nil, gives the folder of the tree that a program which is a file of the repository is taken from, or ""
	// where the file is in none that counts.
	Program func(ctx context.Context, file string) (top string, err error)

	// Rehearsal is the agent that needs no program; nil: nobody asks for it.
	Rehearsal engine.Agent
}

// Call is a program about to be started for a task; a check has none.
type Call struct {
	sandbox.Call
	Task engine.Task

	servers servers
	hears   func(gate.API) bool // see passage.Hears
	more    <-chan string       // what the program reads after its standard input; nil: nothing
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
	o.Grace, o.Linger = cmp.Or(o.Grace, 10*time.Second), cmp.Or(o.Linger, 5*time.Second)
	return o
}

//go:embed programs.yaml
var programsFile []byte

// knownProgram is what programs.yaml says of one.
type knownProgram struct {
	Install             string
	Variables, Sessions []string
	Clouds              map[string][]string
	Renewal             renewal
	ACP                 *protocolACP `yaml:"acp"` // nil: it speaks otherwise
}

var programs = sync.OnceValue(func() map[string]knownProgram {
	return text.TableIn(map[string]knownProgram{}, programsFile)
})

// wayOf is what a call's way to its models has to know of it.
func wayOf(c cli, call *Call) gate.Call {
	t := call.Task
	way := gate.Call{
		Agent: c.name, Env: call.Env, Resumed: t.Resume, Turns: t.Turns, USD: t.BudgetUSD, Price: c.price, Proxy: c.opts.Proxy, Network: t.Network, Federation: c.federation, Known: c.opts.Known,
	}
	if c.check != nil {
		way.Agent, way.Federation = "", nil
	}
	if way.Exact = t.Models != nil; way.Exact || t.Model != "" {
		way.Models = slices.Concat(slices.Collect(maps.Values(c.agent.Models)), t.Models)
	}
	if t.Model != "" {
		way.Models = append(way.Models, t.Model)
	}
	for _, f := range logins(c.name, call.User, c.opts.Environ) {
		data, err := os.ReadFile(f.From) // what we cannot read, the program cannot either
		switch filepath.Base(f.From) {
		case "settings.json", "config.toml":
			way.Settings = data
		case "auth.json":
			way.Login = err == nil
		}
	}
	return way
}

// hear adds to what a program said of itself what its service answered it.
func (s *said) hear(c cli, t *gate.Trouble) {
	if t == nil {
		return
	}
	said := fmt.Sprintf("HTTP %d", t.Status)
	err := c.told(said+": "+t.Said, fmt.Errorf("the model's service refused (%s)", said))
	err.RetryAfter = max(t.RetryAfter, err.RetryAfter)
	s.trouble = cmp.Or(s.trouble, err)
	vague := func(c metadata.Class) bool { return c == metadata.Crash || c == metadata.Network }
	switch {
	case s.failed == nil && t.Ends && !s.done:
		s.failed = err
	case s.failed != nil && (vague(s.failed.Class) || s.failed.Class == err.Class): // it did not say why, or not all
		s.failed.Class, s.failed.RetryAfter, s.failed.Hint = err.Class, max(s.failed.RetryAfter, err.RetryAfter), cmp.Or(s.failed.Hint, err.Hint)
	}
}

// prove fails a program that says it has done its work, unless the last that its gate has seen is a good answer.
func (s *said) prove(c cli, last *gate.Trouble) {
	switch {
	case !s.done || s.failed != nil || last == nil:
	case last.Status == 0:
		s.failed = c.fail(metadata.Crash, errors.New("it ended its turn, and had no answer of a model"+process.LastWords(s.result.Text)))
	default:
		why := fmt.Sprintf("HTTP %d", last.Status)
		s.failed = c.told(why+": "+last.Said, fmt.Errorf("the model's service refused (%s): %s", why, process.OneLine(refusalIn(last.Said), 300)))
	}
}

// makeTemp makes the temporary folder of a call in a tree.
func (c cli) makeTemp(tree string) (string, error) {
	o := c.opts
	if c.check != nil && o.CheckMark != "" {
		dir := filepath.Join(cmp.Or(o.Temp, os.TempDir()), o.CheckMark+filepath.Base(tree))
		if os.Mkdir(dir, 0o700) == nil { // else it is somebody's
			return dir, nil
		}
	}
	return os.MkdirTemp(o.Temp, cmp.Or(o.Mark, "reprise-"))
}

// Sweep removes the temporary folders of calls whose process was killed, by Mark. No other process may be calling
// agents with the same mark.
func (o Options) Sweep() {
	dir := cmp.Or(o.Temp, os.TempDir())
	entries, err := os.ReadDir(dir)
	if err != nil {
		return // it is found out when the next one is made
	}
	for _, e := range entries {
		marked := func(mark string) bool { return mark != "" && strings.HasPrefix(e.Name(), mark) }
		if e.IsDir() && (marked(o.Mark) || marked(o.CheckMark)) {
			_ = folders.RemoveAll(filepath.Join(dir, e.Name())) // somebody else's, made to look alike
		}
	}
}

// commonVars are the variables every agent may see. A name may end in "*".
func commonVars() []string {
	return []string{
		"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LANGUAGE", "LC_*", "TZ",
		"HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy",
		// Where programs are that others have installed: rust's, and those of version managers.
		"RUSTUP_HOME", "PYENV_ROOT", "RBENV_ROOT", "NVM_DIR", "VOLTA_HOME", "ASDF_DATA_DIR", "MISE_DATA_DIR",
		"SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE",
	}
}

// environ builds what an agent gets to see: the variables of base that are in
// allowed and not empty, as a secret is that nobody has stored, and those of set, which win.
func environ(base, allowed []string, set map[string]string) (env []string) {
	for _, kv := range base {
		name, value, _ := strings.Cut(kv, "=")
		if _, mine := set[name]; mine || value == "" || pipelines.WithheldFromAll(name) != "" || !listed(allowed, name) {
			continue
		}
		env = append(env, kv)
	}
	for name, value := range set {
		env = append(env, name+"="+value)
	}
	slices.Sort(env)
	return env
}

func listed(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, _ := path.Match(p, name)
		return ok
	})
}
