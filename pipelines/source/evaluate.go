package source

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// maxChain is how many pipelines may build on one another.
const maxChain = 5

// newChecker gives a checker of files with a schema in CUE.
func newChecker(text string) *checker {
	ctx := NewContext()
	return &checker{library: newLibrary(ctx, nil), schema: ctx.CompileString(text, cue.Filename("schema.cue")), known: map[string]*schema{}}
}

// prepared is the one of pipelines: their schema is compiled once in a process.
var prepared = sync.OnceValue(func() *checker { return newChecker(pipelines.Schema) })

// read reads a file and holds it against a definition of the schema; nil, and noted, if there is nothing in it to go
// on with.
func (c *checker) read(f file, definition string) *node {
	v, found := c.library.build(f)
	c.Found = append(c.Found, found...)
	if len(found) > 0 {
		return nil
	}
	if c.known[definition] == nil {
		c.known[definition] = c.definition(definition)
	}
	return c.walk(v, c.known[definition], &node{place: place{File: f.Name, Line: 1, Column: 1}})
}

// definition gives one of the schema.
func (c *checker) definition(name string) *schema {
	return schemaOf(c.schema.LookupPath(cue.ParsePath(name)))
}

// fields is read of a file that has to have fields.
func (c *checker) fields(f file, definition string) *node {
	n := c.read(f, definition)
	if n != nil && n.Kind != objectNode {
		return c.wrong(n, "empty, expected the fields of a pipeline")
	}
	return n
}

// evaluate resolves the first of the files of a request, which may build on the others and on built-in
// pipelines, with what Config says, if there is one, and holds the whole against the policies.
func evaluate(req request) (*pipelines.Pipeline, error) {
	c := *prepared()
	c.library = newLibrary(c.library.ctx, req.Packages)
	if req.Config != nil {
		c.library.left -= len(req.Config.Text)
		if c.config = c.fields(*req.Config, "#Config"); c.config == nil {
			return nil, c.Found.OrNil()
		}
	}
	var chain []*node
	for next, why := req.Files[0], ""; ; {
		if c.library.left -= len(next.Text); c.library.left < 0 {
			return nil, pipelines.Mistakes{{File: req.Files[0].Name, Message: fmt.Sprintf("too large with what it builds on, expected at most %d bytes", maxInput)}}
		}
		n := c.fields(next, "#Pipeline")
		if n == nil {
			return nil, c.Found.OrNil()
		}
		chain = append(chain, n)
		extends := n.get("extends")
		switch {
		case !n.wrote("extends"):
			return c.resolve(chain, req.Policies)
		case extends == nil: // it is wrong
			return nil, c.Found.OrNil()
		}
		if next, why = base(req.Files[1:], chain, extends.text()); why != "" {
			c.add(extends, nil, "%s", why)
			return nil, c.Found.OrNil()
		}
	}
}

// base finds the pipeline that the newest of a chain builds on, or says why there is none. One that
// builds on its own name means the one it replaces, which is built in. In the folder vendor a name means what lies beside it.
func base(files []file, chain []*node, name string) (file, string) {
	full := name
	if strings.HasPrefix(called(chain[len(chain)-1].File), vendorFolder+"/") && !strings.HasPrefix(name, vendorFolder+"/") {
		full = vendorFolder + "/" + name
	}
	read := func(f file) bool { return slices.ContainsFunc(chain, func(n *node) bool { return n.File == f.Name }) }
	found, err := find(full, files)
	if own, none := find(name, nil); none == nil && (err != nil || read(found)) {
		found, err = own, nil
	}
	switch {
	case len(chain) == maxChain:
		return file{}, fmt.Sprintf("more than %d pipelines build on one another", maxChain)
	case err != nil:
		return file{}, err.Error()
	case read(found):
		return file{}, fmt.Sprintf("%q in turn builds on this one", name)
	}
	return found, ""
}

