package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// claude is Claude Code.
type claude struct{ cli }

// claudeSubmit is what the program calls the tool by which it gives its answer.
const claudeSubmit = "mcp__" + pipelines.Hands + "__" + handsSubmit

// Run carries out one task with Claude Code.
func (a claude) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &claudeStream{said: said{cli: a.cli, task: t}}
	s.result.Session = t.Session
	a.opts.Transcript = withoutPieces(a.opts.Transcript)
	return a.run(ctx, t, &s.said, func(c *Call) (string, error) { s.servers = c.servers; return a.prepare(c) }, s.line)
}

// withoutPieces keeps lines, and not those with a piece of an answer, which comes as a whole
// afterwards: they would make a log many times as long.
func withoutPieces(keep func(engine.Task, []byte)) func(engine.Task, []byte) {
	if keep == nil {
		return nil
	}
	return func(t engine.Task, line []byte) {
		var e struct{ Type string }
		if !bytes.Contains(line, []byte("stream_event")) || !decode(line, &e) || e.Type != "stream_event" {
			keep(t, line)
		}
	}
}

func (a claude) prepare(c *Call) (string, error) {
	t := c.Task
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose",
		// The repository's own .claude settings are a program somebody else
		// wrote: its hooks would run before anything is asked.
		"--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands",
		"--permission-mode", "dontAsk",
	}
	if c.hears != nil && !c.hears(gate.Anthropic) {
		args = append(args, "--include-partial-messages") // else a long answer would be a long silence
	}
	args = append(args, a.claudeChoice(c)...)
	option := func(name, value string, given bool) {
		if given {
			args = append(args, name, value)
		}
	}
	option("--model", t.Model, t.Model != "")
	option("--max-turns", strconv.Itoa(t.Turns), t.Turns > 0)
	option("--max-budget-usd", strconv.FormatFloat(t.BudgetUSD, 'f', -1, 64), t.BudgetUSD > 0)
	option("--resume", t.Session, t.Session != "" && t.Resume)
	option("--session-id", t.Session, t.Session != "" && !t.Resume)
	effort := cmp.Or(t.Effort, a.agent.Effort)
	option("--effort", effort, effort != "")
	args = append(args, a.agent.Args...)
	if err := uuid.Validate(t.Session); t.Session != "" && err != nil {
		return "", fmt.Errorf("session %q: Claude Code takes only a UUID: %w", t.Session, err)
	}
	c.Argv = append(c.Argv, args...)
	if err := claudeServers(c); err != nil {
		return "", err
	}
	for name, value := range map[string]string{
		// Commits between two calls would change the prompt of a resumed
		// session, and it would be paid for anew.
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS":     "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS":     "1",
		// Else "@/some/file" in the text of an issue brings in that file, from
		// anywhere, whatever the tools may read.
		"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
		"DISABLE_AUTOUPDATER":             "1",
		"CLAUDE_CODE_TMPDIR":              c.Temp, // else it is a folder all calls share
	} {
		c.Env = process.SetVar(c.Env, name, value)
	}
	c.claudePatience()
	if strings.HasPrefix(t.Prompt, "/") {
		return "\n" + t.Prompt, nil // at the very start it would be taken for a command of the program
	}
	return t.Prompt, nil
}

// claudePatience has the program cut a command that takes almost as long as it may be silent, and go on: else all its
// work would end. What it gives any command it takes for the least (2.1.197).
func (c *Call) claudePatience() {
	longest := c.patience()
	if longest <= 0 {
		return
	}
	c.Env = process.SetVar(c.Env, "BASH_MAX_TIMEOUT_MS", strconv.FormatInt(longest, 10))
	const usual, name = 120_000, "BASH_DEFAULT_TIMEOUT_MS"
	given, err := strconv.ParseInt(process.Lookup(c.Env, name), 10, 64)
	if err != nil || given <= 0 {
		given = usual
	}
	if given > longest {
		c.Env = process.SetVar(c.Env, name, strconv.FormatInt(longest, 10))
	}
}

// claudeTools lists the tools that exist at all for an access level. None of
// them reaches the network.
func claudeTools(a pipelines.Access) []string {
	return map[pipelines.Access][]string{
		pipelines.AccessTree:      {"Read", "Glob", "Grep", "Write", "Edit", "Bash"},
		pipelines.AccessArtifacts: {"Read", "Glob", "Grep", "Write", "Edit"},
		pipelines.AccessRead:      {"Read", "Glob", "Grep"},
	}[a]
}

