package agents

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

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
	return o.fail(metadata.Missing, fmt.Errorf("the MCP server %s: %w", server, why))
}

// prepare makes the servers ready for one call and gives those reached through its gate. What a server is given stands
// in no argument or variable of the agent.
func (o outfit) prepare(temp string) (all servers, asked []gate.Server, err error) {
	if err := o.lacks(); err != nil {
		return nil, nil, err
	}
	for _, name := range o.set.Serves() {
		given, s := o.set.MCP[name], server{name: name}
		s.allow, s.deny = o.set.Tools.OfServer(name)
		if given.URL == "" {
			if err := o.script(temp, given, &s); err != nil {
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
