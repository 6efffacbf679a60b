package source

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// maxChain is how many pipelines may build on one another.
const maxChain = 5

// evaluate resolves the first of the files of a request, which may build on the others and on built-in
// pipelines, with what Config says, if there is one, and holds the whole against the policies.
func evaluate(req request) (*pipelines.Pipeline, error) {
	files, config := req.Files, req.Config
	ctx := NewContext()
	schema, all, err := schemas(ctx, pipelines.Schema, "#Pipeline")
	if err != nil {
		return nil, err
	}
	all.library = newLibrary(ctx, req.Packages)
	if config != nil {
		all.library.left -= len(config.Text)
		if all.Config, err = all.settings(ctx, *config); err != nil || all.Config == nil {
			return nil, cmp.Or(err, all.Found.OrNil())
		}
	}
	all.piece = func(f file) *node { return all.file(f, schema) }
	var chain []file
	var nodes []*node
	for next, why := files[0], ""; ; {
		if all.library.left -= len(next.Text); all.library.left < 0 {
			return nil, pipelines.Mistakes{{File: files[0].Name, Message: fmt.Sprintf("too large with what it builds on, expected at most %d bytes", maxInput)}}
		}
		n := all.piece(next)
		if n == nil {
			return nil, all.Found.OrNil()
		}
		chain, nodes = append(chain, next), append(nodes, n)
		if !slices.Contains(n.Names, "extends") {
			return all.resolve(ctx, nodes, req.Policies)
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
// builds on its own name means the one it replaces, which is built in. In the folder vendor a name means what lies beside it.
func base(files, chain []file, name string) (file, string) {
	full := name
	if strings.HasPrefix(called(chain[len(chain)-1]), vendorFolder+"/") && !strings.HasPrefix(name, vendorFolder+"/") {
		full = vendorFolder + "/" + name
	}
	named := func(f file) bool { return called(f) == full }
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
func (c *checker) file(f file, schema *shape) *node {
	v, found := c.library.build(f)
	if len(found) > 0 {
		c.Found = append(c.Found, found...)
		return nil
	}
	n := c.walk(v, schema, &node{NodePlace: NodePlace{File: f.Name, Line: 1, Column: 1}})
	if n != nil && n.Kind != objectNode {
		c.Add(n, nil, "empty, expected the fields of a pipeline")
		return nil
	}
	return n
}

// resolve puts the files together, checks the whole and fills in the defaults.
func (c *checker) resolve(ctx *cue.Context, nodes []*node, policies []file) (*pipelines.Pipeline, error) {
	c.Main = nodes[0]
	whole := nodes[len(nodes)-1]
	for _, op := range []string{"replace", "insert", "drop"} {
		if whole.Get(op) != nil {
			c.Add(whole, []any{op}, "only with extends, which names the pipeline to build on")
		}
	}
	whole = c.configured(whole)
	for _, over := range slices.Backward(nodes[:len(nodes)-1]) {
		whole = c.overlay(over, whole)
	}
	if f, phases := whole.Get("reflect"), whole.Get("phases"); f != nil && string(f.Scalar) == "true" && phases != nil {
		last, err := findBuiltin(builtin.Reflect)
		if err != nil {
			return nil, err
		}
		whole.Set("phases", appendedNodes(phases, c.piece(last).Get("phases")))
	}
	agents := nodes[len(nodes)-1].Get("agents")
	d, err := complete(whole, agents != nil && len(agents.Names) > 0, c.Main.File)
	if err != nil {
		return nil, err
	}
	c.consistent(whole, d)
	if err := c.Found.OrNil(); err != nil {
		return nil, err
	}
	d.Origins = origins(whole)
	if err := c.hold(ctx, policies, &d.Pipeline, whole); err != nil {
		return nil, err
	}
	return &d.Pipeline, nil
}

// schemas gives the shape of a definition of a schema, and a checker that knows what rules may ask
// about.
func schemas(ctx *cue.Context, schema, definition string) (*shape, *checker, error) {
	v := ctx.CompileString(schema, cue.Filename("schema.cue"))
	at := func(name string) cue.Value { return v.LookupPath(cue.MakePath(cue.Def(name))) }
	loose := &shape{Loose: true}
	return (&shape{}).child(at(definition)), &checker{library: newLibrary(ctx, nil), facts: loose.child(at("#Facts")), before: loose.child(at("#Before"))}, at(definition).Err()
}

func findBuiltin(name string) (file, error) {
	text, ok := builtin.Text(name)
	if !ok {
		return file{}, &UnknownError{Name: name, Known: builtin.Names()}
	}
	return file{Name: builtin.Prefix + name, Text: text, Own: true}, nil
}

// Document is a file of values that fits a schema. It knows where each stands.
type Document struct {
	root *node
	own  MistakeList
}

// ReadDocument holds a file, in the language of its ending or else YAML, against a definition in CUE text.
// What is right is in the document also beside mistakes, unless it is nil. It is evaluated in this process
// and without limits, so it has to come from the person at the terminal.
func ReadDocument(name string, text []byte, schema, definition string) (*Document, error) {
	ctx := NewContext()
	shape, c, err := schemas(ctx, schema, definition)
	if err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", name, err)
	}
	v, found := c.library.build(file{Name: name, Text: string(text), Or: ".yaml"})
	if len(found) > 0 {
		return nil, found.Sorted()
	}
	n := c.walk(v, shape, &node{NodePlace: NodePlace{File: name, Line: 1, Column: 1}})
	if n == nil {
		return nil, c.Found.OrNil()
	}
	return &Document{root: n}, c.Found.OrNil()
}

// Decode reads the values, as JSON has them.
func (d *Document) Decode(into any) error { return d.root.decode(into) }

// Wrote reports whether a field is written, be it right or wrong.
func (d *Document) Wrote(field string) bool { return slices.Contains(d.root.Names, field) }

// Wrong notes a mistake that the schema cannot see, at the value that keys lead
// to: names of fields and indices of items.
func (d *Document) Wrong(keys []any, format string, args ...any) {
	d.own.Add(d.root, keys, format, args...)
}

// Mistakes are those that were noted, or nil.
func (d *Document) Mistakes() error { return d.own.Found.OrNil() }

// usual evaluates the settings of a repository by themselves: what they name as pipeline,
// with its place, or nil.
func usual(config file, packages []file) (*pipelines.Mistake, error) {
	ctx := NewContext()
	c := &checker{library: newLibrary(ctx, packages)}
	n, err := c.settings(ctx, config)
	named := n.Get("pipeline")
	if err = cmp.Or(err, c.Found.OrNil()); err != nil || named == nil {
		return nil, err
	}
	return &pipelines.Mistake{File: named.File, Line: named.Line, Column: named.Column, Path: named.Path, Message: named.Text()}, nil
}

// settings reads the settings of a repository; nil, and noted, if there is nothing in it
// to go on with.
func (c *checker) settings(ctx *cue.Context, config file) (*node, error) {
	schema, _, err := schemas(ctx, pipelines.Schema, "#Config")
	if err != nil {
		return nil, err
	}
	return c.file(config, schema), nil
}

// configured puts the settings of the repository over a built-in pipeline, or under one of
// the repository.
func (c *checker) configured(base *node) *node {
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
		case name == "protect":
			out.Set(name, together(said, has))
		case name == "hooks":
			out.Set(name, appendedNodes(has, said))
		case ours && said.Kind == objectNode && has.Kind == objectNode && name != "network":
			out.Set(name, mergedNodes(has, said))
		case ours:
			out.Set(name, said)
		case said.Kind == objectNode && has.Kind == objectNode && name == "budget":
			out.Set(name, mergedNodes(said, has))
		}
	}
	return out
}

// origins says which file each setting comes from that the settings of a repository may
// have, such as budget.usd, or agents.writer.
func origins(whole *node) map[string]string {
	out := map[string]string{}
	for _, name := range []string{"language", "network", "finish"} {
		if n := whole.Get(name); n != nil {
			out[name] = n.File
		}
	}
	for _, name := range []string{"budget", "agents"} {
		for _, field := range whole.Get(name).fieldNames() {
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
