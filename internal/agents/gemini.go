package agents

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// gemini is Google's Gemini CLI.
type gemini struct{ cli }

// Run carries out one task.
func (a gemini) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &geminiStream{said: said{cli: a.cli, task: t}}
	s.result.Session = t.Session
	return a.run(ctx, t, &s.said, a.prepare, s.line)
}

func (a gemini) prepare(c *Call) (string, error) {
	t := c.Task
	// Without trust in the folder it does no work. What it then takes over from the
	// tree, .env among it, protection.Instructs has brought back to the base before:
	// its own --ignore-env is refused by its parser of arguments (0.61.0).
	mode := map[pipelines.Access]string{pipelines.AccessTree: "yolo", pipelines.AccessRun: "yolo", pipelines.AccessArtifacts: "auto_edit"}[t.Access]
	if c.servers.hands() {
		mode = cmp.Or(mode, "default") // "plan" hides them
		if err := c.geminiHands(); err != nil {
			return "", err
		}
	}
	c.Argv = append(c.Argv, "--output-format", "stream-json", "--skip-trust", "--approval-mode", cmp.Or(mode, "plan"))
	if len(t.Images) > 0 { // all lie in one folder, which is outside of its own
		c.Argv = append(c.Argv, "--include-directories", filepath.Dir(t.Images[0]))
	}
	if t.Model != "" {
		c.Argv = append(c.Argv, "--model", t.Model)
	}
	if t.Session != "" {
		if err := uuid.Validate(t.Session); err != nil {
			return "", fmt.Errorf("session %q: Gemini takes only a UUID: %w", t.Session, err)
		}
		option := "--session-id"
		if t.Resume {
			option = "--resume"
		}
		c.Argv = append(c.Argv, option, t.Session)
	}
	return t.Prompt, nil
}

// geminiHands tells Gemini of the hands, and leaves one that may not write no more than to read, by the settings in its own
// home.
func (c *Call) geminiHands() error {
	root, err := os.OpenRoot(c.Home)
	if err != nil {
		return err
	}
	defer root.Close() // what is written is closed by then
	const file = ".gemini/settings.json"
	settings, hands := map[string]any{}, c.servers[len(c.servers)-1]
	if data, err := root.ReadFile(file); err == nil {
		err = json.Unmarshal(data, &settings)
		if err != nil || settings == nil {
			return fmt.Errorf("~/%s has to be an object of JSON without comments, as reprise adds to it what a call needs: %w", file, cmp.Or(err, io.EOF))
		}
	}
	servers, _ := settings["mcpServers"].(map[string]any)
	if servers == nil || !c.Access.Writes() {
		servers = map[string]any{}
	}
	if !c.Access.Writes() {
		core := []string{"read_file", "read_many_files", "list_directory", "glob", "grep_search"}
		for _, tool := range hands.allow {
			core = append(core, "mcp_"+hands.name+"_"+tool)
		}
		settings["tools"] = map[string]any{"core": core}
	}
	settings["mcpServers"] = servers
	servers[hands.name] = map[string]any{
		"type": "http", "url": hands.address, "headers": map[string]string{"Authorization": "Bearer " + hands.key}, "trust": true,
		"timeout": cmp.Or(c.patience(), c.Task.Timeout.Milliseconds()), "includeTools": hands.allow,
	}
	data, err := json.Marshal(settings)
	return errors.Join(err, root.MkdirAll(".gemini", 0o700), root.RemoveAll(file), root.WriteFile(file, data, 0o600))
}

// geminiStream reads the events of Gemini.
type geminiStream struct {
	said
	text agentWords // what it said since the last tool
}

// geminiTells reports whether a tool only tells of the program's own work. A review that used no other has looked at
// nothing.
func geminiTells(tool string) bool {
	switch tool {
	case "update_topic", "write_todos", "enter_plan_mode", "exit_plan_mode", "complete_task", "mcp_" + pipelines.Hands + "_" + handsSubmit:
		return true
	}
	return strings.HasPrefix(tool, "tracker_")
}

// line takes one line of the stream. What is no event is left out.
func (s *geminiStream) line(data []byte) process.Reaction {
	var e geminiEvent
	if !decode(data, &e) {
		return process.GoOn
	}
	switch {
	case e.Type == "init":
		s.result.Session, s.result.Model = sessionOf(e.Session, s.result.Session), wordFrom(e.Model)
		s.notify("")
	case e.Type == "message" && e.Role == "assistant":
		if !e.Delta {
			s.text.Reset()
		}
		s.text.add(e.Content)
		s.result.Text = s.text.String()
		s.notify(e.Content)
	case e.Type == "tool_use":
		if !geminiTells(e.Tool) {
			s.result.ToolCalls++
		}
		s.text.Reset()
		s.result.Text = "" // last words are those after the last tool
		s.notify(e.Tool + " " + target(e.Parameters, s.task.Dir))
		return s.uses(e.Tool + " " + string(e.Parameters))
	case e.Type == "tool_result" && e.Status != "error":
		return s.came(e.Output)
	case e.Type == "tool_result" && (e.Error.Type == "tool_not_registered" || e.Error.Type == "policy_violation"):
		if tool, _, _ := strings.Cut(e.ToolID, "__"); !geminiTells(tool) {
			s.deny(tool)
		}
	case e.Type == "error": // after which it may call its end a success
		if err := s.cli.told(e.Message, errors.New(process.OneLine(e.Message, 300))); err.Class == metadata.Session {
			s.failed = err
		}
	case e.Type == "result":
		return s.end(e)
	}
	return process.GoOn
}

func (s *geminiStream) end(e geminiEvent) process.Reaction {
	u := metadata.Usage{InputTokens: max(0, tokens(e.Stats.Input)-tokens(e.Stats.Cached)), CachedTokens: e.Stats.Cached, OutputTokens: e.Stats.Output}
	var warning []string
	s.result.Usage, warning = s.cli.priced(s.result.Model, u)
	s.result.Warnings = append(s.result.Warnings, warning...)
	switch {
	case s.failed != nil:
	case e.Status == "success":
		s.done = true
	default:
		s.failed = s.cli.told(e.Error.Message, errors.New(process.OneLine(refusalIn(e.Error.Message), 300)))
	}
	return process.Done
}

// chosenKey gives settings in which Gemini uses a key, unless they choose another way: by itself it takes the gate for
// a way to log in, and refuses that (0.61.0).
func chosenKey(settings []byte) []byte {
	all := map[string]any{}
	if len(bytes.TrimSpace(settings)) > 0 && json.Unmarshal(settings, &all) != nil || gate.GeminiChooses(settings) || all == nil {
		return settings
	}
	below := func(in map[string]any, name string) map[string]any {
		out, ok := in[name].(map[string]any)
		if !ok {
			out = map[string]any{}
			in[name] = out
		}
		return out
	}
	below(below(all, "security"), "auth")["selectedType"] = "gemini-api-key"
	out, err := json.Marshal(all)
	if err != nil {
		return settings // unreachable: it was JSON before
	}
	return out
}
