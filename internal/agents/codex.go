package agents

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// codex is OpenAI's Codex.
type codex struct{ cli }

// Run carries out one task.
func (a codex) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &codexStream{said: said{cli: a.cli, task: t}}
	s.result.Model = t.Model
	s.over = func(code int) {
		if code != 0 && t.Resume && s.thread == "" {
			s.failed = a.gone(t.Session)
		}
	}
	s.complete = s.addUsage
	return a.run(ctx, t, &s.said, func(c *Call) (string, error) { return a.prepare(c, s) }, s.line)
}

func (a codex) prepare(c *Call, s *codexStream) (string, error) {
	t := c.Task
	s.home = cmp.Or(process.Lookup(c.Env, "CODEX_HOME"), filepath.Join(c.Home, ".codex"))
	if t.Resume {
		s.before = readRollout(s.home, t.Session).usage
	}
	dir := t.Dir
	if c.servers.shell() { // it reads by that, and its own git might run a filter that the tree names
		if dir = filepath.Join(c.Temp, "empty"); os.Mkdir(dir, 0o700) != nil {
			return "", fmt.Errorf("making an empty folder: %s is there", dir)
		}
	}
	c.Argv = append(c.Argv, "exec", "--json", "--color", "never", "--skip-git-repo-check", "-C", dir)
	if t.Model != "" {
		c.Argv = append(c.Argv, "-m", t.Model)
	}
	c.Argv = append(c.Argv, codexSandbox(t, a.opts.Contained, c.servers.shell())...)
	settings := []string{
		`web_search="disabled"`,
		// A repository's own .codex folder is a program somebody else wrote.
		fmt.Sprintf(`projects={%s={trust_level="untrusted"}}`, tomlString(dir)),
		// A login shell would have the PATH of the system in place of ours, and so none of the
		// programs that a job has installed.
		"allow_login_shell=false",
		// What the model runs needs no key of the model.
		`shell_environment_policy.exclude=["OPENAI_API_KEY","CODEX_API_KEY"]`,
	}
	if c.servers.hands() { // else newer models have to search for them, or call them by JavaScript
		settings = append(settings, `features.code_mode={direct_only_tool_namespaces=["mcp__`+pipelines.Hands+`"]}`)
	}
	if longest := max(c.patience(), codexLeastWait); c.Task.Idle > 0 && longest < codexLongestWait {
		settings = append(settings, fmt.Sprintf("background_terminal_max_timeout=%d", longest))
	}
	if url := process.Lookup(c.Env, "OPENAI_BASE_URL"); url != "" { // the program itself ignores the variable
		settings = append(settings, "openai_base_url="+tomlString(url))
	}
	if effort := cmp.Or(t.Effort, a.agent.Effort); effort != "" {
		if effort == "max" { // said for a phase, and not for Codex
			effort = "xhigh"
		}
		settings = append(settings, "model_reasoning_effort="+tomlString(effort))
	}
	if key := c.servers.key(); key != "" {
		c.Env = process.SetVar(c.Env, serverKey, key)
	}
	for _, setting := range append(settings, c.servers.codexSettings(c.patience())...) {
		c.Argv = append(c.Argv, "-c", setting)
	}
	if key := process.Lookup(c.Env, "OPENAI_API_KEY"); key != "" && process.Lookup(c.Env, "CODEX_API_KEY") == "" && !exists(filepath.Join(s.home, "auth.json")) {
		c.Env = process.SetVar(c.Env, "CODEX_API_KEY", key) // the one it reads when it runs without a person
	}
	c.Argv = append(c.Argv, a.agent.Args...)
	for _, file := range t.Images {
		// A resumed session has the images already. Codex splits the option at commas.
		if !t.Resume && !strings.Contains(file, ",") {
			c.Argv = append(c.Argv, "--image="+file)
		}
	}
	if t.Resume && t.Session != "" {
		if !sessionForm().MatchString(t.Session) {
			return "", a.gone(t.Session)
		}
		c.Argv = append(c.Argv, "resume", t.Session)
	}
	c.Argv = append(c.Argv, "-")
	return t.Prompt, nil
}

