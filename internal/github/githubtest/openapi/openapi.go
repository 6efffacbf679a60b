// Package openapi holds requests and answers against a description of an API in OpenAPI
// 3.0, with the words of it that GitHub's own description uses.
package openapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// Description says which operations an API has, and which values they take and give. It is
// not changed once it is read.
type Description struct {
	Paths      map[string]map[string]*operation `json:"paths"`
	Components struct {
		Schemas    map[string]*schema    `json:"schemas"`
		Parameters map[string]*parameter `json:"parameters"`
		Responses  map[string]*content   `json:"responses"`
	} `json:"components"`
}

type operation struct {
	Parameters  []*parameter        `json:"parameters"`
	RequestBody *content            `json:"requestBody"`
	Responses   map[string]*content `json:"responses"`
}

type parameter struct {
	Ref      string  `json:"$ref"`
	Name     string  `json:"name"`
	In       string  `json:"in"`
	Required bool    `json:"required"`
	Schema   *schema `json:"schema"`
}

// content is a body, of a request or an answer.
type content struct {
	Ref      string `json:"$ref"`
	Required bool   `json:"required"`
	Content  map[string]struct {
		Schema *schema `json:"schema"`
	} `json:"content"`
}

// object is a JSON object.
type object = map[string]any

// Read reads a description, which is JSON.
func Read(data []byte) (*Description, error) {
	var d Description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("read the description of the API: %w", err)
	}
	return &d, nil
}

// last is the name at the end of a reference.
func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// body gives the schema of a body; nil if there is none.
func (d *Description) body(c *content) *schema {
	if c != nil && c.Ref != "" {
		c = d.Components.Responses[last(c.Ref)]
	}
	if c == nil {
		return nil
	}
	return c.Content["application/json"].Schema
}

// CheckRequest says in what a request to a path, as the description writes it, is not as
// described. Params are what stands in the path, and input is the body; nil if there is none.
func (d *Description) CheckRequest(method, path string, params map[string]string, query url.Values, input any) []string {
	op := d.Paths[path][strings.ToLower(method)]
	if op == nil {
		return []string{"GitHub's description has no such operation: extend testdata"}
	}
	wrong := d.checkParameters(op, params, query)
	sc := d.body(op.RequestBody)
	switch {
	case input == nil && sc != nil && op.RequestBody.Required:
		return append(wrong, "it has no body")
	case input != nil && sc == nil:
		return append(wrong, "it has a body, and takes none")
	case input != nil:
		return append(wrong, d.check(sc, input, "body")...)
	}
	return wrong
}

func (d *Description) checkParameters(op *operation, params map[string]string, query url.Values) []string {
	var wrong []string
	known := map[string]bool{}
	for _, p := range op.Parameters {
		if p.Ref != "" {
			p = d.Components.Parameters[last(p.Ref)]
		}
		switch p.In {
		case "path":
			wrong = append(wrong, d.check(p.Schema, d.typed(p.Schema, params[p.Name]), p.Name)...)
		case "query":
			known[p.Name] = true
			if query.Has(p.Name) {
				wrong = append(wrong, d.check(p.Schema, d.typed(p.Schema, query.Get(p.Name)), p.Name)...)
			} else if p.Required {
				wrong = append(wrong, p.Name+" is missing")
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if !known[name] {
			wrong = append(wrong, name+" is unknown")
		}
	}
	return wrong
}

// typed reads a parameter, which is text, as what it should be.
func (d *Description) typed(sc *schema, s string) any {
	sc = d.resolve(sc)
	if sc == nil {
		return s
	}
	switch sc.Type {
	case "integer", "number":
		if n, err := strconv.ParseFloat(s, 64); err == nil {
			return n
		}
	case "boolean":
		if b, err := strconv.ParseBool(s); err == nil {
			return b
		}
	}
	return s
}

// CheckAnswer says in what the answer of an operation is not as described; without a method
// it is held against what all refusals have. GitHub does not list every refusal with every
// operation.
func (d *Description) CheckAnswer(method, path string, status int, body []byte) []string {
	sc := d.Components.Schemas["basic-error"]
	if method != "" {
		op := d.Paths[path][strings.ToLower(method)]
		if op == nil {
			return nil // said of the request
		}
		if c, ok := op.Responses[fmt.Sprint(status)]; ok {
			sc = d.body(c)
		} else if status < 300 {
			return []string{"it has no such status"}
		}
	}
	if sc == nil || body == nil {
		if sc != nil || body != nil {
			return []string{"it has a body where GitHub has none, or none where it has one"}
		}
		return nil
	}
	var value any
	if err := json.Unmarshal(body, &value); err != nil {
		return []string{err.Error()}
	}
	if o, isError := value.(object); isError && status >= 300 {
		delete(o, "status") // sent, and not described everywhere
	}
	return d.check(sc, value, "answer")
}
