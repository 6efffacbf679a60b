package source

import (
	"cmp"
	"encoding/json"
	"errors"
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

// checker holds values against schemas and takes them down as nodes. It goes through the fields by
// itself, so that each mistake is found, gives one message, and has its place.
type checker struct {
	Found   pipelines.Mistakes
	main    *node // the pipeline that was asked for, or nil
	config  *node // the settings of the repository, or nil
	library *library
	schema  cue.Value          // with the definitions of what conditions may ask about
	known   map[string]*schema // the definitions that files are held against
	loose   bool               // values need not be concrete
}

// walk returns v as a node. Parts that are wrong are noted and left out, so
// that what is right can still be checked further; nil means all of it is.
func (c *checker) walk(v cue.Value, s *schema, n *node) *node {
	before := len(c.Found)
	n = c.typed(v, s, n)
	for i := range c.Found[before:] {
		c.Found[before+i].Message += s.see
	}
	if form := forms[s.says("form")]; n != nil && form != nil {
		form(c, n)
	}
	if as := s.says("as"); n != nil && as != "" && n.Kind != objectNode {
		n = &node{place: n.place, Path: n.Path, Label: n.Label, Kind: objectNode, Fields: map[string]*node{as: n}}
	}
	return n
}

// typed is walk without what the form of a field asks for.
func (c *checker) typed(v cue.Value, s *schema, n *node) *node {
	n.place = placeOf(v, n.place)
	if s.wrong != "" {
		return c.wrong(n, "%s", s.wrong)
	}
	if use := s.says("constraint"); use != "" {
		return c.constraint(v, use, n)
	}
	v, _ = v.Default()
	kind := v.IncompleteKind()
	s = s.alternative(v, c.loose)
	switch {
	case kind == cue.BottomKind:
		for _, e := range translate(cmp.Or(v.Err(), errors.New("not a value")), n.File) {
			c.add(n, nil, "%s", e.Message)
		}
		return nil
	case kind == cue.StructKind && s.kind == cue.StructKind && v.Err() == nil:
		return c.object(v, s, n)
	case kind == cue.ListKind && s.kind == cue.ListKind && v.IsConcrete() && v.Err() == nil:
		n.Kind = listNode
		for it, _ := v.List(); it.Next(); { // it is a list
			at := node{place: n.place, Path: fmt.Sprintf("%s[%d]", n.Path, len(n.Items))}
			item := at
			walked := c.walk(it.Value(), s.Items, &item)
			if walked == nil {
				walked = &node{place: item.place, Path: at.Path, Scalar: json.RawMessage("null")}
			}
			n.Items = append(n.Items, walked)
		}
		return n
	case c.loose:
		c.possible(v, s, n)
		return n
	}
	data, err := v.MarshalJSON()
	switch invalid := s.value.Unify(v).Validate(cue.Concrete(true)); {
	case invalid != nil && !v.IsConcrete():
		return c.wrong(n, "got %s, which is not one value, expected %s", showValue(v), s.words())
	case invalid != nil || err != nil:
		return c.wrong(n, "got %s, expected %s%s", showValue(v), s.words(), s.meant(v))
	}
	n.Scalar = data
	return n
}

// possible notes what a condition asks that can never be.
func (c *checker) possible(v cue.Value, s *schema, n *node) {
	// What a list has to hold, an open one does not.
	if s.value.Unify(v).Validate() == nil || s.kind == cue.ListKind && v.IncompleteKind() == cue.ListKind {
		return
	}
	way := ""
	if said, err := v.String(); err == nil && fixedFile(n.File) != "" && strings.IndexAny(said, "<>!=") == 0 {
		fields := strings.Split(n.Path, ".")
		way = fmt.Sprintf("; a comparison is CUE, so write the condition as one text: when: '%s: %s'", strings.Join(fields[slices.Index(fields, "when")+1:], ": "), said)
	}
	c.add(n, nil, "can never be: got %s, expected %s%s", showValue(v), s.words(), way)
}

func (c *checker) object(v cue.Value, s *schema, n *node) *node {
	n.Kind, n.Fields = objectNode, map[string]*node{}
	it, _ := v.Fields(cue.Optional(c.loose)) // it is an object without an error
	for it.Next() {
		name := it.Selector().Unquoted()
		child := &node{place: n.place, Path: pipelines.JoinPath(n.Path, name), Label: labelOf(it.Value(), n.place)}
		field := s.field(name)
		if field == nil {
			child.place = child.Label
			c.add(child, nil, "%s", s.unknown(name))
			continue
		}
		if len(n.Fields) == 0 && v.Pos().Filename() == "" {
			n.place = child.Label // TOML's tables have no place of their own
		}
		n.Fields[name] = c.walk(it.Value(), field, child)
	}
	for _, name := range s.Required {
		if !c.loose && !n.wrote(name) {
			c.add(n, []any{name}, "missing, expected %s", s.Properties[name].words())
		}
	}
	return n
}

// wrong notes a mistake that leaves nothing of a value.
func (c *checker) wrong(n *node, format string, args ...any) *node {
	c.add(n, nil, format, args...)
	return nil
}

// placeOf says where a value was written, or otherwise.
func placeOf(v cue.Value, otherwise place) place {
	if f, ok := v.Source().(*ast.Field); ok && f.Value.Pos().IsValid() {
		return placeAt(f.Value.Pos(), otherwise)
	}
	return placeAt(v.Pos(), otherwise)
}

// labelOf says where the name of a field was written, or otherwise.
func labelOf(v cue.Value, otherwise place) place {
	otherwise = placeOf(v, otherwise)
	if f, ok := v.Source().(*ast.Field); ok {
		return placeAt(f.Label.Pos(), otherwise)
	}
	return otherwise
}

// placeAt is a position, or otherwise where that is in another file.
func placeAt(pos token.Pos, otherwise place) place {
	if !pos.IsValid() || pos.Filename() != otherwise.File {
		return otherwise
	}
	return place{pos.Filename(), pos.Line(), pos.Column()}
}

// constraint takes down CUE that describes values as text that stands by
// itself, which is how a frozen pipeline keeps it.
func (c *checker) constraint(v cue.Value, use string, n *node) *node {
	s, err := v.String()
	asText := err == nil
	if asText {
		v = NewContext().CompileString(s, cue.Filename(use+" of "+path.Base(n.File)))
		for _, e := range translate(v.Validate(), "") {
			c.add(n, nil, "the text is not valid CUE: %s", e.Message)
			asText = false
		}
		if !asText {
			return nil
		}
	}
	if err := v.Err(); err != nil {
		return c.wrong(n, "has to be clear before there are values: %s", translate(err, "")[0].Message)
	}
	if v.IncompleteKind() != cue.StructKind {
		return c.wrong(n, "got %s, expected an object that describes fields, or such CUE as text", showValue(v))
	}
	if language := fixedFile(n.File); !asText && use == "report" && language != "" {
		if it, err := v.Fields(); err == nil && it.Next() && path.Ext(n.File) == ".toml" {
			n.place = labelOf(it.Value(), n.place) // TOML's tables have no place of their own
		}
		return c.wrong(n, "got an object, which holds fixed values in %s; describe the fields in CUE, as one text, such as 'risk: string, files: [...string]'", language)
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
		return c.wrong(n, "%s", wrong)
	}
	if facts := map[string]string{"when": "#Facts", "skip": "#Before"}[use]; facts != "" {
		n.value = v
		asked := c.ask(n, c.definition(facts))
		if asked == nil {
			return nil
		}
		n.Fields = asked.Fields
	}
	n.Kind = scalarNode
	n.Scalar, _ = json.Marshal(text) // a string always has a JSON form
	return n
}

// ask holds a condition against what there is to ask about.
func (c *checker) ask(when *node, facts *schema) *node {
	c.loose = true
	defer func() { c.loose = false }()
	return c.walk(when.value, facts, &node{place: when.place, Path: when.Path})
}

// maxGoal is the most bytes a goal may have: longer ones crowd out the issue.
const maxGoal = 10_000

// forms note what is wrong with a value that fits its type, by what the attribute @form of a
// field calls them.
var forms = map[string]func(c *checker, n *node){
	"pattern":  eachText(pipelines.BadPattern),
	"host":     eachText(pipelines.BadHost),
	"address":  eachText(pipelines.BadAddress),
	"artifact": eachText(pipelines.BadArtifact),
	"document": eachText(pipelines.BadDocument),
	"once": func(c *checker, n *node) {
		c.repeated(n, n.Items, "%q again")
	},
	"names": func(c *checker, n *node) {
		var names []*node
		for _, item := range n.Items {
			names = append(names, item.get("name"))
		}
		c.repeated(n, names, "%q is already the name of another command here", "name")
	},
	"goal": func(c *checker, n *node) {
		if size := len(n.text()); size > maxGoal {
			c.add(n, nil, "%d bytes, expected at most %d; put the rest into a file of the repository and name it here", size, maxGoal)
		}
	},
	"regexp": func(c *checker, n *node) {
		if _, err := regexp.Compile(n.text()); err != nil {
			c.add(n, nil, "%v", err)
		}
	},
	"variables": func(c *checker, n *node) {
		for _, name := range n.fieldNames() {
			if why := pipelines.WithheldFromChecks(name); why != "" {
				c.add(n, []any{name}, "%s", why)
			}
		}
	},
	"agents": func(c *checker, n *node) {
		for _, name := range n.fieldNames() {
			var agent pipelines.Agent
			_ = n.get(name).decode(&agent) // what is right of it counts
			pipelines.WrongTools(agent, func(why string, keys ...any) { c.add(n.get(name), keys, "%s", why) })
		}
	},
	"hooks": func(c *checker, n *node) {
		for i, item := range n.Items {
			var hook pipelines.Hook
			_ = item.decode(&hook) // what is right of it counts
			if why := hook.Wrong(); why != "" {
				c.add(n, []any{i}, "%s", why)
			}
		}
	},
}

// eachText holds a text, or each text of a list, against what says why it is bad.
func eachText(bad func(string) string) func(c *checker, n *node) {
	return func(c *checker, n *node) {
		for _, text := range append(n.Items, n) {
			if text.Kind != scalarNode || string(text.Scalar) == "null" { // it is wrong already
				continue
			}
			if why := bad(text.text()); why != "" {
				c.add(text, nil, "%q %s", text.text(), why)
			}
		}
	}
}

// repeated notes each text of a list that is the same as one before it; keys lead to it from
// its item in n.
func (c *checker) repeated(n *node, list []*node, format string, keys ...any) {
	var seen []string
	for i, item := range list {
		if text := item.text(); text != "" && slices.Contains(seen, text) {
			c.add(n, append([]any{i}, keys...), format, text)
		}
		seen = append(seen, item.text())
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