// resolve puts the files together, checks the whole and fills in the defaults.
func (c *checker) resolve(chain []*node, policies []file) (*pipelines.Pipeline, error) {
	c.main = chain[0]
	last := chain[len(chain)-1]
	for _, op := range []string{"replace", "insert", "drop"} {
		if last.get(op) != nil {
			c.add(last, []any{op}, "only with extends, which names the pipeline to build on")
		}
	}
	whole := c.configured(last)
	for _, over := range slices.Backward(chain[:len(chain)-1]) {
		whole = c.overlay(over, whole)
	}
	if f, phases := whole.get("reflect"), whole.get("phases"); f != nil && string(f.Scalar) == "true" && phases != nil {
		looksBack, err := find(builtin.Reflect, nil)
		if err != nil {
			return nil, err
		}
		whole.Fields["phases"] = appendedNodes(phases, c.read(looksBack, "#Pipeline").get("phases"))
	}
	agents := last.get("agents")
	d, err := complete(whole, agents != nil && len(agents.Fields) > 0)
	if err != nil {
		return nil, err
	}
	checks{c, d, slices.Concat(d.Phases, d.Spare), slices.Concat(whole.list("phases"), whole.list("spare")), pipelines.NamesOf(d.Phases)}.consistent(whole)
	if err := c.Found.OrNil(); err != nil {
		return nil, err
	}
	d.Origins = origins(whole)
	return &d.Pipeline, c.hold(policies, &d.Pipeline, whole)
}

// Document is a file of values that fits a schema. It knows where each stands.
type Document struct {
	root *node
	own  checker
}

// ReadDocument holds a file, in the language of its ending or else YAML, against a definition in CUE text.
// What is right is in the document also beside mistakes, unless it is nil. It is evaluated in this process
// and without limits, so it has to come from the person at the terminal.
func ReadDocument(name string, text []byte, schema, definition string) (*Document, error) {
	c := newChecker(schema)
	if err := c.schema.Err(); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", name, err)
	}
	n := c.read(file{Name: name, Text: string(text), Or: ".yaml"}, definition)
	if n == nil {
		return nil, c.Found.OrNil()
	}
	return &Document{root: n}, c.Found.OrNil()
}

// Decode reads the values, as JSON has them.
func (d *Document) Decode(into any) error { return d.root.decode(into) }

// Wrote reports whether a field is written, be it right or wrong.
func (d *Document) Wrote(field string) bool { return d.root.wrote(field) }

// Wrong notes a mistake that the schema cannot see, at the value that keys lead
// to: names of fields and indices of items.
func (d *Document) Wrong(keys []any, format string, args ...any) {
	d.own.add(d.root, keys, format, args...)
}

// Mistakes are those that were noted, or nil.
func (d *Document) Mistakes() error { return d.own.Found.OrNil() }

// usual gives the pipeline that the settings of a repository name, one of those that are known, or "".
func usual(config file, packages []file, known []string) (string, error) {
	c := *prepared()
	c.library = newLibrary(c.library.ctx, packages)
	named := c.fields(config, "#Config").get("pipeline")
	name, _, _ := strings.Cut(named.text(), "/")
	if named != nil && name != pipelines.Auto && !slices.Contains(known, name) {
		c.add(named, nil, "no pipeline %q, %s", name, pipelines.MustBeOneOf(name, known))
	}
	return named.text(), c.Found.OrNil()
}

// configured puts the settings of the repository over a built-in pipeline, or under one of
// the repository.
func (c *checker) configured(base *node) *node {
	if c.config == nil {
		return base
	}
	out, ours := base.clone(), strings.HasPrefix(base.File, builtin.Prefix)
	for name, said := range c.config.Fields {
		has := out.get(name)
		switch {
		case name == "pipeline":
		case ours || has == nil || name == "protect" || name == "hooks":
			out.put(name, said)
		case name == "budget" && said != nil:
			out.Fields[name] = mergedNodes(said, has)
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
			out[name] = n.File
		}
	}
	for _, name := range []string{"budget", "agents"} {
		for _, field := range whole.get(name).fieldNames() {
			out[name+"."+field] = whole.get(name).get(field).File
		}
	}
	for i, hook := range whole.list("hooks") {
		out[fmt.Sprintf("hooks[%d]", i)] = hook.File
	}
	if len(out) > 0 {
		return out
	}
	return nil
}
