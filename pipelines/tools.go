package pipelines

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// ToolSet is what an agent is given. The zero value is nothing besides the usual.
type ToolSet struct {
	MCP    map[string]ToolServer `json:"mcp,omitempty"`    // by the name under which the agent knows it
	Tools  ToolChoice            `json:"tools,omitzero"`   // among those that access and servers give
	Effort string                `json:"effort,omitempty"` // low, medium, high, xhigh, max; empty: the program's own
	Args   []string              `json:"args,omitempty"`   // further arguments of the program
}

// ToolServer is a server of tools: a command, or an address.
type ToolServer struct {
	Command string            `json:"command,omitempty"` // a program that is asked over its standard input
	Args    []string          `json:"args,omitempty"`
	Env     map[string]string `json:"env,omitempty"`     // values as Value takes them
	URL     string            `json:"url,omitempty"`     // of a server that is asked over HTTP
	Headers map[string]string `json:"headers,omitempty"` // values as Value takes them
}

// Hands is the server of tools by which agents that judge work run commands.
const Hands = "reprise"

// ToolChoice is a choice among tools: those of the program by its own names, all of a
// server by its name, and one of them as SERVER.TOOL.
type ToolChoice struct {
	Allow []string `json:"allow,omitempty"` // only these; empty: all
	Deny  []string `json:"deny,omitempty"`  // not these
}

// nothing is an entry that names no tool: all that is allowed where two choices have no tool in common.
const nothing = ""

// And is what both choices leave: of a server and one of its tools, that tool.
func (c ToolChoice) And(other ToolChoice) ToolChoice {
	out := ToolChoice{Deny: slices.Concat(c.Deny, other.Deny)}
	switch {
	case len(c.Allow) == 0:
		out.Allow = other.Allow
		return out
	case len(other.Allow) == 0:
		out.Allow = c.Allow
		return out
	}
	for _, e := range c.Allow {
		if covered(e, other.Allow) {
			out.Allow = append(out.Allow, e)
		}
	}
	for _, e := range other.Allow {
		if covered(e, c.Allow) && !slices.Contains(out.Allow, e) {
			out.Allow = append(out.Allow, e)
		}
	}
	if out.Allow == nil {
		out.Allow = []string{nothing}
	}
	return out
}

// covered reports whether a list has an entry, or the whole server that it is of.
func covered(entry string, list []string) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		return e == entry || strings.HasPrefix(entry, e+".")
	})
}

// variable is the end of a text that stands for the value of a variable.
var variable = text.Pattern(`(?:^| )env:([A-Za-z_][A-Za-z0-9_]*)$`)

// VariableIn names the variable of the environment whose value a text ends with, as in
// "env:NAME" and "Bearer env:NAME"; "" if there is none.
func VariableIn(text string) string {
	if m := variable().FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return ""
}

// ValueOf gives what a text stands for, with the variables of lookup.
func ValueOf(text string, lookup func(string) string) string {
	name := VariableIn(text)
	if name == "" {
		return text
	}
	return strings.TrimSuffix(text, "env:"+name) + lookup(name)
}

