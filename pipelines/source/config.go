package source

import (
	"cmp"
	"fmt"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// usual evaluates the settings of a repository by themselves: what they name as pipeline,
// with its place, or nil.
func usual(config file) (*pipelines.Mistake, error) {
	c := &checker{}
	n, err := c.settings(NewContext(), config)
	named := n.Get("pipeline")
	if err = cmp.Or(err, c.Found.OrNil()); err != nil || named == nil {
		return nil, err
	}
	return &pipelines.Mistake{File: named.File, Line: named.Line, Column: named.Column, Path: named.Path, Message: named.Text()}, nil
}

// settings reads the settings of a repository; nil, and noted, if there is nothing in it
// to go on with.
func (c *checker) settings(ctx *cue.Context, config file) (*Node, error) {
	schema, _, err := schemas(ctx, "#Config")
	if err != nil {
		return nil, err
	}
	return c.file(ctx, config, schema), nil
}

// configured puts the settings of the repository over a built-in pipeline, or under one of
// the repository.
func (c *checker) configured(base *Node) *Node {
	if c.Config == nil {
		return base
	}
	out, ours := base.Clone(), strings.HasPrefix(base.File, builtin.Prefix)
	for _, name := range c.Config.Names {
		said, has := c.Config.Get(name), out.Get(name)
		switch {
		case said == nil || name == "pipeline":
		case has == nil:
			out.Set(name, said)
		case name == "hooks":
			out.Set(name, appendedNodes(has, said))
		case ours && said.Kind == ObjectNode && has.Kind == ObjectNode && name != "network":
			out.Set(name, mergedNodes(has, said))
		case ours:
			out.Set(name, said)
		case said.Kind == ObjectNode && has.Kind == ObjectNode && name == "budget":
			out.Set(name, mergedNodes(said, has))
		}
	}
	return out
}

// origins says which file each setting comes from that the settings of a repository may
// have, such as budget.usd, or agents.writer.
func origins(whole *Node) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"language", "network", "finish"} {
		if n := whole.Get(name); n != nil {
			out[name] = n.File
		}
	}
	for _, name := range []string{"budget", "agents"} {
		for _, field := range whole.Get(name).FieldNames() {
			out[name+"."+field] = whole.Get(name).Get(field).File
		}
	}
	for i, hook := range whole.List("hooks") {
		out[fmt.Sprintf("hooks[%d]", i)] = hook.File
	}
	if len(out) > 0 {
		return out
	}
	return nil
}
