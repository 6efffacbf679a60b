package source

import (
	"cmp"
	"fmt"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// usual evaluates the settings of a repository by themselves: what they name as pipeline,
// with its place, or nil.
func usual(config file) (*Error, error) {
	c := &checker{mistakes: mistakes{open: true}} // what it names may be in a pipeline
	n, err := c.settings(reading.Context(), config)
	if n != nil {
		d, bad := newDraft(n)
		c.patterns(n, &d)
		c.agents(n, &d)
		err = cmp.Or(err, bad)
	}
	named := n.get("pipeline")
	if err = cmp.Or(err, c.found.OrNil()); err != nil || named == nil {
		return nil, err
	}
	return &Error{File: named.file, Line: named.line, Column: named.column, Path: named.path, Message: named.text()}, nil
}

// settings reads the settings of a repository; nil, and noted, if there is nothing in it
// to go on with.
func (c *checker) settings(ctx *cue.Context, config file) (*node, error) {
	schema, _, err := schemas(ctx, "#Config")
	if err != nil {
		return nil, err
	}
	return c.file(ctx, config, schema), nil
}

// configured puts the settings of the repository over a built-in pipeline, or under one of
// the repository.
func (c *checker) configured(base *node) *node {
	if c.config == nil {
		return base
	}
	out, ours := base.clone(), strings.HasPrefix(base.file, builtin.Prefix)
	for _, name := range c.config.names {
		said, has := c.config.get(name), out.get(name)
		switch {
		case said == nil || name == "pipeline":
		case has == nil:
			out.set(name, said)
		case name == "hooks":
			out.set(name, appended(has, said))
		case ours && said.kind == object && has.kind == object && name != "network":
			out.set(name, merged(has, said))
		case ours:
			out.set(name, said)
		case said.kind == object && has.kind == object && name == "budget":
			out.set(name, merged(said, has))
		}
	}
	return out
}

// origins says which file each setting comes from that the settings of a repository may
// have, such as budget.usd, or agents.writer.
func origins(whole *node) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"language", "network", "finish"} {
		if n := whole.get(name); n != nil {
			out[name] = n.file
		}
	}
	for _, name := range []string{"budget", "agents"} {
		for _, field := range whole.get(name).fieldNames() {
			out[name+"."+field] = whole.get(name).get(field).file
		}
	}
	for i, hook := range whole.list("hooks") {
		out[fmt.Sprintf("hooks[%d]", i)] = hook.file
	}
	if len(out) > 0 {
		return out
	}
	return nil
}
