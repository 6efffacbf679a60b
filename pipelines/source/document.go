package source

import (
	"fmt"
	"slices"

	"cuelang.org/go/cue"
)

// Document is a file of values that fits a schema. It knows where each stands.
type Document struct {
	root *Node
	own  MistakeList
}

// ReadDocument holds a file, in the language of its ending or else YAML, against a definition in CUE text.
// What is right is in the document also beside mistakes, unless it is nil. It is evaluated in this process
// and without limits, so it has to come from the person at the terminal.
func ReadDocument(name string, text []byte, schema, definition string) (*Document, error) {
	ctx := NewContext()
	whole := ctx.CompileString(schema)
	s := whole.LookupPath(cue.MakePath(cue.Def(definition)))
	if err := s.Err(); err != nil {
		return nil, fmt.Errorf("the schema of %s: %w", name, err)
	}
	v, found := Build(ctx, file{Name: name, Text: string(text), Or: ".yaml"})
	if len(found) > 0 {
		return nil, found.Sorted()
	}
	c := &checker{}
	if facts := whole.LookupPath(cue.MakePath(cue.Def("#Facts"))); facts.Exists() {
		c.facts = (&Shape{Loose: true}).Child(facts)
	}
	n := c.walk(v, (&Shape{}).Child(s), &Node{NodePlace: NodePlace{File: name, Line: 1, Column: 1}})
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