// Variables names those that the servers are given, each once, in order.
func (s ToolSet) Variables() (names []string) {
	for _, server := range s.MCP {
		for _, texts := range []map[string]string{server.Env, server.Headers} {
			for _, text := range texts {
				if name := VariableIn(text); name != "" {
					names = append(names, name)
				}
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Serves lists the servers that an agent has after the choice, in order.
func (s ToolSet) Serves() (names []string) {
	for name := range s.MCP {
		if c := s.Tools; (len(c.Allow) == 0 || len(entriesOf(c.Allow, name)) > 0) && !slices.Contains(c.Deny, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// OfServer gives the tools of a server that are chosen: only those of allow, or all if
// it is empty, but for those of deny.
func (c ToolChoice) OfServer(server string) (allow, deny []string) {
	for _, e := range entriesOf(c.Deny, server) {
		if e != server {
			deny = append(deny, e[len(server)+1:])
		}
	}
	for _, e := range entriesOf(c.Allow, server) {
		if e == server {
			return nil, deny
		}
		allow = append(allow, e[len(server)+1:])
	}
	return allow, deny
}

// Own chooses among a program's own tools, by their names.
func (c ToolChoice) Own(names []string) []string {
	return slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		return len(c.Allow) > 0 && !slices.Contains(c.Allow, name) || slices.Contains(c.Deny, name)
	})
}

// entriesOf lists the entries that are about a server or one of its tools.
func entriesOf(entries []string, server string) (out []string) {
	for _, e := range entries {
		if e == server || strings.HasPrefix(e, server+".") {
			out = append(out, e)
		}
	}
	return out
}

// programs are those that take what a Set has.
func programs() []string { return []string{"claude", "codex"} }

// TakesCommand reports whether the program of an agent is the one that its command names.
func TakesCommand(use string) bool { return use == "command" || use == "acp" }

// WrongTools notes all that is wrong with what an agent is given, in order, with the keys that lead there from the agent.
// That it has the right form is known.
func WrongTools(a Agent, note func(why string, keys ...any)) {
	w := wrong{a, note}
	switch {
	case TakesCommand(a.Use) && len(a.Command) == 0:
		note(fmt.Sprintf("missing, expected the program that use: %q runs", a.Use), "command")
	case !TakesCommand(a.Use) && len(a.Command) > 0:
		note(fmt.Sprintf("only for use: \"command\" and \"acp\"; this agent uses %q", a.Use), "command")
	}
	if a.CallUSD != nil && a.Use != "command" {
		note(fmt.Sprintf("only for use: \"command\"; this agent uses %q", a.Use), "call_usd")
	}
	for i, name := range a.Env {
		if why := WithheldFromAll(name); why != "" && name != "" {
			note(name+": "+why, "env", i)
		}
	}
	if w.chosen() {
		for _, name := range slices.Sorted(maps.Keys(a.MCP)) {
			w.server(name, a.MCP[name])
		}
		w.args()
	}
}

// WrongToolsFor notes what is wrong with the tools and the effort that a phase or a step names for an agent.
func WrongToolsFor(a Agent, c ToolChoice, effort string, note func(why string, keys ...any)) {
	said := Agent{Use: a.Use, ToolSet: ToolSet{Tools: c, Effort: effort}}
	if slices.Contains(programs(), a.Use) {
		said.MCP = a.MCP
	}
	wrong{said, note}.chosen()
}

// wrong notes what is wrong with an agent.
type wrong struct {
	agent Agent
	note  func(why string, keys ...any)
}

// chosen notes what is wrong with tools and effort, or all that a program does not take at all; then it is false.
func (w wrong) chosen() bool {
	a := w.agent
	if slices.Contains(programs(), a.Use) {
		w.choice(a.Tools.Allow, "allow")
		w.choice(a.Tools.Deny, "deny")
		if a.Use == "codex" && a.Effort == "max" {
			w.note(`got "max", which codex does not have; its highest is "xhigh"`, "effort")
		}
		return true
	}
	for i, given := range []bool{len(a.Args) > 0, a.Effort != "", len(a.MCP) > 0, len(a.Tools.Allow)+len(a.Tools.Deny) > 0} {
		if field := []string{"args", "effort", "mcp", "tools"}[i]; given && a.Use != "" {
			w.note(fmt.Sprintf("agent %s does not take %s; only %s do", a.Use, field, strings.Join(programs(), " and ")), field)
		}
	}
	return false
}

func (w wrong) server(name string, s ToolServer) {
	switch {
	case name == Hands || strings.Contains(name, "__") || strings.HasSuffix(name, "_"):
		w.note("no good name: it is not that of the server of reviewers, and has no two _ in a row and none at its end", "mcp", name)
	case (s.Command == "") == (s.URL == ""):
		w.note("expected one of command, a program of MCP, and url, the address of a server", "mcp", name)
	case s.Command != "" && len(s.Headers) > 0:
		w.note("only for a server with url; a command has env", "mcp", name, "headers")
	case s.URL != "" && len(s.Args)+len(s.Env) > 0:
		w.note("only for a server with command; one with url has headers", "mcp", name, map[bool]string{true: "args", false: "env"}[len(s.Args) > 0])
	}
	for field, texts := range map[string]map[string]string{"env": s.Env, "headers": s.Headers} {
		for _, key := range slices.Sorted(maps.Keys(texts)) {
			if why := badValue(field, key, texts[key]); why != "" {
				w.note(why, "mcp", name, field, key)
			}
		}
	}
}

// badValue says what is wrong with a variable or a header of a server, or "".
func badValue(field, key, text string) string {
	from := VariableIn(text)
	if from != "" {
		if why := WithheldFromAll(from); why != "" {
			return from + ": " + why
		}
	}
	switch {
	case strings.ContainsAny(text, "\r\n\x00"):
		return "expected one line"
	case field == "headers" && strings.ContainsFunc(text, func(c rune) bool { return c < ' ' || c > '~' }):
		return "expected letters, digits and signs of ASCII alone, as programs refuse to send others"
	case field == "env" && WithheldFromAll(key) != "":
		return WithheldFromAll(key)
	case field == "headers" && ofProtocol().MatchString(key):
		return "the protocol sets this header itself"
	case from == "" && secret().MatchString(key):
		return `this holds a secret, and the file may be read by others; expected a variable, as "env:NAME" or "Bearer env:NAME"`
	}
	return ""
}

// choice checks entries that name tools.
func (w wrong) choice(entries []string, list string) {
	for i, e := range entries {
		if why := w.badTool(e); e != "" && why != "" {
			w.note(fmt.Sprintf("%q %s", e, why), "tools", list, i)
		}
	}
}

// ownTools lists the tools that Claude Code may have of its own. Codex has no choice of them.
func ownTools() []string { return []string{"Read", "Glob", "Grep", "Write", "Edit", "Bash"} }

// badTool says why an entry names no tool, or "".
func (w wrong) badTool(e string) string {
	server, tool, one := strings.Cut(e, ".")
	if _, known := w.agent.MCP[server]; known && (!one || toolName().MatchString(tool)) {
		return ""
	}
	expected := "the name of a server in mcp, or SERVER.TOOL"
	if w.agent.Use == "claude" {
		if slices.Contains(ownTools(), e) {
			return ""
		}
		expected = strings.Join(ownTools(), ", ") + ", " + expected
	}
	return "is no tool of this agent, expected " + expected
}

// Forms of names. They are compiled when they are first used.
var (
	toolName   = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$`)
	ofProtocol = text.Pattern(`(?i)^(host|content-.*|accept.*|connection|transfer-encoding|upgrade|te|trailer|keep-alive|mcp-.*|last-event-id)$`)
	secret     = text.Pattern(`(?i)(authorization|cookie|key|token|secret|password|passwd|credential|credentials)$`)
)

// letThrough are the further arguments that programs may have, and what is expected of them. Others are refused: most
// options say what a program may do, which files it takes its settings from, or how it reports to reprise, and each
// release may have new ones.
var letThrough = map[string]struct {
	form     func() *regexp.Regexp
	expected string
}{
	"claude": {
		text.Pattern(`^(?:--(?:append-system-prompt|betas|fallback-model)=[^-\x00][^\x00]*|--exclude-dynamic-system-prompt-sections)$`),
		"--append-system-prompt, --betas or --fallback-model with a value, or --exclude-dynamic-system-prompt-sections",
	},
	"codex": {
		text.Pattern(`^(?:-c|--config)=(?:developer_instructions|model_auto_compact_token_limit|model_context_window|model_reasoning_summary|model_verbosity|tool_output_token_limit)=[^\r\n\x00]+$`),
		"-c NAME=VALUE on one line, with one of developer_instructions, model_auto_compact_token_limit, model_context_window, model_reasoning_summary, model_verbosity, tool_output_token_limit",
	},
}

// args notes each argument that is not let through. A value may stand behind = or follow by itself.
func (w wrong) args() {
	may := letThrough[w.agent.Use]
	for i, all := 0, w.agent.Args; i < len(all); i++ {
		at, given := i, all[i]
		if !may.form().MatchString(given) && !strings.Contains(given, "=") && i+1 < len(all) && !strings.HasPrefix(all[i+1], "-") {
			i++
			given += "=" + all[i]
		}
		if !may.form().MatchString(given) {
			w.note(fmt.Sprintf("%q could open the sandbox or change what reprise relies on, expected %s", given, may.expected), "args", at)
		}
	}
}
