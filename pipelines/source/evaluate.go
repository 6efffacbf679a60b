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

// evaluate resolves the first of the files, which may build on the others and on built-in
// pipelines, with what config says if it is not nil.
func evaluate(files []file, config *file) (*pipelines.Pipeline, error) {
	ctx := NewContext()
	schema, all, err := schemas(ctx, "#Pipeline")
	if err != nil {
		return nil, err
	}
	if config != nil {
		if all.Config, err = all.settings(ctx, *config); err != nil || all.Config == nil {
			return nil, cmp.Or(err, all.Found.OrNil())
		}
	}
	all.piece = func(f file) *Node { return all.file(ctx, f, schema) }
	var chain []file
	var nodes []*Node
	size := 0
	if config != nil {
		size = len(config.Text)
	}
	for next, why := files[0], ""; ; {
		if size += len(next.Text); size > maxInput {
			return nil, pipelines.Mistakes{{File: files[0].Name, Message: fmt.Sprintf("too large with what it builds on, expected at most %d bytes", maxInput)}}
		}
		n := all.piece(next)
		if n == nil {
			return nil, all.Found.OrNil()
		}
		chain, nodes = append(chain, next), append(nodes, n)
		if !slices.Contains(n.Names, "extends") {
			return all.resolve(nodes)
		}
		extends := n.Get("extends")
		if extends == nil {
			return nil, all.Found.OrNil()
		}
		if next, why = base(files[1:], chain, extends.Text()); why != "" {
			all.Add(extends, nil, "%s", why)
			return nil, all.Found.OrNil()
		}
	}
}

// base finds the pipeline that the newest of a chain builds on, or says why there is none. One that
// builds on its own name means the one it replaces, which is built in.
func base(files, chain []file, name string) (file, string) {
	named := func(f file) bool { return nameOf(f.Name) == name }
	found, err := findBuiltin(name)
	if i := slices.IndexFunc(files, named); i >= 0 && !(err == nil && slices.Contains(chain, files[i])) {
		found, err = files[i], nil
	}
	switch {
	case len(chain) == maxChain:
		return file{}, fmt.Sprintf("more than %d pipelines build on one another", maxChain)
	case err != nil:
		return file{}, fmt.Sprintf("no pipeline %q, %s", name, pipelines.MustBeOneOf(name, append(namesOf(files), builtin.Names()...)))
	case slices.Contains(chain, found):
		return file{}, fmt.Sprintf("%q in turn builds on this one", name)
	}
	return found, ""
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
func (c *checker) resolve(nodes []*Node) (*pipelines.Pipeline, error) {
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
			return nil, err
		}
		whole.Set("phases", appendedNodes(phases, c.piece(last).Get("phases")))
	}
	d, err := draftOf(whole)
	if err != nil {
		return nil, err
	}
	if agents := nodes[len(nodes)-1].Get("agents"); agents == nil || len(agents.Names) == 0 {
		d.AddDefaultAgents()
	}
	Check(&c.MistakeList, whole, &d)
	if err := c.Found.OrNil(); err != nil {
		return nil, err
	}
	p := d.Complete(c.Main.File)
	p.Origins = origins(whole)
	return p, nil
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
	facts, before := newShape(v.LookupPath(cue.MakePath(cue.Def("#Facts")))), newShape(v.LookupPath(cue.MakePath(cue.Def("#Before"))))
	facts.Loose, before.Loose = true, true
	return newShape(v.LookupPath(cue.MakePath(cue.Def(definition)))), &checker{facts: facts, before: before}, nil
}

func findBuiltin(name string) (file, error) {
	text, ok := builtin.Text(name)
	if !ok {
		return file{}, &UnknownError{Name: name, Known: builtin.Names()}
	}
	return file{Name: builtin.Prefix + name, Text: text, Own: true}, nil
}
