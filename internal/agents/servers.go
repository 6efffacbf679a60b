package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// server is a server of tools as the program of an agent is told of it.
type server struct {
	name        string
	launch      string // a script that becomes the server; "": it is asked over HTTP
	said        string // the file that has what it has printed as errors
	ended       string // the file that has its exit status, once it has ended; "": it is not known
	address     string // at the gate
	key         string // to show there
	allow, deny []string
}

// servers are those of a call.
type servers []server

// serverKey is the variable with the key for servers that are asked over HTTP.
const serverKey = "REPRISE_MCP_KEY"

// unserved says that a server of tools was not there, and why if that is known, with the
// last that it has printed as an error.
func (all servers) unserved(name, why string) string {
	text := fmt.Sprintf("the MCP server %s did not start, so its tools were not there", name)
	if why != "" {
		text = fmt.Sprintf("the MCP server %s %s", name, why)
	}
	for _, s := range all {
		if s.name == name && s.said != "" {
			text += process.LastWords(endOf(s.said))
		}
	}
	return text
}

// failed says which servers have ended by themselves, and badly.
func (all servers) failed() (out []string) {
	for _, s := range all {
		if s.ended == "" {
			continue
		}
		code, err := strconv.Atoi(strings.TrimSpace(endOf(s.ended))) // from 128 on, somebody has ended it
		if err == nil && code > 0 && code < 128 {
			out = append(out, all.unserved(s.name, fmt.Sprintf("ended with exit status %d", code)))
		}
	}
	return out
}

// endOf gives the end of a file in the folder mcp of a call's temporary folder, or
// nothing. The agent could have put something else in its place.
func endOf(file string) string {
	const most = 4000
	root, err := os.OpenRoot(filepath.Dir(filepath.Dir(file)))
	if err != nil {
		return ""
	}
	defer root.Close() // opened for reading
	f, info, err := folders.Open(root, filepath.Join("mcp", filepath.Base(file)))
	if err != nil {
		return "" // there is none if the server was never started, or works
	}
	defer f.Close() // opened for reading
	data, _ := io.ReadAll(io.NewSectionReader(f, max(0, info.Size()-most), most))
	return string(data)
}

// claudeConfig is what tells Claude Code of them. It goes into a file, since a key is in it.
func (all servers) claudeConfig() ([]byte, error) {
	config := map[string]any{}
	for _, s := range all {
		if s.launch != "" {
			config[s.name] = map[string]any{"type": "stdio", "command": "/bin/sh", "args": []string{s.launch}}
			continue
		}
		of := map[string]any{"type": "http", "url": s.address, "headers": map[string]string{"Authorization": "Bearer " + s.key}}
		if s.name == pipelines.Hands {
			of["alwaysLoad"] = true
		}
		config[s.name] = of
	}
	return json.Marshal(map[string]any{"mcpServers": config})
}

// hands reports whether the program has hands, whose server is the last, and shell whether it runs commands by them alone.
func (all servers) hands() bool { return len(all) > 0 && all[len(all)-1].name == pipelines.Hands }

func (all servers) shell() bool { return all.hands() && all[len(all)-1].allow[0] == handsRun }

// claudeRules says which tools of servers may be used without being asked, and which not.
func (all servers) claudeRules() (allow, deny []string) {
	for _, s := range all {
		of := "mcp__" + s.name
		if len(s.allow) == 0 {
			allow = append(allow, of)
		}
		for _, tool := range s.allow {
			allow = append(allow, of+"__"+tool)
		}
		for _, tool := range s.deny {
			deny = append(deny, of+"__"+tool)
		}
	}
	return allow, deny
}

// codexSettings configures Codex with the servers. A call of a tool may take patience,
// in milliseconds.
func (all servers) codexSettings(patience int64) (settings []string) {
	for _, s := range all {
		set := func(name string, value any) {
			settings = append(settings, fmt.Sprintf("mcp_servers.%s.%s=%s", s.name, name, tomlValue(value)))
		}
		if s.launch != "" {
			set("command", "/bin/sh")
			set("args", []string{s.launch})
		} else {
			set("url", s.address)
			set("bearer_token_env_var", serverKey)
		}
		if s.name == pipelines.Hands {
			set("required", true)
		}
		set("startup_timeout_sec", 60) // some are fetched when they are first started
		set("tool_timeout_sec", max(1, patience/1000))
		set("default_tools_approval_mode", "approve") // nobody is there to be asked
		if len(s.allow) > 0 {
			set("enabled_tools", s.allow)
		}
		if len(s.deny) > 0 {
			set("disabled_tools", s.deny)
		}
	}
	return settings
}

// key is what those that are asked over HTTP want to be shown; "" if there are none.
func (all servers) key() string {
	for _, s := range all {
		if s.key != "" {
			return s.key
		}
	}
	return ""
}

