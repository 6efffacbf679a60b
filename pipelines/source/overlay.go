package source

import (
	"slices"

	"github.com/reprise-ci/reprise/pipelines/mistake"
)

// overlay puts what a file says over the pipeline it extends and returns the
// whole. Both are left as they are.
func (c *mistakes) overlay(over, base *node) *node {
	out := base.clone()
	out.place = over.place
	out.unset("name")
	out.unset("extends")
	if nameOf(over.file) != nameOf(base.file) {
		out.unset("select") // else both would want the same issues
	}
	for _, name := range over.names {
		v := over.get(name)
		switch {
		case v == nil || name == "replace" || name == "insert" || name == "drop":
			// nil: there, but wrong; the others follow below
		case name == "phases":
			c.add(v, nil, "the phases come from %q; change them with replace, insert and drop", over.get("extends").text())
		case out.get(name) == nil:
			out.set(name, v)
		case name == "protect":
			out.set(name, together(out.get(name), v))
		case name == "spare" || name == "rules":
			out.set(name, appended(out.get(name), v))
		case v.kind == object && name != "network": // which is one of several kinds
			out.set(name, merged(out.get(name), v))
		default:
			out.set(name, v)
		}
	}
	phases := base.get("phases")
	if phases == nil {
		return out
	}
	phases = phases.clone()
	out.set("phases", phases)
	c.replace(over, phases)
	c.insert(over, phases)
	c.drop(over, out, phases)
	return out
}

// merged puts the fields of over in the place of those of base.
func merged(base, over *node) *node {
	out := base.clone()
	out.place = over.place
	for _, name := range over.names {
		if v := over.get(name); v != nil {
			out.set(name, v)
		}
	}
	return out
}

func appended(base, over *node) *node {
	out := base.clone()
	out.items = append(out.items, over.items...)
	return out
}

// together adds what over says of protected paths to what base says, each a list or an
// object.
func together(base, over *node) *node {
	out := &node{place: over.place, path: over.path, kind: object}
	for _, n := range []*node{base, over} {
		if n.kind == list {
			n = &node{names: []string{"paths"}, fields: map[string]*node{"paths": n}}
		}
		for name, v := range n.fields {
			if was := out.get(name); was != nil && v.kind == list {
				v = appended(was, v)
			}
			out.set(name, v)
		}
	}
	return out
}

func (c *mistakes) replace(over, phases *node) {
	for i, r := range over.list("replace") {
		if at := c.find(over, phases, r.get("name").text(), "replace", i, "name"); at >= 0 {
			phases.items[at] = merged(phases.items[at], r)
			phases.items[at].path = r.path
		}
	}
}

func (c *mistakes) insert(over, phases *node) {
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
			phases.items = slices.Insert(phases.items, at+shift, phase)
		}
	}
}

// drop takes phases out, and with them whatever cannot be without them.
func (c *mistakes) drop(over, out, phases *node) {
	var gone []string
	for i, d := range over.list("drop") {
		if at := c.find(over, phases, d.text(), "drop", i); at >= 0 {
			phases.items = slices.Delete(phases.items, at, at+1)
			gone = append(gone, d.text())
		}
	}
	if len(gone) == 0 {
		return
	}
	for i, p := range phases.items {
		phases.items[i] = p.clone()
		phases.items[i].strip("needs", gone)
	}
	if presets := out.get("presets"); presets != nil {
		presets = presets.clone()
		out.set("presets", presets)
		for _, name := range slices.Clone(presets.names) {
			presets.strip(name, gone)
			if len(presets.list(name)) == 0 {
				presets.unset(name)
			}
		}
	}
	if rules := out.get("rules"); rules != nil {
		rules = rules.clone()
		out.set("rules", rules)
		rules.items = slices.DeleteFunc(rules.items, func(r *node) bool {
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
	l.items = slices.DeleteFunc(l.items, func(item *node) bool { return slices.Contains(gone, item.text()) })
	n.set(name, l)
}

// find returns the index of the phase of that name, or -1 and notes it.
func (c *mistakes) find(over, phases *node, name string, keys ...any) int {
	var names []string
	for i, p := range phases.items {
		if p.get("name").text() == name {
			return i
		}
		names = append(names, p.get("name").text())
	}
	if name != "" { // else the name itself is wrong
		c.add(over, keys, "no phase %q in %q, %s", name, over.get("extends").text(), mistake.OneOf(name, names))
	}
	return -1
}