// claudeChoice says which tools there are, and what they may do without being asked; all
// else is refused. Reading within the work tree needs no rule.
func (a claude) claudeChoice(c *Call) []string {
	t := c.Task
	own := a.agent.Tools.And(t.Tools).Own(claudeTools(t.Access))
	allow := []string{}
	switch {
	case t.Access == pipelines.AccessTree:
		allow = below(t.Dir)
		if slices.Contains(own, "Bash") {
			allow = append(allow, "Bash")
		}
		allow = append(allow, "Read")
	case t.Access == pipelines.AccessArtifacts && t.Artifact != "":
		allow = below(filepath.Dir(t.Artifact))
	}
	for _, file := range t.Images {
		allow = append(allow, "Read(/"+filepath.ToSlash(file)+")")
	}
	more, deny := c.servers.claudeRules()
	rules := map[string]any{"allow": append(allow, more...)}
	if len(deny) > 0 {
		rules["deny"] = deny
	}
	settings, _ := json.Marshal(map[string]any{"permissions": rules}) // strings only
	return []string{"--tools", strings.Join(own, ","), "--settings", string(settings)}
}

// claudeServers tells the program of the servers of tools, if there are any.
func claudeServers(c *Call) error {
	if len(c.servers) == 0 {
		return nil
	}
	config, err := c.servers.claudeConfig()
	if err != nil {
		return err
	}
	file := filepath.Join(c.Temp, "mcp.json")
	if err := os.WriteFile(file, config, 0o600); err != nil {
		return err
	}
	c.Argv = append(c.Argv, "--mcp-config", file)
	c.Env = process.SetVar(c.Env, "MCP_TIMEOUT", "60000") // some are fetched when they are first started
	c.Env = process.SetVar(c.Env, "MCP_TOOL_TIMEOUT", strconv.FormatInt(c.patience(), 10))
	if c.servers.hands() { // else it may hide the tool among those that it searches for
		c.Env = process.SetVar(c.Env, "ENABLE_TOOL_SEARCH", "false")
	}
	return nil
}

// below gives the rules that let files below a folder be written. The program
// asks for a rule for the path as it is named and for where links lead.
func below(dir string) (rules []string) {
	dirs := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		dirs = append(dirs, real)
	}
	for _, d := range dirs {
		rules = append(rules, "Edit(/"+filepath.ToSlash(d)+"/**)")
	}
	return rules
}

// claudeStream reads the events of Claude Code.
type claudeStream struct {
	said
	servers servers
	message string         // the newest one, by its id
	earlier metadata.Usage // of the messages before it
	word    string         // for the newest error, as the program names it
	delay   time.Duration  // as the service asked
}

// line takes one line of the stream. What is no event is left out.
func (s *claudeStream) line(data []byte) process.Reaction {
	var e claudeEvent
	if !decode(data, &e) {
		return process.GoOn
	}
	switch {
	case e.Type == "system" && e.Subtype == "init":
		s.result.Session, s.result.Model = sessionOf(e.Session, s.result.Session), wordFrom(e.Model)
		s.hearServers(e)
		s.notify("")
	case e.Type == "system" && e.Subtype == "api_retry":
		return s.retry(e)
	case e.Type == "assistant":
		return s.assistant(e)
	case e.Type == "user" && len(e.Message.Content) > 0:
		return s.came(string(e.Message.Content[0].Content))
	case e.Type == "result":
		return s.end(e)
	}
	return process.GoOn
}

// hearServers hears which servers of tools are there. One that is still awaited may yet come.
func (s *claudeStream) hearServers(e claudeEvent) {
	for _, ours := range s.servers {
		for _, told := range e.Servers {
			if why := s.servers.unserved(ours.name, ""); told.Name == ours.name && told.Status != "connected" && told.Status != "pending" && !slices.Contains(s.result.Warnings, why) {
				s.result.Warnings = append(s.result.Warnings, why)
			}
		}
	}
}

// retry hears that the program tries again, as it would for minutes with a wrong key.
func (s *claudeStream) retry(e claudeEvent) process.Reaction {
	s.word = wordOf(e.Word)
	err := s.fault(e.Status, "", fmt.Sprintf("the model's service refused (%s)", describe(e.Status, s.word)))
	if err.Class == metadata.Auth {
		s.failed = err
		return process.GiveUp
	}
	if s.delay = delayOf(e.DelayMS / 1000); err.Class == metadata.RateLimited {
		err.RetryAfter = s.delay
	}
	s.trouble = err
	if err.Class == metadata.RateLimited && s.delay >= gate.Patience && s.result.Usage.Turns == 0 {
		s.failed = err // nothing is lost yet, and somebody else may have room
		return process.GiveUp
	}
	return process.GoOn
}