// tomlValue writes a text, a number or a list of texts as TOML, which reads them as JSON
// has them.
func tomlValue(v any) string {
	switch v := v.(type) {
	case string:
		return tomlString(v)
	case []string:
		var all []string
		for _, one := range v {
			all = append(all, tomlString(one))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	return fmt.Sprint(v)
}

// tomlString quotes a string; what JSON escapes, TOML reads.
func tomlString(s string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	return strings.TrimSpace(b.String())
}

// outfit makes the servers of tools ready that an agent is given.
type outfit struct {
	cli
	dir string // the top of a work tree, from which paths count that are not absolute
	set pipelines.ToolSet
}

// within leaves out what a further choice among the tools leaves out.
func (o outfit) within(c pipelines.ToolChoice) outfit {
	o.set.Tools = o.set.Tools.And(c)
	return o
}

// lacks says what keeps a server from being started or asked: an error of class Missing,
// or nil.
func (o outfit) lacks() error {
	for _, name := range o.set.Serves() {
		s := o.set.MCP[name]
		texts := slices.Concat(slices.Collect(maps.Values(s.Env)), slices.Collect(maps.Values(s.Headers)))
		slices.Sort(texts)
		for _, text := range texts {
			if from := pipelines.VariableIn(text); from != "" && o.lookup(from) == "" {
				return o.unserved(name, fmt.Errorf("it needs the variable %s, which is not set", from))
			}
		}
		if s.Command == "" {
			continue
		}
		if _, err := o.find(s.Command, o.dir); err != nil {
			return o.unserved(name, err)
		}
	}
	return nil
}

func (o outfit) unserved(server string, why error) error {
	if of, is := errors.AsType[*engine.AgentError](why); is {
		why = of.Err // without the name of the agent, and how to get it
	}
	return &engine.AgentError{Class: metadata.Missing, Agent: o.name, Err: fmt.Errorf("the MCP server %s: %w", server, why)}
}

// prepare makes the servers ready for one call and gives those reached through its gate. What a server is given stands
// in no argument or variable of the agent.
func (o outfit) prepare(ctx context.Context, call *Call) (all servers, asked []gate.Server, err error) {
	if err := o.lacks(); err != nil {
		return nil, nil, err
	}
	for _, name := range o.set.Serves() {
		given, s := o.set.MCP[name], server{name: name}
		s.allow, s.deny = o.set.Tools.OfServer(name)
		if given.URL == "" {
			words, tree, err := o.asCommitted(ctx, given.Command, given.Args)
			if err == nil {
				given.Command, given.Args, call.Shown = words[0], words[1:], slices.Concat(call.Shown, tree)
				err = o.script(call.Temp, given, &s)
			}
			if err != nil {
				return nil, nil, err
			}
			all = append(all, s)
			continue
		}
		at, err := url.Parse(given.URL)
		if err != nil {
			return nil, nil, fmt.Errorf("the MCP server %s: %w", name, err)
		}
		header := http.Header{}
		for field, text := range given.Headers {
			header.Set(field, pipelines.ValueOf(text, o.lookup))
		}
		all, asked = append(all, s), append(asked, gate.Server{Name: name, URL: at, Header: header})
	}
	return all, asked, nil
}

// script writes the script that becomes a server.
func (o outfit) script(temp string, given pipelines.ToolServer, s *server) error {
	path, err := o.find(given.Command, o.dir)
	if err != nil {
		return o.unserved(s.name, err)
	}
	dir := filepath.Join(temp, "mcp")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	s.launch, s.said = filepath.Join(dir, s.name+".sh"), filepath.Join(dir, s.name+".err")
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(given.Env)) {
		fmt.Fprintf(&b, "export %s=%s\n", name, quoted(pipelines.ValueOf(given.Env[name], o.lookup)))
	}
	run := "exec "
	if o.name == "codex" { // which tells nobody that a server has failed
		run, s.ended = "", filepath.Join(dir, s.name+".end")
	}
	b.WriteString(run + quoted(path))
	for _, arg := range given.Args {
		b.WriteString(" " + quoted(arg))
	}
	fmt.Fprintf(&b, " 2>>%s\n", quoted(s.said))
	if s.ended != "" {
		fmt.Fprintf(&b, "echo $? >%s\n", quoted(s.ended))
	}
	return os.WriteFile(s.launch, []byte(b.String()), 0o600)
}

// quoted makes one word of a text for a shell.
func quoted(text string) string { return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'" }

// acp tells a program of the servers.
func (all servers) acp() []any {
	told := []any{}
	for _, s := range all {
		told = append(told, map[string]any{"type": "http", "name": s.name, "url": s.address, "headers": []any{map[string]string{"name": "Authorization", "value": "Bearer " + s.key}}})
	}
	return told
}
