package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// Node is a value as somebody wrote it, with its place, which it keeps when pipelines are put together.
type Node struct {
	NodePlace
	Path   string // in its own file
	Kind   NodeKind
	Scalar json.RawMessage
	Items  []*Node
	Names  []string // of fields, in the order they were written
	Fields map[string]*Node

	Label  NodePlace       // of the field's name
	Schema json.RawMessage // of a report, as JSON Schema
}

// NodePlace is where something stands in a file.
type NodePlace struct {
	File         string
	Line, Column int
}

// NodeKind is what a node holds.
type NodeKind int

// The kinds of nodes.
const (
	ScalarNode NodeKind = iota // one value that has no parts
	ListNode                   // items
	ObjectNode                 // fields
)

// Get returns the field of that name, or nil; n may be nil.
func (n *Node) Get(name string) *Node {
	if n == nil {
		return nil
	}
	return n.Fields[name]
}

// Item returns the item at i, or nil; n may be nil.
func (n *Node) Item(i int) *Node {
	if n == nil || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// down gives the value at a path below n, or the deepest one on the way that there is.
func (n *Node) down(path string) *Node {
	for _, field := range n.Fields {
		if path == field.Path || strings.HasPrefix(path, field.Path+".") {
			return field.down(path)
		}
	}
	return n
}

// List returns the items of the field of that name.
func (n *Node) List(name string) []*Node {
	if f := n.Get(name); f != nil {
		return f.Items
	}
	return nil
}

// FirstName returns the name of the field that was written first, or "".
func (n *Node) FirstName() string {
	if len(n.Names) == 0 {
		return ""
	}
	return n.Names[0]
}

// FieldNames returns the names of the fields that are right; n may be nil.
func (n *Node) FieldNames() []string {
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.Fields))
}

// Text returns the string that n holds, or "".
func (n *Node) Text() string {
	var s string
	if n != nil && n.Kind == ScalarNode {
		_ = json.Unmarshal(n.Scalar, &s) // another type is no text
	}
	return s
}

// Set puts a field in, over one of the same name.
func (n *Node) Set(name string, v *Node) {
	if n.Fields == nil {
		n.Fields = map[string]*Node{}
	}
	if _, ok := n.Fields[name]; !ok {
		n.Names = append(n.Names, name)
	}
	n.Fields[name] = v
}

// unset takes a field out.
func (n *Node) unset(name string) {
	delete(n.Fields, name)
	n.Names = slices.DeleteFunc(n.Names, func(s string) bool { return s == name })
}

// Clone returns a copy whose lists and fields can be changed. Its values are
// shared, down to the next clone.
func (n *Node) Clone() *Node {
	c := *n
	c.Items = slices.Clone(n.Items)
	c.Names = slices.Clone(n.Names)
	c.Fields = maps.Clone(n.Fields)
	return &c
}

// MarshalJSON gives the value without its places.
func (n *Node) MarshalJSON() ([]byte, error) {
	switch n.Kind {
	case ListNode:
		return json.Marshal(append([]*Node{}, n.Items...))
	case ObjectNode:
		return json.Marshal(n.Fields)
	}
	return n.Scalar, nil
}

// Mistakes collects what is wrong with a pipeline.
type MistakeList struct {
	Found  pipelines.Mistakes
	Main   *Node // the pipeline that was asked for
	Config *Node // the settings of the repository, or nil
}

// Add notes a mistake at the value that keys lead to from n, or the deepest one there is. One that shows
// in a pipeline this one builds on is noted where that is named.
func (m *MistakeList) Add(n *Node, keys []any, format string, args ...any) {
	at, next, path := n, n, n.Path
	for _, key := range keys {
		switch k := key.(type) {
		case string:
			next, path = next.Get(k), pipelines.JoinPath(path, k)
		case int:
			next, path = next.Item(k), fmt.Sprintf("%s[%d]", path, k)
		}
		if next != nil {
			at, path = next, next.Path
		}
	}
	message := pipelines.OneLine(fmt.Sprintf(format, args...))
	if m.Main != nil && at.File != m.Main.File && (m.Config == nil || at.File != m.Config.File) {
		if ext := m.Main.Get("extends"); ext != nil {
			message += fmt.Sprintf(" (%s:%d:%d: %s)", at.File, at.Line, at.Column, path)
			at, path = ext, ext.Path
		}
	}
	m.Found = append(m.Found, pipelines.Mistake{File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message})
}