// How long Codex waits for a command that goes on, in milliseconds: at most as long as we let it be silent (0.169.0).
const (
	codexLeastWait   = 5_000
	codexLongestWait = 300_000
)

// codexSandbox says what commands of the model may write, and keeps them from the network, unless something stronger is
// around reprise.
func codexSandbox(t engine.Task, contained, byHands bool) []string {
	switch {
	case byHands:
		return append([]string{"--sandbox", "read-only"}, handsAlone...)
	case t.Access == pipelines.AccessNone:
		return []string{"--sandbox", "read-only", "--disable", "shell_tool"}
	case contained:
		return []string{"--sandbox", "danger-full-access"}
	case t.Access == pipelines.AccessTree: // in the folder of -C
		return []string{"--sandbox", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"}
	case t.Access == pipelines.AccessArtifacts && t.Artifact != "":
		files := fmt.Sprintf(`permissions.reprise.filesystem={":root"="read",":tmpdir"="write",%s="write"}`, tomlString(filepath.Dir(t.Artifact)))
		return []string{"-c", `default_permissions="reprise"`, "-c", files}
	}
	return []string{"--sandbox", "read-only"}
}

// handsAlone takes everything from Codex by which it could run something, or ask somebody else (0.169.0, 0.171.0).
var handsAlone = []string{
	"--disable", "shell_tool", "-c", "agents.enabled=false",
	"-c", "features.goals=false", "-c", "features.multi_agent=false", "-c", "features.view_image=false", "-c", "features.apps=false",
	"-c", "features.plugins=false", "-c", "features.sleep_tool=false", "-c", "features.hooks=false", "-c", "features.skill_search=false",
	"-c", "features.tool_suggest=false", "-c", "features.shell_snapshot=false", "-c", "features.image_generation=false",
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

// codexStream reads the events of Codex.
type codexStream struct {
	said
	home   string
	thread string      // its session
	before codexUsage  // what the session had used before this call
	total  *codexUsage // what it has used now
	silent int         // times in a row that the network was not there
}

// line takes one line of the stream. What is no event is left out.
func (s *codexStream) line(data []byte) process.Reaction {
	var e codexEvent
	if !decode(data, &e) {
		return process.GoOn
	}
	switch e.Type {
	case "thread.started":
		s.thread = sessionOf(e.Thread, s.thread)
		s.result.Session = s.thread
		s.notify("")
	case "item.started", "item.completed":
		return s.item(e)
	case "error":
		return s.fault(e.Message)
	case "turn.failed":
		s.fault(e.Error.Message)
		s.failed = s.trouble
		return process.Done
	case "turn.completed":
		s.total, s.done, s.trouble = &e.Usage, true, nil
		return process.Done
	}
	return process.GoOn
}

func (s *codexStream) item(e codexEvent) process.Reaction {
	did := ""
	switch e.Item.Type {
	case "agent_message":
		did = e.Item.Text
		s.result.Text = e.Item.Text
	case "command_execution":
		did = e.Item.Command
	case "file_change":
		did = "edit"
		for _, c := range e.Item.Changes {
			did += " " + within(c.Path, s.task.Dir)
		}
	case "mcp_tool_call":
		did = e.Item.Server + " " + e.Item.Tool + " " + target(e.Item.Arguments, s.task.Dir)
	case "web_search":
		did = "search " + e.Item.Query
	default:
		return process.GoOn
	}
	s.trouble, s.silent = nil, 0 // it got over it
	switch {
	case e.Type == "item.started":
		s.notify(did)
	case e.Item.Type == "agent_message":
		s.notify(did)
	default:
		if e.Item.Server != pipelines.Hands || e.Item.Tool != handsSubmit { // that one is the answer
			s.result.ToolCalls++
		}
		if e.Item.Status == "declined" {
			s.deny(e.Item.Type)
		}
		if e.Item.Type != "file_change" { // whose text it does not tell
			return max(s.came(e.Item.Output), s.uses(did+" "+string(e.Item.Arguments)))
		}
	}
	return process.GoOn
}

// maxSilent is how often in a row the program may report that there is no
// network. It would wait for it for ever.
const maxSilent = 4

// fault hears of an error that the program may yet get over.
func (s *codexStream) fault(message string) process.Reaction {
	s.trouble = s.cli.told(message, errors.New(process.OneLine(refusalIn(message), 300)))
	switch {
	case s.trouble.Class == metadata.Auth:
		s.failed = s.trouble
		return process.GiveUp
	case strings.HasPrefix(message, "Reconnecting... waiting for network"):
		if s.silent++; s.silent >= maxSilent {
			s.failed = s.trouble
			return process.GiveUp
		}
	}
	return process.GoOn
}

// rollout is what the program's own record of a session knows.
type rollout struct {
	usage codexUsage
	model string
	found bool
}

// maxRollout is more than the record of any session has, in bytes. Of more the
// beginning counts.
const maxRollout = 1 << 30

// readRollout reads the program's record of a session. It alone names the
// model, and the usage of a call that did not come to its end.
func readRollout(home, session string) (r rollout) {
	if session == "" || strings.ContainsAny(session, `*?[\/`) {
		return r
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return r
	}
	defer root.Close() // opened for reading
	last := ""
	_ = folders.Walk(root, "sessions", func(name string, _ fs.DirEntry, err error) error { // the visits fail nowhere
		if ok, _ := path.Match("sessions/*/*/*/rollout-*"+session+".jsonl", name); ok && err == nil {
			last = name
		}
		return nil
	})
	f, _, err := folders.Open(root, last) // the program may have put anything there
	if err != nil {
		return r
	}
	defer f.Close() // opened for reading
	r.found = true
	process.EachLine(io.LimitReader(f, maxRollout), func(line []byte) {
		var e struct {
			Type    string
			Payload struct {
				Type, Model string
				Info        struct {
					Total codexUsage `json:"total_token_usage"`
				}
			}
		}
		switch decode(line, &e); {
		case e.Type == "turn_context" && e.Payload.Model != "":
			r.model = wordFrom(e.Payload.Model)
		case e.Type == "event_msg" && e.Payload.Type == "token_count" && e.Payload.Info.Total != codexUsage{}:
			total := e.Payload.Info.Total
			r.usage = codexUsage{tokens(total.Input), tokens(total.Cached), tokens(total.Output)}
		}
	})
	return r
}

// addUsage fills in what the call used and what that costs.
func (s *codexStream) addUsage(r *engine.Result) {
	if s.thread == "" {
		return // nothing was asked of the service
	}
	record := readRollout(s.home, s.thread)
	r.Model = cmp.Or(record.model, r.Model)
	now := record.usage
	if s.total != nil {
		now = *s.total
	}
	if s.task.Resume && s.before == (codexUsage{}) && now != (codexUsage{}) {
		r.Warnings = append(r.Warnings, "codex counts the usage of a whole session, and its record of this one was not found: what earlier calls used may be counted twice")
	}
	now.Input, now.Cached, now.Output = tokens(now.Input), tokens(now.Cached), tokens(now.Output)
	used := codexUsage{now.Input - s.before.Input, now.Cached - s.before.Cached, now.Output - s.before.Output}
	u := metadata.Usage{InputTokens: max(0, used.Input-used.Cached), CachedTokens: max(0, used.Cached), OutputTokens: max(0, used.Output)}
	if s.done {
		u.Turns = 1
	}
	var warning []string
	r.Usage, warning = s.cli.priced(r.Model, u)
	r.Warnings = append(r.Warnings, warning...)
}
