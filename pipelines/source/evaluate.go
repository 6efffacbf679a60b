package source

import (
	"cmp"
	"fmt"
	"slices"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// file is a pipeline as it was found.
type file = reading.File

// maxChain is how many pipelines may build on one another.
const maxChain = 5

// evaluate resolves the first of the files, which builds on the second, and
// so on, with what config says if it is not nil. Where one more is needed it says which, and where
// that is written; the error then has what is wrong whatever that one says.
func evaluate(files []file, config *file) (p *pipelines.Pipeline, missing *Error, err error) {
	ctx := reading.Context()
	schema, all, err := schemas(ctx, "#Pipeline")
	if err != nil {
		return nil, nil, err
	}
	if config != nil {
		if all.config, err = all.settings(ctx, *config); err != nil || all.config == nil {
			return nil, nil, cmp.Or(err, all.found.OrNil())
		}
	}
	all.piece = func(f file) *node { return all.file(ctx, f, schema) }
	var nodes []*node
	for _, f := range files {
		n := all.file(ctx, f, schema)
		if n == nil {
			return nil, nil, all.found.OrNil()
		}
		nodes = append(nodes, n)
	}
	last := nodes[len(nodes)-1]
	if !slices.Contains(last.names, "extends") {
		return all.resolve(nodes)
	}
	all.open = true
	for _, n := range nodes {
		if err := all.alone(n); err != nil {
			return nil, nil, err
		}
	}
	if ext := last.get("extends"); ext != nil {
		missing = &Error{File: ext.file, Line: ext.line, Column: ext.column, Path: ext.path, Message: ext.text()}
	}
	return nil, missing, all.found.OrNil()
}

// file reads a file and holds it against a schema. It is nil, and noted, if there is
// nothing in it to go on with.
func (c *checker) file(ctx *cue.Context, f file, schema *shape) *node {
	v, found := reading.Build(ctx, f)
	if len(found) > 0 {
		c.found = append(c.found, found...)
		return nil
	}
	n := c.walk(v, schema, &node{place: place{f.Name, 1, 1}})
	if n != nil && n.kind != object {
		c.add(n, nil, "empty, expected the fields of a pipeline")
		return nil
	}
	return n
}

// resolve puts the files together, checks the whole and fills in the defaults.
func (c *checker) resolve(nodes []*node) (*pipelines.Pipeline, *Error, error) {
	c.main = nodes[0]
	whole := nodes[len(nodes)-1]
	whole.noOverlay(c)
	whole = c.configured(whole)
	for _, over := range slices.Backward(nodes[:len(nodes)-1]) {
		whole = c.overlay(over, whole)
	}
	if f, phases := whole.get("reflect"), whole.get("phases"); f != nil && string(f.scalar) == "true" && phases != nil {
		last, err := findBuiltin(builtin.Reflect)
		if err != nil {
			return nil, nil, err
		}
		whole.set("phases", appended(phases, c.piece(last).get("phases")))
	}
	d, err := newDraft(whole)
	if err != nil {
		return nil, nil, err
	}
	if agents := nodes[len(nodes)-1].get("agents"); agents == nil || len(agents.names) == 0 {
		d.AddDefaultAgents()
	}
	c.check(whole, &d)
	if err := c.found.OrNil(); err != nil {
		return nil, nil, err
	}
	p := d.Complete(c.main.file)
	p.Origins = origins(whole)
	return p, nil, nil
}

// noOverlay notes operations in a pipeline that builds on no other.
func (n *node) noOverlay(c *checker) {
	for _, op := range []string{"replace", "insert", "drop"} {
		if n.get(op) != nil {
			c.add(n, []any{op}, "only with extends, which names the pipeline to build on")
		}
	}
}

// schemas gives the shape of a definition, and a checker that knows what rules may ask
// about.
func schemas(ctx *cue.Context, definition string) (*shape, *checker, error) {
	v := ctx.CompileString(pipelines.Schema, cue.Filename("schema.cue"))
	if err := v.Err(); err != nil {
		return nil, nil, fmt.Errorf("schema.cue: %w", err)
	}
	facts, before := newShape(v.LookupPath(cue.MakePath(cue.Def("#Facts")))), newShape(v.LookupPath(cue.MakePath(cue.Def("#Before"))))
	facts.loose, before.loose = true, true
	return newShape(v.LookupPath(cue.MakePath(cue.Def(definition)))), &checker{facts: facts, before: before}, nil
}
