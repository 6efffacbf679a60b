package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/pipelines/mistake"
)

// node is a value as somebody wrote it, with the place it was written at.
// Nodes are plain data: a pipeline that builds on another one is made by
// putting nodes together, and every node still knows where it came from.
type node struct {
	place
	path   string // in its own file
	kind   kind
	scalar json.RawMessage
	items  []*node
	names  []string // of fields, in the order they were written
	fields map[string]*node

	label  place           // of the field's name
	schema json.RawMessage // of a report, as JSON Schema
}

// place is where something stands in a file.
type place struct {
	file         string
	line, column int
}

type kind int

const (
	scalar kind = iota
	list
	object
)

// get returns the field of that name, or nil; n may be nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	return n.fields[name]
}

// item returns the item at i, or nil; n may be nil.
func (n *node) item(i int) *node {
	if n == nil || i >= len(n.items) {
		return nil
	}
	return n.items[i]
}

// list returns the items of the field of that name.
func (n *node) list(name string) []*node {
	if f := n.get(name); f != nil {
		return f.items
	}
	return nil
}

// firstName returns the name of the field that was written first, or "".
func (n *node) firstName() string {
	if len(n.names) == 0 {
		return ""
	}
	return n.names[0]
}

// fieldNames returns the names of the fields that are right; n may be nil.
func (n *node) fieldNames() []string {
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.fields))
}

// text returns the string that n holds, or "".
func (n *node) text() string {
	var s string
	if n != nil && n.kind == scalar {
		_ = json.Unmarshal(n.scalar, &s) // another type is no text
	}
	return s
}

// reportSchema returns the JSON Schema of the report that n holds, or nil.
func (n *node) reportSchema() json.RawMessage {
	if n == nil {
		return nil
	}
	return n.schema
}

// set puts a field in, over one of the same name.
func (n *node) set(name string, v *node) {
	if n.fields == nil {
		n.fields = map[string]*node{}
	}
	if _, ok := n.fields[name]; !ok {
		n.names = append(n.names, name)
	}
	n.fields[name] = v
}

// unset takes a field out.
func (n *node) unset(name string) {
	delete(n.fields, name)
	n.names = slices.DeleteFunc(n.names, func(s string) bool { return s == name })
}

// clone returns a copy whose lists and fields can be changed. Its values are
// shared, down to the next clone.
func (n *node) clone() *node {
	c := *n
	c.items = slices.Clone(n.items)
	c.names = slices.Clone(n.names)
	c.fields = make(map[string]*node, len(n.fields))
	for k, v := range n.fields {
		c.fields[k] = v
	}
	return &c
}

// writeJSON writes the value without its places.
func (n *node) writeJSON(out *bytes.Buffer) {
	switch n.kind {
	case list:
		out.WriteByte('[')
		for i, item := range n.items {
			if i > 0 {
				out.WriteByte(',')
			}
			item.writeJSON(out)
		}
		out.WriteByte(']')
	case object:
		separator := byte('{')
		for _, name := range n.names {
			if v := n.fields[name]; v != nil {
				key, _ := json.Marshal(name) // a string always has a JSON form
				out.WriteByte(separator)
				out.Write(key)
				out.WriteByte(':')
				v.writeJSON(out)
				separator = ','
			}
		}
		if separator == '{' {
			out.WriteByte('{')
		}
		out.WriteByte('}')
	default:
		out.Write(n.scalar)
	}
}

// mistakes collects what is wrong with a pipeline.
type mistakes struct {
	found  Errors
	main   *node // the pipeline that was asked for
	config *node // the settings of the repository, or nil
	open   bool  // what it builds on is not known, so a name may be of that
}

// add notes a mistake at the value that keys lead to from n: names of fields
// and indices of items. Where the value is missing it is noted at the deepest
// one there is. A mistake that shows in a pipeline this one builds on is noted
// where it is named.
func (m *mistakes) add(n *node, keys []any, format string, args ...any) {
	at, next, path := n, n, n.path
	for _, key := range keys {
		switch k := key.(type) {
		case string:
			next, path = next.get(k), mistake.Join(path, k)
		case int:
			next, path = next.item(k), fmt.Sprintf("%s[%d]", path, k)
		}
		if next != nil {
			at, path = next, next.path
		}
	}
	message := mistake.OneLine(fmt.Sprintf(format, args...))
	if m.main != nil && at.file != m.main.file && (m.config == nil || at.file != m.config.file) {
		if ext := m.main.get("extends"); ext != nil {
			message += fmt.Sprintf(" (%s:%d:%d: %s)", at.file, at.line, at.column, path)
			at, path = ext, ext.path
		}
	}
	m.found = append(m.found, Error{File: at.file, Line: at.line, Column: at.column, Path: path, Message: message})
}
