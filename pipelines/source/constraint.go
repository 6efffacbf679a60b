package source

import (
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/format"

	"github.com/reprise-ci/reprise/pipelines"
)

// constraint takes down CUE that describes values as text that stands by
// itself, which is how a frozen pipeline keeps it.
func (c *checker) constraint(v cue.Value, use string, n *Node) *Node {
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
	text := strings.TrimSpace(string(data))
	switch {
	case err != nil:
	case use == "report":
		n.Schema, err = reportSchema(NewContext(), text)
	default:
		err = NewContext().CompileString(text).Validate()
	}
	if err != nil {
		c.Add(n, nil, "cannot stand without the rest of the file: %v; write it out here", err)
		return nil
	}
	if use == "report" && string(n.Schema) == "null" {
		c.Add(n, nil, "names no fields, expected at least one")
		return nil
	}
	if field, word := quotedType(n.Schema); use == "report" && field != "" {
		c.Add(n, nil, "%s can be nothing but the word %q; for any value of that type write it without quotes", field, word)
		return nil
	}
	if why := badRequest(n.Schema); use == "report" && why != "" {
		c.Add(n, nil, "%s", why)
		return nil
	}
	if facts := map[string]*Shape{"when": c.facts, "skip": c.before}[use]; facts != nil {
		asked := c.walk(v, facts, &Node{NodePlace: n.NodePlace, Path: n.Path})
		if asked == nil {
			return nil
		}
		n.Names, n.Fields = asked.Names, asked.Fields
	}
	n.Kind = ScalarNode
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
	c.walk(v, newShape(schema), &Node{})
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
