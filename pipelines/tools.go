package pipelines

import (
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

// ToolChoice is a choice among tools: those of the program by its own names, all of a
// server by its name, and one of them as SERVER.TOOL.
type ToolChoice struct {
	Allow []string `json:"allow,omitempty"` // only these; empty: all
	Deny  []string `json:"deny,omitempty"`  // not these
}

// nothing is an entry that names no tool: all that is allowed where two choices have no tool in common.
const nothing = ""

// And is what both choices leave: of a tool and some uses of it, such as Bash and Bash(go test:*), those uses.
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

// covered reports whether a list has an entry, or the whole tool or server that it is of.
func covered(entry string, list []string) bool {
	return slices.ContainsFunc(list, func(e string) bool {
		return e == entry || strings.HasPrefix(entry, e+"(") || strings.HasPrefix(entry, e+".")
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
		if s.Tools.has(name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// has reports whether any tool of a server is left.
func (c ToolChoice) has(server string) bool {
	some := len(c.Allow) == 0 || slices.ContainsFunc(c.Allow, func(e string) bool { return e == server || strings.HasPrefix(e, server+".") })
	return some && !slices.Contains(c.Deny, server)
}

// OfServer gives the tools of a server that are chosen: only those of allow, or all if
// it is empty, but for those of deny.
func (c ToolChoice) OfServer(server string) (allow, deny []string) {
	allow, deny = below(c.Allow, server), below(c.Deny, server)
	if slices.Contains(c.Allow, server) {
		allow = nil
	}
	return allow, deny
}

// below lists the tools that entries name of a server.
func below(entries []string, server string) (out []string) {
	for _, e := range entries {
		if tool, is := strings.CutPrefix(e, server+"."); is {
			out = append(out, tool)
		}
	}
	return out
}

// Own chooses among a program's own tools, by their names: an entry such as Bash(go test:*) allows or denies some
// uses of one. rules are the entries for those that are left.
func (c ToolChoice) Own(names []string) (left, allow, deny []string) {
	for _, name := range names {
		allowed, denied := ofTool(c.Allow, name), ofTool(c.Deny, name)
		if len(c.Allow) > 0 && len(allowed) == 0 || slices.Contains(denied, name) {
			continue
		}
		left = append(left, name)
		if len(allowed) > 0 && !slices.Contains(allowed, name) {
			allow = append(allow, allowed...)
		}
		deny = append(deny, denied...)
	}
	return left, allow, deny
}

// ofTool lists the entries that are about one tool.
func ofTool(entries []string, name string) (out []string) {
	for _, e := range entries {
		if e == name || strings.HasPrefix(e, name+"(") {
			out = append(out, e)
		}
	}
	return out
}
