package source

import (
	"encoding/json"
	"fmt"
	"slices"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/reprise-ci/reprise/pipelines/mistake"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// checker holds a value against a schema and takes it down as nodes. It goes
// through the fields by itself instead of letting CUE unify the whole: that
// way each mistake is found, each gives one message, and each has the place
// of the field it is about.
type checker struct {
	mistakes
	facts  *shape // of what a rule may ask about
	before *shape // of what skip_if may ask about
	piece  func(file) *node
}

// walk returns v as a node. Parts that are wrong are noted and left out, so
// that what is right can still be checked further; nil means all of it is.
func (c *checker) walk(v cue.Value, s *shape, n *node) *node {
	n.place = placeOf(v, n.place)
	if s.constraint != "" {
		return c.constraint(v, s.constraint, n)
	}
	v, _ = v.Default()
	kind := v.IncompleteKind()
	s = s.forKind(kind)
	switch {
	case kind == cue.BottomKind:
		c.cueError(v, n)
		return nil
	case kind == cue.StructKind && s.kind == cue.StructKind && v.Err() == nil:
		return c.object(v, s, n)
	case kind == cue.ListKind && s.kind == cue.ListKind && v.IsConcrete():
		return c.list(v, s, n)
	default:
		return c.scalar(v, s, n)
	}
}

func (c *checker) object(v cue.Value, s *shape, n *node) *node {
	n.kind, n.fields = object, map[string]*node{}
	s.load()
	it, err := v.Fields(cue.Optional(s.loose))
	if err != nil {
		c.cueError(v, n)
		return nil
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		child := &node{place: n.place, path: mistake.Join(n.path, name)}
		child.label = labelOf(it.Value(), n.place)
		field := s.field(name)
		if field == nil {
			child.place = child.label
			c.add(child, nil, "%s", s.unknown(name))
			continue
		}
		if child = c.walk(it.Value(), field, child); child != nil {
			n.set(name, child)
		} else {
			n.names = append(n.names, name) // it is there, though wrong
		}
	}
	if first := n.get(n.firstName()); first != nil && v.Pos().Filename() == "" {
		n.place = first.label // TOML's tables have no place of their own
	}
	for _, name := range s.required {
		if !s.loose && !slices.Contains(n.names, name) {
			c.add(n, []any{name}, "missing, expected %s", s.fields[name].words())
		}
	}
	return n
}

func (c *checker) list(v cue.Value, s *shape, n *node) *node {
	n.kind = list
	s.load()
	it, err := v.List()
	if err != nil {
		c.cueError(v, n)
		return nil
	}
	elem := s.elem
	if elem == nil {
		elem = s.child(reading.Context().CompileString("_"))
	}
	for i := 0; it.Next(); i++ {
		item := &node{place: n.place, path: fmt.Sprintf("%s[%d]", n.path, i)}
		if walked := c.walk(it.Value(), elem, item); walked != nil {
			n.items = append(n.items, walked)
		} else {
			n.items = append(n.items, &node{place: item.place, path: item.path, scalar: json.RawMessage("null")})
		}
	}
	return n
}

func (c *checker) scalar(v cue.Value, s *shape, n *node) *node {
	if s.loose {
		if s.v.Unify(v).Validate() != nil && (s.kind != cue.ListKind || v.IncompleteKind() != cue.ListKind) { // what a list has to hold, an open one does not
			c.add(n, nil, "can never be: got %s, expected %s", show(v), s.words())
		}
		return n
	}
	if err := s.v.Unify(v).Validate(cue.Concrete(true)); err != nil && !v.IsConcrete() {
		c.add(n, nil, "got %s, which is not one value, expected %s", show(v), s.words())
		return nil
	} else if err != nil {
		c.add(n, nil, "got %s, expected %s%s", show(v), s.words(), s.meant(v))
		return nil
	}
	data, err := v.MarshalJSON()
	if err != nil {
		c.add(n, nil, "got %s, expected %s", show(v), s.words())
		return nil
	}
	n.scalar = data
	return n
}

// meant adds the alternative that was probably meant.
func (s *shape) meant(v cue.Value) string {
	got, err := v.String()
	if err != nil {
		return ""
	}
	var valid []string
	for _, a := range s.alternatives() {
		if alternative, err := a.String(); err == nil {
			valid = append(valid, alternative)
		}
	}
	if best := mistake.Nearest(got, valid); best != "" {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

func (c *checker) cueError(v cue.Value, n *node) {
	err := v.Err()
	if err == nil {
		err = fmt.Errorf("not a value")
	}
	for _, e := range reading.Translate(err, n.file) {
		c.add(n, nil, "%s", e.Message)
	}
}

// placeOf says where a value was written, or otherwise.
func placeOf(v cue.Value, otherwise place) place {
	pos := v.Pos()
	if f, ok := v.Source().(*ast.Field); ok && f.Value.Pos().IsValid() {
		pos = f.Value.Pos()
	}
	if !pos.IsValid() || pos.Filename() != otherwise.file {
		return otherwise
	}
	return place{pos.Filename(), pos.Line(), pos.Column()}
}

// labelOf says where the name of a field was written.
func labelOf(v cue.Value, otherwise place) place {
	if f, ok := v.Source().(*ast.Field); ok && f.Label.Pos().IsValid() && f.Label.Pos().Filename() == otherwise.file {
		p := f.Label.Pos()
		return place{p.Filename(), p.Line(), p.Column()}
	}
	return placeOf(v, otherwise)
}

// show writes a value as somebody would recognize it.
func show(v cue.Value) string {
	switch v.IncompleteKind() {
	case cue.StructKind:
		return "an object"
	case cue.ListKind:
		return "a list"
	}
	text := mistake.OneLine(fmt.Sprint(v))
	if r := []rune(text); len(r) > 60 {
		text = string(r[:60]) + "..."
	}
	return text
}
