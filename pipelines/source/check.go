package source

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"

	"github.com/reprise-ci/reprise/pipelines"
)

// checker holds a value against a schema and takes it down as nodes. It goes through the fields by
// itself, so that each mistake is found, gives one message, and has its place.
type checker struct {
	MistakeList
	facts  *Shape // of what a rule may ask about
	before *Shape // of what skip_if may ask about
	piece  func(file) *Node
}

// walk returns v as a node. Parts that are wrong are noted and left out, so
// that what is right can still be checked further; nil means all of it is.
func (c *checker) walk(v cue.Value, s *Shape, n *Node) *Node {
	n = c.typed(v, s, n)
	if form := forms[s.form]; n != nil && form != nil {
		form(&c.MistakeList, n)
	}
	return n
}

// typed is walk without what the form of a field asks for.
func (c *checker) typed(v cue.Value, s *Shape, n *Node) *Node {
	n.NodePlace = placeOf(v, n.NodePlace)
	if s.Constraint != "" {
		return c.constraint(v, s.Constraint, n)
	}
	v, _ = v.Default()
	kind := v.IncompleteKind()
	s = s.ForKind(kind)
	switch {
	case kind == cue.BottomKind:
		c.cueError(v, n)
		return nil
	case kind == cue.StructKind && s.Kind == cue.StructKind && v.Err() == nil:
		return c.object(v, s, n)
	case kind == cue.ListKind && s.Kind == cue.ListKind && v.IsConcrete():
		return c.list(v, s, n)
	default:
		return c.scalar(v, s, n)
	}
}

func (c *checker) object(v cue.Value, s *Shape, n *Node) *Node {
	n.Kind, n.Fields = ObjectNode, map[string]*Node{}
	s.Load()
	it, err := v.Fields(cue.Optional(s.Loose))
	if err != nil {
		c.cueError(v, n)
		return nil
	}
	for it.Next() {
		name := it.Selector().Unquoted()
		child := &Node{NodePlace: n.NodePlace, Path: pipelines.JoinPath(n.Path, name)}
		child.Label = labelOf(it.Value(), n.NodePlace)
		field := s.Field(name)
		if field == nil {
			child.NodePlace = child.Label
			c.Add(child, nil, "%s", s.Unknown(name))
			continue
		}
		if child = c.walk(it.Value(), field, child); child != nil {
			n.Set(name, child)
		} else {
			n.Names = append(n.Names, name) // it is there, though wrong
		}
	}
	if first := n.Get(n.FirstName()); first != nil && v.Pos().Filename() == "" {
		n.NodePlace = first.Label // TOML's tables have no place of their own
	}
	for _, name := range s.Required {
		if !s.Loose && !slices.Contains(n.Names, name) {
			c.Add(n, []any{name}, "missing, expected %s", s.Fields[name].Words())
		}
	}
	return n
}

func (c *checker) list(v cue.Value, s *Shape, n *Node) *Node {
	n.Kind = ListNode
	s.Load()
	it, err := v.List()
	if err != nil {
		c.cueError(v, n)
		return nil
	}
	elem := s.Elem
	if elem == nil {
		elem = s.Child(NewContext().CompileString("_"))
	}
	for i := 0; it.Next(); i++ {
		item := &Node{NodePlace: n.NodePlace, Path: fmt.Sprintf("%s[%d]", n.Path, i)}
		if walked := c.walk(it.Value(), elem, item); walked != nil {
			n.Items = append(n.Items, walked)
		} else {
			n.Items = append(n.Items, &Node{NodePlace: item.NodePlace, Path: item.Path, Scalar: json.RawMessage("null")})
		}
	}
	return n
}

func (c *checker) scalar(v cue.Value, s *Shape, n *Node) *Node {
	if s.Loose {
		if s.Value.Unify(v).Validate() != nil && (s.Kind != cue.ListKind || v.IncompleteKind() != cue.ListKind) { // what a list has to hold, an open one does not
			way := ""
			if said, err := v.String(); err == nil && fixedFile(n.File) != "" && strings.IndexAny(said, "<>!=") == 0 {
				fields := strings.Split(n.Path, ".")
				way = fmt.Sprintf("; a comparison is CUE, so write the condition as one text: when: '%s: %s'", strings.Join(fields[slices.Index(fields, "when")+1:], ": "), said)
			}
			c.Add(n, nil, "can never be: got %s, expected %s%s", showValue(v), s.Words(), way)
		}
		return n
	}
	data, err := v.MarshalJSON()
	switch invalid := s.Value.Unify(v).Validate(cue.Concrete(true)); {
	case invalid != nil && !v.IsConcrete():
		c.Add(n, nil, "got %s, which is not one value, expected %s", showValue(v), s.Words())
		return nil
	case invalid != nil || err != nil:
		c.Add(n, nil, "got %s, expected %s%s", showValue(v), s.Words(), s.Meant(v))
		return nil
	}
	n.Scalar = data
	return n
}

func (c *checker) cueError(v cue.Value, n *Node) {
	err := v.Err()
	if err == nil {
		err = fmt.Errorf("not a value")
	}
	for _, e := range translate(err, n.File) {
		c.Add(n, nil, "%s", e.Message)
	}
}

// placeOf says where a value was written, or otherwise.
func placeOf(v cue.Value, otherwise NodePlace) NodePlace {
	pos := v.Pos()
	if f, ok := v.Source().(*ast.Field); ok && f.Value.Pos().IsValid() {
		pos = f.Value.Pos()
	}
	if !pos.IsValid() || pos.Filename() != otherwise.File {
		return otherwise
	}
	return NodePlace{File: pos.Filename(), Line: pos.Line(), Column: pos.Column()}
}

// labelOf says where the name of a field was written.
func labelOf(v cue.Value, otherwise NodePlace) NodePlace {
	if f, ok := v.Source().(*ast.Field); ok && f.Label.Pos().IsValid() && f.Label.Pos().Filename() == otherwise.File {
		p := f.Label.Pos()
		return NodePlace{File: p.Filename(), Line: p.Line(), Column: p.Column()}
	}
	return placeOf(v, otherwise)
}
