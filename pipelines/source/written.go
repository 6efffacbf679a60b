package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"cuelang.org/go/cue"

	"github.com/reprise-ci/reprise/pipelines"
)

// node is a value as somebody wrote it, with its place, which it keeps when pipelines are put together.
type node struct {
	place
	Path   string // in its own file
	Kind   nodeKind
	Scalar json.RawMessage
	Items  []*node
	Fields map[string]*node // nil: it is written, but wrong

	Label  place           // of the field's name
	Schema json.RawMessage // of a report, as JSON Schema
	value  cue.Value       // of a condition
}

// place is where something stands in a file.
type place struct {
	File         string
	Line, Column int
}

// nodeKind is what a node holds.
type nodeKind int

// The kinds of nodes.
const (
	scalarNode nodeKind = iota // one value that has no parts
	listNode                   // items
	objectNode                 // fields
)

// get returns the field of that name, or nil; n may be nil.
func (n *node) get(name string) *node {
	if n == nil {
		return nil
	}
	return n.Fields[name]
}

// item returns the item at i, or nil; n may be nil.
func (n *node) item(i int) *node {
	if n == nil || i >= len(n.Items) {
		return nil
	}
	return n.Items[i]
}

// list returns the items of the field of that name.
func (n *node) list(name string) []*node {
	if f := n.get(name); f != nil {
		return f.Items
	}
	return nil
}

// fieldNames returns the names of the fields that are right; n may be nil.
func (n *node) fieldNames() []string {
	if n == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(n.right()))
}

// right gives the fields that are right.
func (n *node) right() map[string]*node {
	out := maps.Clone(n.Fields)
	maps.DeleteFunc(out, func(_ string, field *node) bool { return field == nil })
	return out
}

// text returns the string that n holds, or "".
func (n *node) text() (s string) {
	if n != nil && n.Kind == scalarNode {
		_ = json.Unmarshal(n.Scalar, &s) // another type is no text
	}
	return s
}

// wrote reports whether a field is written, be it right or wrong.
func (n *node) wrote(name string) bool {
	_, there := n.Fields[name]
	return there
}

// clone returns a copy whose lists and fields can be changed. Its values are
// shared, down to the next clone.
func (n *node) clone() *node {
	out := *n
	out.Items, out.Fields = slices.Clone(n.Items), maps.Clone(n.Fields)
	return &out
}

// MarshalJSON gives the value without its places.
func (n *node) MarshalJSON() ([]byte, error) {
	switch n.Kind {
	case listNode:
		return json.Marshal(append([]*node{}, n.Items...))
	case objectNode:
		return json.Marshal(n.right())
	}
	return n.Scalar, nil
}

// add notes a mistake at the value that keys lead to from n, or the deepest one there is. One that shows
// in a pipeline this one builds on is noted where that is named.
func (c *checker) add(n *node, keys []any, format string, args ...any) {
	at, next, path := n, n, n.Path
	for _, key := range keys {
		switch k := key.(type) {
		case string:
			next, path = next.get(k), pipelines.JoinPath(path, k)
		case int:
			next, path = next.item(k), fmt.Sprintf("%s[%d]", path, k)
		}
		if next != nil {
			at, path = next, next.Path
		}
	}
	message := pipelines.OneLine(fmt.Sprintf(format, args...))
	if c.main != nil && at.File != c.main.File && (c.config == nil || at.File != c.config.File) {
		if ext := c.main.get("extends"); ext != nil {
			message += fmt.Sprintf(" (%s:%d:%d: %s)", at.File, at.Line, at.Column, path)
			at, path = ext, ext.Path
		}
	}
	c.Found = append(c.Found, pipelines.Mistake{File: at.File, Line: at.Line, Column: at.Column, Path: path, Message: message})
}

// overlay puts what a file says over the pipeline it extends and returns the
// whole. Both are left as they are.
func (c *checker) overlay(over, base *node) *node {
	out := base.clone()
	out.place = over.place
	delete(out.Fields, "name")
	delete(out.Fields, "extends")
	if nameOf(over.File) != nameOf(base.File) {
		delete(out.Fields, "select") // else both would want the same issues
	}
	for name, v := range over.Fields {
		switch name {
		case "replace", "insert", "drop": // these follow below
		case "phases":
			if v != nil {
				c.add(v, nil, "the phases come from %q; change them with replace, insert and drop", over.get("extends").text())
			}
		case "hooks":
			delete(out.Fields, name)
			fallthrough
		default:
			out.put(name, v)
		}
	}
	phases := base.get("phases")
	if phases == nil {
		return out
	}
	phases = phases.clone()
	out.Fields["phases"] = phases
	c.replace(over, phases)
	c.insert(over, phases)
	c.drop(over, out, phases)
	return out
}

