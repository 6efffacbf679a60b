package pipelines

import (
	_ "embed"
	"fmt"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// schemaText is what a pipeline file may say.
//
//go:embed schema.cue
var schemaText string

// file is a pipeline as it was found.
type file = reading.File

// maxChain is how many pipelines may build on one another.
const maxChain = 5

// evaluate resolves the first of the files, which builds on the second, and
// so on. Where one more is needed it says which, and where that is written;
// the error then has what is wrong whatever that one says.
func evaluate(files []file) (p *Pipeline, missing *Error, err error) {
	ctx := cuecontext.New()
	schema, facts, err := schemas(ctx)
	if err != nil {
		return nil, nil, err
	}
	all := &checker{facts: facts}
	var nodes []*node
	for _, f := range files {
		v, found := reading.Build(ctx, f)
		if len(found) > 0 {
			all.found = append(all.found, found...)
			break
		}
		n := all.walk(v, schema, &node{place: place{f.Name, 1, 1}})
		if n == nil {
			break
		}
		if n.kind != object {
			all.add(n, nil, "empty, expected the fields of a pipeline")
			break
		}
		nodes = append(nodes, n)
	}
	if len(nodes) < len(files) {
		return nil, nil, all.found.OrNil()
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

// resolve puts the files together, checks the whole and fills in the defaults.
func (c *checker) resolve(nodes []*node) (*Pipeline, *Error, error) {
	c.main = nodes[0]
	whole := nodes[len(nodes)-1]
	whole.noOverlay(c)
	for _, over := range slices.Backward(nodes[:len(nodes)-1]) {
		whole = c.overlay(over, whole)
	}
	a, err := newAuthor(whole)
	if err != nil {
		return nil, nil, err
	}
	if agents := nodes[len(nodes)-1].get("agents"); agents == nil || len(agents.names) == 0 {
		a.addDefaultAgents()
	}
	c.check(whole, &a)
	if err := c.found.OrNil(); err != nil {
		return nil, nil, err
	}
	return a.complete(c.main.file), nil, nil
}

// noOverlay notes operations in a pipeline that builds on no other.
func (n *node) noOverlay(c *checker) {
	for _, op := range []string{"replace", "insert", "drop"} {
		if n.get(op) != nil {
			c.add(n, []any{op}, "only with extends, which names the pipeline to build on")
		}
	}
}

// schemas gives the shapes of a pipeline and of the facts.
func schemas(ctx *cue.Context) (pipeline, facts *shape, err error) {
	v := ctx.CompileString(schemaText, cue.Filename("schema.cue"))
	if err := v.Err(); err != nil {
		return nil, nil, fmt.Errorf("schema.cue: %w", err)
	}
	pipeline = newShape(v.LookupPath(cue.MakePath(cue.Def("#Pipeline"))))
	facts = newShape(v.LookupPath(cue.MakePath(cue.Def("#Facts"))))
	facts.loose = true
	return pipeline, facts, nil
}
