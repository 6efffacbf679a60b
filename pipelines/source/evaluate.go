package source

import (
	"cmp"
	"fmt"
	"slices"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// maxChain is how many pipelines may build on one another.
const maxChain = 5

// evaluate resolves the first of the files, which builds on the second, and
// so on, with what config says if it is not nil. Where one more is needed it says which, and where
// that is written; the error then has what is wrong whatever that one says.
func evaluate(files []file, config *file) (p *pipelines.Pipeline, missing *pipelines.Mistake, err error) {
	ctx := NewContext()
	schema, all, err := schemas(ctx, "#Pipeline")
	if err != nil {
		return nil, nil, err
	}
	if config != nil {
		if all.Config, err = all.settings(ctx, *config); err != nil || all.Config == nil {
			return nil, nil, cmp.Or(err, all.Found.OrNil())
		}
	}
	all.piece = func(f file) *Node { return all.file(ctx, f, schema) }
	var nodes []*Node
	for _, f := range files {
		n := all.file(ctx, f, schema)
		if n == nil {
			return nil, nil, all.Found.OrNil()
		}
		nodes = append(nodes, n)
	}
	last := nodes[len(nodes)-1]
	if !slices.Contains(last.Names, "extends") {
		return all.resolve(nodes)
	}
	all.Open = true
	for _, n := range nodes {
		if err := CheckAlone(&all.MistakeList, n); err != nil {
			return nil, nil, err
		}
	}
	if ext := last.Get("extends"); ext != nil {
		missing = &pipelines.Mistake{File: ext.File, Line: ext.Line, Column: ext.Column, Path: ext.Path, Message: ext.Text()}
	}
	return nil, missing, all.Found.OrNil()
}

// file reads a file and holds it against a schema. It is nil, and noted, if there is
// nothing in it to go on with.
func (c *checker) file(ctx *cue.Context, f file, schema *Shape) *Node {
	v, found := Build(ctx, f)
	if len(found) > 0 {
		c.Found = append(c.Found, found...)
		return nil
	}
	n := c.walk(v, schema, &Node{NodePlace: NodePlace{File: f.Name, Line: 1, Column: 1}})
	if n != nil && n.Kind != ObjectNode {
		c.Add(n, nil, "empty, expected the fields of a pipeline")
		return nil
	}
	return n
}

// resolve puts the files together, checks the whole and fills in the defaults.
func (c *checker) resolve(nodes []*Node) (*pipelines.Pipeline, *pipelines.Mistake, error) {
	c.Main = nodes[0]
	whole := nodes[len(nodes)-1]
	c.noOverlay(whole)
	whole = c.configured(whole)
	for _, over := range slices.Backward(nodes[:len(nodes)-1]) {
		whole = c.Overlay(over, whole)
	}
	if f, phases := whole.Get("reflect"), whole.Get("phases"); f != nil && string(f.Scalar) == "true" && phases != nil {
		last, err := findBuiltin(builtin.Reflect)
		if err != nil {
			return nil, nil, err
		}
		whole.Set("phases", AppendedNodes(phases, c.piece(last).Get("phases")))
	}
	d, err := DraftOf(whole)
	if err != nil {
		return nil, nil, err
	}
	if agents := nodes[len(nodes)-1].Get("agents"); agents == nil || len(agents.Names) == 0 {
		d.AddDefaultAgents()
	}
	Check(&c.MistakeList, whole, &d)
	if err := c.Found.OrNil(); err != nil {
		return nil, nil, err
	}
	p := d.Complete(c.Main.File)
	p.Origins = origins(whole)
	return p, nil, nil
}

// noOverlay notes operations in a pipeline that builds on no other.
func (c *checker) noOverlay(n *Node) {
	for _, op := range []string{"replace", "insert", "drop"} {
		if n.Get(op) != nil {
			c.Add(n, []any{op}, "only with extends, which names the pipeline to build on")
		}
	}
}

// schemas gives the shape of a definition, and a checker that knows what rules may ask
// about.
func schemas(ctx *cue.Context, definition string) (*Shape, *checker, error) {
	v := ctx.CompileString(pipelines.Schema, cue.Filename("schema.cue"))
	if err := v.Err(); err != nil {
		return nil, nil, fmt.Errorf("schema.cue: %w", err)
	}
	facts, before := NewShape(v.LookupPath(cue.MakePath(cue.Def("#Facts")))), NewShape(v.LookupPath(cue.MakePath(cue.Def("#Before"))))
	facts.Loose, before.Loose = true, true
	return NewShape(v.LookupPath(cue.MakePath(cue.Def(definition)))), &checker{facts: facts, before: before}, nil
}

func findBuiltin(name string) (file, error) {
	text, ok := builtin.Text(name)
	if !ok {
		return file{}, fmt.Errorf("no built-in pipeline %q, %s", name, pipelines.MustBeOneOf(name, builtin.Names()))
	}
	return file{Name: builtin.Prefix + name, Text: text, Own: true}, nil
}
