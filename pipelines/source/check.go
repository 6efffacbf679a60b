package source

import (
	"encoding/json"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/format"
	"cuelang.org/go/cue/token"

	"github.com/reprise-ci/reprise/pipelines"
)

// checker holds a value against a schema and takes it down as nodes. It goes through the fields by
// itself, so that each mistake is found, gives one message, and has its place.
type checker struct {
	MistakeList
	library *library
	facts   *shape // of what a rule may ask about
	before  *shape // of what skip_if may ask about
	piece   func(file) *node
}

// walk returns v as a node. Parts that are wrong are noted and left out, so
// that what is right can still be checked further; nil means all of it is.
func (c *checker) walk(v cue.Value, s *shape, n *node) *node {
	n = c.typed(v, s, n)
	if form := forms[s.form]; n != nil && form != nil {
		form(&c.MistakeList, n)
	}
	if n != nil && s.as != "" && n.Kind != objectNode {
		n = &node{NodePlace: n.NodePlace, Path: n.Path, Label: n.Label, Kind: objectNode, Names: []string{s.as}, Fields: map[string]*node{s.as: n}}
	}
	return n
}

// typed is walk without what the form of a field asks for.
func (c *checker) typed(v cue.Value, s *shape, n *node) *node {
	n.NodePlace = placeOf(v, n.NodePlace)
	if s.Constraint != "" {
		return c.constraint(v, s.Constraint, n)
	}
	v, _ = v.Default()
	kind := v.IncompleteKind()
	s = s.forKind(kind)
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

func (c *checker) object(v cue.Value, s *shape, n *node) *node {
	n.Kind, n.Fields = objectNode, map[string]*node{}
	s.load()
	it, _ := v.Fields(cue.Optional(s.Loose)) // it is an object without an error
	for it.Next() {
		name := it.Selector().Unquoted()
		child := &node{NodePlace: n.NodePlace, Path: pipelines.JoinPath(n.Path, name)}
		child.Label = labelOf(it.Value(), n.NodePlace)
		field := s.Field(name)
		if field == nil {
			child.NodePlace = child.Label
			c.Add(child, nil, "%s", s.unknown(name))
			continue
		}
		if child = c.walk(it.Value(), field, child); child != nil {
			n.Set(name, child)
		} else {
			n.Names = append(n.Names, name) // it is there, though wrong
		}
	}
	if len(n.Names) > 0 && n.Get(n.Names[0]) != nil && v.Pos().Filename() == "" {
		n.NodePlace = n.Get(n.Names[0]).Label // TOML's tables have no place of their own
	}
	for _, name := range s.Required {
		if !s.Loose && !slices.Contains(n.Names, name) {
			c.Add(n, []any{name}, "missing, expected %s", s.Fields[name].words())
		}
	}
	return n
}

func (c *checker) list(v cue.Value, s *shape, n *node) *node {
	n.Kind = listNode
	s.load()
	it, err := v.List()
	if err != nil {
		c.cueError(v, n)
		return nil
	}
	elem := s.Elem
	if elem == nil {
		elem = s.child(NewContext().CompileString("_"))
	}
	for i := 0; it.Next(); i++ {
		item := &node{NodePlace: n.NodePlace, Path: fmt.Sprintf("%s[%d]", n.Path, i)}
		if walked := c.walk(it.Value(), elem, item); walked != nil {
			n.Items = append(n.Items, walked)
		} else {
			n.Items = append(n.Items, &node{NodePlace: item.NodePlace, Path: item.Path, Scalar: json.RawMessage("null")})
		}
	}
	return n
}

func (c *checker) scalar(v cue.Value, s *shape, n *node) *node {
	if s.Loose {
		if s.Value.Unify(v).Validate() != nil && (s.Kind != cue.ListKind || v.IncompleteKind() != cue.ListKind) { // what a list has to hold, an open one does not
			way := ""
			if said, err := v.String(); err == nil && fixedFile(n.File) != "" && strings.IndexAny(said, "<>!=") == 0 {
				fields := strings.Split(n.Path, ".")
				way = fmt.Sprintf("; a comparison is CUE, so write the condition as one text: when: '%s: %s'", strings.Join(fields[slices.Index(fields, "when")+1:], ": "), said)
			}
			c.Add(n, nil, "can never be: got %s, expected %s%s", showValue(v), s.words(), way)
		}
		return n
	}
	data, err := v.MarshalJSON()
	switch invalid := s.Value.Unify(v).Validate(cue.Concrete(true)); {
	case invalid != nil && !v.IsConcrete():
		c.Add(n, nil, "got %s, which is not one value, expected %s", showValue(v), s.words())
		return nil
	case invalid != nil || err != nil:
		c.Add(n, nil, "got %s, expected %s%s", showValue(v), s.words(), s.meant(v))
		return nil
	}
	n.Scalar = data
	return n
}

func (c *checker) cueError(v cue.Value, n *node) {
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
	return placeAt(pos)
}

func placeAt(pos token.Pos) NodePlace { return NodePlace{pos.Filename(), pos.Line(), pos.Column()} }

// labelOf says where the name of a field was written.
func labelOf(v cue.Value, otherwise NodePlace) NodePlace {
	if f, ok := v.Source().(*ast.Field); ok && f.Label.Pos().IsValid() && f.Label.Pos().Filename() == otherwise.File {
		return placeAt(f.Label.Pos())
	}
	return placeOf(v, otherwise)
}

// constraint takes down CUE that describes values as text that stands by
// itself, which is how a frozen pipeline keeps it.
func (c *checker) constraint(v cue.Value, use string, n *node) *node {
	s, err := v.String()
	asText := err == nil
	if asText {
		v = NewContext().CompileString(s, cue.Filename(use+" of "+path.Base(n.File)))
		if err := v.Validate(); err != nil {
			for _, e := range translate(err, "") {
				c.Add(n, nil, "the text is not valid CUE: %s", e.Message)
			}
			return nil
		}
	}
	if err := v.Err(); err != nil {
		c.Add(n, nil, "has to be clear before there are values: %s", translate(err, "")[0].Message)
		return nil
	}
	if v.IncompleteKind() != cue.StructKind {
		c.Add(n, nil, "got %s, expected an object that describes fields, or such CUE as text", showValue(v))
		return nil
	}
	if language := fixedFile(n.File); !asText && use == "report" && language != "" {
		if it, err := v.Fields(); err == nil && it.Next() && path.Ext(n.File) == ".toml" {
			n.NodePlace = labelOf(it.Value(), n.NodePlace) // TOML's tables have no place of their own
		}
		c.Add(n, nil, "got an object, which holds fixed values in %s; describe the fields in CUE, as one text, such as 'risk: string, files: [...string]'", language)
		return nil
	}
	data, err := format.Node(v.Syntax(cue.Docs(true), cue.InlineImports(true)))
	text, wrong := strings.TrimSpace(string(data)), ""
	switch {
	case err != nil:
	case use == "report":
		n.Schema, wrong, err = reportSchema(text)
	default:
		err = NewContext().CompileString(text).Validate()
	}
	if err != nil {
		wrong = fmt.Sprintf("cannot stand without the rest of the file: %v; write it out here", err)
	}
	if wrong != "" {
		c.Add(n, nil, "%s", wrong)
		return nil
	}
	if facts := map[string]*shape{"when": c.facts, "skip": c.before}[use]; facts != nil {
		asked := c.walk(v, facts, &node{NodePlace: n.NodePlace, Path: n.Path})
		if asked == nil {
			return nil
		}
		n.Names, n.Fields = asked.Names, asked.Fields
	}
	n.Kind = scalarNode
	n.Scalar, _ = json.Marshal(text) // a string always has a JSON form
	return n
}

// checkReport holds a JSON value against the text of a report.
func checkReport(report string, value []byte) error {
	ctx := NewContext()
	schema, err := reportValue(ctx, report)
	if err != nil {
		return fmt.Errorf("the report's own definition: %w", err)
	}
	v, err := jsonValue(ctx, value)
	if err != nil {
		return pipelines.Mistakes{{Message: "not valid JSON: " + pipelines.OneLine(err.Error())}}
	}
	c := &checker{}
	c.walk(v, newShape(schema), &node{})
	if len(c.Found) == 0 {
		// What fields demand of each other shows only in the whole.
		if err := schema.Unify(v).Validate(cue.Concrete(true)); err != nil {
			return translate(err, "").Sorted()
		}
	}
	return c.Found.OrNil()
}

// matches tells whether the facts are among the values that the text describes.
func matches(when string, facts []byte) (bool, error) {
	ctx := NewContext()
	w := ctx.CompileString(when, cue.Filename("when"))
	if err := w.Validate(); err != nil {
		return false, fmt.Errorf("when: %w", err)
	}
	f, err := jsonValue(ctx, facts)
	if err != nil {
		return false, fmt.Errorf("facts: %w", err)
	}
	return w.Subsume(f, cue.Final()) == nil, nil
}

// maxGoal is the most bytes a goal may have: longer ones crowd out the issue.
const maxGoal = 10_000

// forms note what is wrong with a value that fits its type, by what the attribute @form of a
// field calls them.
var forms = map[string]func(m *MistakeList, n *node){
	"pattern":  eachText(pipelines.BadPattern),
	"host":     eachText(pipelines.BadHost),
	"address":  eachText(pipelines.BadAddress),
	"artifact": eachText(pipelines.BadArtifact),
	"once": func(m *MistakeList, n *node) {
		m.repeated(n, n.Items, "%q again")
	},
	"names": func(m *MistakeList, n *node) {
		var names []*node
		for _, item := range n.Items {
			names = append(names, item.Get("name"))
		}
		m.repeated(n, names, "%q is already the name of another command here", "name")
	},
	"goal": func(m *MistakeList, n *node) {
		if size := len(n.Text()); size > maxGoal {
			m.Add(n, nil, "%d bytes, expected at most %d; put the rest into a file of the repository and name it here", size, maxGoal)
		}
	},
	"regexp": func(m *MistakeList, n *node) {
		if _, err := regexp.Compile(n.Text()); err != nil {
			m.Add(n, nil, "%v", err)
		}
	},
	"variables": func(m *MistakeList, n *node) {
		for _, name := range n.fieldNames() {
			if why := pipelines.WithheldFromChecks(name); why != "" {
				m.Add(n, []any{name}, "%s", why)
			}
		}
	},
	"agents": func(m *MistakeList, n *node) {
		for _, name := range n.fieldNames() {
			var agent pipelines.Agent
			_ = n.Get(name).decode(&agent) // what is right of it counts
			for _, wrong := range pipelines.WrongTools(agent) {
				m.Add(n.Get(name), wrong.Keys, "%s", wrong.Why)
			}
		}
	},
	"hooks": func(m *MistakeList, n *node) {
		for i, item := range n.Items {
			var hook pipelines.Hook
			_ = item.decode(&hook) // what is right of it counts
			if why := hook.Wrong(); why != "" {
				m.Add(n, []any{i}, "%s", why)
			}
		}
	},
}

// eachText holds a text, or each text of a list, against what says why it is bad.
func eachText(bad func(string) string) func(m *MistakeList, n *node) {
	return func(m *MistakeList, n *node) {
		for _, text := range append(n.Items, n) {
			if text.Kind != scalarNode || string(text.Scalar) == "null" { // it is wrong already
				continue
			}
			if why := bad(text.Text()); why != "" {
				m.Add(text, nil, "%q %s", text.Text(), why)
			}
		}
	}
}

// repeated notes each text of a list that is the same as one before it; keys lead to it from
// its item in n.
func (m *MistakeList) repeated(n *node, list []*node, format string, keys ...any) {
	var seen []string
	for i, item := range list {
		if text := item.Text(); text != "" && slices.Contains(seen, text) {
			m.Add(n, append([]any{i}, keys...), format, text)
		}
		seen = append(seen, item.Text())
	}
}

// decode reads what is right of a value.
func (n *node) decode(into any) error {
	data, err := json.Marshal(n)
	if err != nil {
		return err
	}
	return json.Unmarshal(data, into)
}
