package github

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// description says which operations GitHub's API has, and which values they take and give,
// with the words of OpenAPI 3.0 that GitHub uses. It is not changed once it is read.
type description struct {
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

func readDescription(data []byte) (*description, error) {
	var d description
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, fmt.Errorf("read the description of the API: %w", err)
	}
	return &d, nil
}

// last is the name at the end of a reference.
func last(ref string) string { return ref[strings.LastIndex(ref, "/")+1:] }

// body gives the schema of a body; nil if there is none.
func (d *description) body(c *content) *schema {
	if c != nil && c.Ref != "" {
		c = d.Components.Responses[last(c.Ref)]
	}
	if c == nil {
		return nil
	}
	return c.Content["application/json"].Schema
}

func (d *description) operation(r *route) *operation {
	return d.Paths[r.path][strings.ToLower(r.method)]
}

// checkRequest says in what a request is not as described.
func (d *description) checkRequest(v *visit) []string {
	op := d.operation(v.route)
	if op == nil {
		return []string{"GitHub's description has no such operation: extend testdata"}
	}
	wrong := d.checkParameters(op, v.params, v.query)
	sc := d.body(op.RequestBody)
	switch {
	case v.input == nil && sc != nil && op.RequestBody.Required:
		wrong = append(wrong, "it has no body")
	case v.input != nil && sc == nil:
		wrong = append(wrong, "it has a body, and takes none")
	case v.input != nil:
		wrong = append(wrong, d.check(sc, v.input, "body")...)
	}
	return wrong
}

func (d *description) checkParameters(op *operation, params map[string]string, query url.Values) []string {
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
func (d *description) typed(sc *schema, s string) any {
	if sc = d.resolve(sc); sc == nil {
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

// write gives an answer as it is sent: what GitHub always sends is added to it. It says in what
// it is not as described. The route is nil if there is none: then it is held against what all
// refusals have, as GitHub does not list every refusal with every operation.
func (d *description) write(r *route, status int, value any) (body []byte, wrong []string) {
	sc := d.Components.Schemas["basic-error"]
	switch {
	case r == nil:
	case r.path == "/graphql" && status < 300: // GitHub describes it elsewhere; see graphQL
		sc = &schema{}
	case r.path != "/graphql":
		op := d.operation(r)
		if op == nil {
			break // said of the request
		}
		if c, ok := op.Responses[fmt.Sprint(status)]; ok {
			sc = d.body(c)
		} else if status < 300 {
			wrong = append(wrong, "it has no such status")
		}
	}
	if sc == nil || value == nil {
		if sc != nil || value != nil {
			wrong = append(wrong, "it has a body where GitHub has none, or none where it has one")
		}
		return nil, wrong
	}
	plain, err := asJSON(value)
	if err != nil {
		return nil, append(wrong, err.Error())
	}
	said, isRefusal := plain.(object)
	if isRefusal = isRefusal && status >= 300; !isRefusal {
		plain = d.complete(sc, plain)
	}
	number := said["status"]
	if isRefusal {
		delete(said, "status") // sent, and not described everywhere
	}
	wrong = append(wrong, d.check(sc, plain, "answer")...)
	if isRefusal && number != nil {
		said["status"] = number
	}
	body, _ = json.Marshal(plain) // it was JSON before
	return body, wrong
}

// asJSON is a value as it is read from JSON.
func asJSON(value any) (plain any, err error) {
	data, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(data, &plain)
	}
	return plain, err
}

// completed is an object with all that the one of a schema has in GitHub's description.
func (d *description) completed(name string, o object) object {
	plain, _ := asJSON(o)
	done, _ := d.complete(d.Components.Schemas[name], plain).(object)
	return done
}

// complete adds what a value has to have by its schema, and has not: null where that may be,
// or else something that says nothing.
func (d *description) complete(sc *schema, v any) any {
	if sc = d.resolve(sc); sc == nil {
		return v
	}
	for _, part := range sc.AllOf {
		v = d.complete(part, v)
	}
	for _, choices := range [][]*schema{sc.OneOf, sc.AnyOf} {
		if i := slices.IndexFunc(choices, func(c *schema) bool { return d.takes(c, v) }); i >= 0 {
			v = d.complete(choices[i], v)
		}
	}
	switch v := v.(type) {
	case object:
		for _, name := range sc.Required {
			if _, sent := v[name]; !sent {
				v[name] = d.blank(sc.Properties[name])
			}
		}
		for name, field := range sc.Properties {
			if part, sent := v[name]; sent {
				v[name] = d.complete(field, part)
			}
		}
	case []any:
		for i := range v {
			v[i] = d.complete(sc.Items, v[i])
		}
	}
	return v
}

// takes reports whether a schema is one of objects, lists or texts, as the value is.
func (d *description) takes(sc *schema, v any) bool {
	sc = d.resolve(sc)
	switch v.(type) {
	case object:
		return sc.Type == "object" || sc.Type == "" && len(sc.Properties)+len(sc.AllOf) > 0
	case []any:
		return sc.Type == "array"
	}
	return sc.Type == "string"
}

// blank is a value of a schema that says nothing.
func (d *description) blank(sc *schema) any {
	sc = d.resolve(sc)
	switch {
	case sc == nil || sc.Nullable:
		return nil
	case len(sc.Enum) > 0:
		return sc.Enum[0]
	case len(sc.AllOf)+len(sc.OneOf)+len(sc.AnyOf) > 0 && sc.Type == "":
		return d.blank(slices.Concat(sc.AllOf, sc.OneOf, sc.AnyOf)[0])
	case sc.Format == "date-time":
		return "2026-03-04T05:06:07Z"
	case sc.Format == "uri":
		return "https://api.github.com/blank"
	}
	switch sc.Type {
	case "object":
		return d.complete(sc, object{})
	case "array":
		return []any{}
	case "integer", "number":
		return 0.0
	case "boolean":
		return false
	}
	return strings.Repeat("0", sc.MinLength)
}