func (s *claudeStream) assistant(e claudeEvent) (then process.Reaction) {
	if s.word = wordOf(e.Word); s.word == "" {
		s.trouble = nil // it got over it
		s.count(wordFrom(e.Message.ID), e.Message.Usage)
	}
	s.result.Usage, _ = s.cli.priced(cmp.Or(wordFrom(e.Message.Model), s.result.Model), s.result.Usage)
	for _, b := range e.Message.Content {
		switch {
		case b.Type == "text":
			s.result.Text = b.Text
			s.notify(b.Text)
		case b.Type == "tool_use" && b.Name != claudeSubmit: // that one is the answer
			s.result.ToolCalls++
			s.notify(b.Name + " " + target(b.Input, s.task.Dir))
			then = max(then, s.uses(b.Name+" "+string(b.Input)))
		}
	}
	return then
}

// count takes the usage of a message, which comes with each part of it, and
// adds up what is used so far.
func (s *claudeStream) count(id string, u claudeUsage) {
	if id != s.message || s.result.Usage.Turns == 0 {
		s.message, s.earlier = id, s.result.Usage
	}
	s.result.Usage = s.earlier
	s.result.Usage.Turns++
	s.add(u)
	s.result.Usage = sane(s.result.Usage)
}

func (s *claudeStream) add(u claudeUsage) {
	s.result.Usage.InputTokens += tokens(u.Input) + tokens(u.CacheCreation)
	s.result.Usage.CachedTokens += tokens(u.CacheRead)
	s.result.Usage.OutputTokens += tokens(u.Output)
}

// end takes the result. Its subtype says "success" even where the service
// refused: is_error has the last word.
func (s *claudeStream) end(e claudeEvent) process.Reaction {
	r := &s.result
	r.Session, r.Text = sessionOf(e.Session, r.Session), e.Result
	for _, d := range e.Denials {
		s.deny(d.Tool)
	}
	s.takeUsage(e)
	switch {
	case e.Subtype == "success" && e.IsError:
		s.failed = s.fault(e.APIStatus, e.Result, cmp.Or(process.OneLine(e.Result, 300), describe(e.APIStatus, s.word)))
		if s.failed.Class == metadata.RateLimited {
			s.failed.RetryAfter = max(s.failed.RetryAfter, s.delay)
		}
		return process.Done
	case e.Subtype == "success":
	case e.Subtype == "error_max_turns":
		r.Limit = "turns"
	case e.Subtype == "error_max_budget_usd":
		r.Limit = "budget"
	case s.task.Resume && e.Turns == 0:
		s.failed = s.cli.gone(s.task.Session)
		return process.Done
	default:
		why := strings.Join(e.Errors, "; ")
		s.failed = s.fault(0, why, fmt.Sprintf("it stopped with %s: %s", wordFrom(e.Subtype), process.OneLine(why, 300)))
		return process.Done
	}
	s.done = true
	return process.Done
}

// takeUsage takes the program's own figures. Where a limit ended it, the usage is
// zero and only the figures by model are right.
func (s *claudeStream) takeUsage(e claudeEvent) {
	defer func() { s.result.Usage = sane(s.result.Usage) }()
	if e.USD == 0 && e.Usage == (claudeUsage{}) && len(e.ModelUsage) == 0 {
		s.result.Usage.Turns = e.Turns
		return // nothing was billed, or nothing is told: what was seen counts
	}
	s.result.Usage = metadata.Usage{Turns: e.Turns, USD: e.USD}
	s.add(e.Usage)
	for _, m := range e.ModelUsage {
		if e.Usage == (claudeUsage{}) {
			s.add(claudeUsage(m))
		}
	}
	// Newer versions tell what the whole session has cost (2.1.332).
	likely, _ := s.cli.priced(s.result.Model, s.result.Usage)
	if call := e.USD - s.task.SpentUSD; call >= 0 && math.Abs(call-likely.USD) < math.Abs(e.USD-likely.USD) {
		s.result.Usage.USD = call
	}
}

// fault is the error of a call that ended with a status and words. Why says it for people.
func (s *claudeStream) fault(status int, said, why string) *engine.AgentError {
	return s.cli.told(fmt.Sprintf("HTTP %d, %s: %s", status, s.word, said), errors.New(why))
}

// wordOf reads a word that may be missing, or an object.
func wordOf(raw json.RawMessage) (word string) {
	decode(raw, &word)
	return wordFrom(word)
}

// describe names an answer of the service.
func describe(status int, word string) string {
	switch {
	case status == 0 && (word == "" || word == "unknown"):
		return "no answer"
	case status == 0:
		return word
	case word == "":
		return fmt.Sprintf("HTTP %d", status)
	}
	return fmt.Sprintf("HTTP %d, %s", status, word)
}
