package githubtest

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// description is GitHub's own description of its API, as far as it is used.
// It is not changed once it is read.
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

//go:embed testdata/api.github.com.json
var extract []byte

// readDescription reads it once: every server has the same.
var readDescription = sync.OnceValues(func() (*description, error) {
	var d description
	if err := json.Unmarshal(extract, &d); err != nil {
		return nil, fmt.Errorf("read GitHub's description of its API: %w", err)
	}
	return &d, nil
})

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

// checkRequest says in what a request is not as GitHub describes it.
func (d *description) checkRequest(r *route, params map[string]string, query url.Values, input any) []string {
	if r.path == "/graphql" {
		return nil // it has no description here; see graphQL
	}
	op := d.Paths[r.path][strings.ToLower(r.method)]
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

// checkAnswer says in what an answer is not as GitHub describes it. GitHub
// does not list every refusal with every operation.
func (d *description) checkAnswer(r *route, status int, body []byte) []string {
	sc := d.Components.Schemas["basic-error"]
	if r != nil && r.path == "/graphql" && status < 300 {
		return nil
	}
	if r != nil && r.path != "/graphql" {
		op := d.Paths[r.path][strings.ToLower(r.method)]
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
