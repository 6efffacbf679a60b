package pipelines

import (
	"bytes"
	"fmt"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
)

// Document is a file of values that fits a schema. It knows where each stands.
type Document struct {
	root *node
	own  mistakes
}

// ReadDocument holds a file against a schema: the definition of that name in
// CUE text. The file is read in the language that its name ends in, and as YAML
// if that is none. Mistakes come back as Errors, all of them at once. The file
// is evaluated in this process and without limits, so it has to come from the
// person at the terminal.
func ReadDocument(name string, text []byte, schema, definition string) (*Document, error) {
	ctx := cuecontext.New()
	s := ctx.CompileString(schema).LookupPath(cue.MakePath(cue.Def(definition)))
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", name, err)
	}
	v, found := build(ctx, file{Name: name, Text: string(text), or: ".yaml"})
	if len(found) > 0 {
		return nil, found.sorted()
	}
	c := &checker{}
	n := c.walk(v, (&shape{}).child(s), &node{place: place{name, 1, 1}})
	if err := c.found.orNil(); err != nil {
		return nil, err
	}
	return &Document{root: n}, nil
}

// JSON gives the values.
func (d *Document) JSON() []byte {
	var out bytes.Buffer
	d.root.writeJSON(&out)
	return out.Bytes()
}

// Wrong notes a mistake that the schema cannot see, at the value that keys lead
// to: names of fields and indices of items.
func (d *Document) Wrong(keys []any, format string, args ...any) {
	d.own.add(d.root, keys, format, args...)
}

// Mistakes are those that were noted, or nil.
func (d *Document) Mistakes() error { return d.own.found.orNil() }