// put puts what is said of a field over what n has of it, or adds it; nil: it is wrong.
func (n *node) put(name string, said *node) {
	has := n.get(name)
	switch {
	case said == nil:
	case has == nil:
		n.Fields[name] = said
	case name == "protect":
		n.Fields[name] = together(has, said)
	case name == "spare" || name == "rules" || name == "hooks":
		n.Fields[name] = appendedNodes(has, said)
	case said.Kind == objectNode && has.Kind == objectNode && name != "network": // which is one of several kinds
		n.Fields[name] = mergedNodes(has, said)
	default:
		n.Fields[name] = said
	}
}

// mergedNodes puts the fields of over in the place of those of base.
func mergedNodes(base, over *node) *node {
	out := base.clone()
	out.place = over.place
	maps.Copy(out.Fields, over.right())
	return out
}

// appendedNodes puts the items of over behind those of base.
func appendedNodes(base, over *node) *node {
	out := base.clone()
	out.Items = append(out.Items, over.Items...)
	return out
}

// together adds what over says of protected paths to what base says.
func together(base, over *node) *node {
	out := &node{place: over.place, Path: over.Path, Kind: objectNode, Fields: map[string]*node{}}
	for _, n := range []*node{base, over} {
		for name, v := range n.right() {
			if was := out.get(name); was != nil && v.Kind == listNode {
				v = appendedNodes(was, v)
			}
			out.Fields[name] = v
		}
	}
	return out
}

func (c *checker) replace(over, phases *node) {
	for i, r := range over.list("replace") {
		if at := c.find(over, phases, r.get("name").text(), "replace", i, "name"); at >= 0 {
			phases.Items[at] = mergedNodes(phases.Items[at], r)
			phases.Items[at].Path = r.Path
		}
	}
}

func (c *checker) insert(over, phases *node) {
	for i, in := range over.list("insert") {
		after, before := in.get("after").text(), in.get("before").text()
		if (after == "") == (before == "") {
			c.add(over, []any{"insert", i}, "expected one of after and before, with the name of a phase")
			continue
		}
		key, shift := "after", 1
		if before != "" {
			key, shift = "before", 0
		}
		at := c.find(over, phases, after+before, "insert", i, key)
		if phase := in.get("phase"); at >= 0 && phase != nil {
			phases.Items = slices.Insert(phases.Items, at+shift, phase)
		}
	}
}

// drop takes phases out, and with them whatever cannot be without them.
func (c *checker) drop(over, out, phases *node) {
	var gone []string
	for i, d := range over.list("drop") {
		if at := c.find(over, phases, d.text(), "drop", i); at >= 0 {
			phases.Items = slices.Delete(phases.Items, at, at+1)
			gone = append(gone, d.text())
		}
	}
	if len(gone) == 0 {
		return
	}
	for i, p := range phases.Items {
		phases.Items[i] = p.clone()
		phases.Items[i].strip("needs", gone)
	}
	if presets := out.get("presets"); presets != nil {
		presets = presets.clone()
		out.Fields["presets"] = presets
		for name := range presets.Fields {
			presets.strip(name, gone)
			if len(presets.list(name)) == 0 {
				delete(presets.Fields, name)
			}
		}
	}
	if rules := out.get("rules"); rules != nil {
		rules = rules.clone()
		out.Fields["rules"] = rules
		rules.Items = slices.DeleteFunc(rules.Items, func(r *node) bool {
			return slices.Contains(gone, r.get("after").text()) ||
				slices.Contains(gone, r.get("then").get("rollback").get("to").text())
		})
	}
}

// strip takes texts out of the list of that name.
func (n *node) strip(name string, gone []string) {
	if n.get(name) == nil {
		return
	}
	l := n.get(name).clone()
	l.Items = slices.DeleteFunc(l.Items, func(item *node) bool { return slices.Contains(gone, item.text()) })
	n.Fields[name] = l
}

// find returns the index of the phase of that name, or -1 and notes it.
func (c *checker) find(over, phases *node, name string, keys ...any) int {
	var names []string
	for i, p := range phases.Items {
		if p.get("name").text() == name {
			return i
		}
		names = append(names, p.get("name").text())
	}
	if name != "" { // else the name itself is wrong
		c.add(over, keys, "no phase %q in %q, %s", name, over.get("extends").text(), pipelines.MustBeOneOf(name, names))
	}
	return -1
}
