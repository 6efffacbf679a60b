package github

import (
	"bytes"
	"encoding/json"
	"flag"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

var extractFrom = flag.String("extract", "", "generated/api.github.com.json of @octokit/openapi, to write testdata from")

// The extract has the operations that the server has, and no others.
func TestExtract(t *testing.T) {
	if *extractFrom != "" {
		writeExtract(t)
	}
	data := []byte(testenv.Read(t, "testdata/api.github.com.json"))
	d, err := readDescription(data)
	testenv.Must(t, err)
	have := map[string]bool{}
	for path, methods := range d.Paths {
		for method := range methods {
			have[strings.ToUpper(method)+" "+path] = true
		}
	}
	for _, name := range Routes() {
		if !have[name] && name != "POST /graphql" {
			t.Errorf("the extract has no %s", name)
		}
		delete(have, name)
	}
	for name := range have {
		t.Errorf("the extract has %s, which the server has not", name)
	}
}

// writeExtract writes the part of GitHub's description that is used.
func writeExtract(t *testing.T) {
	data := []byte(testenv.Read(t, *extractFrom))
	var all object
	testenv.Must(t, json.Unmarshal(data, &all))
	x := extraction{all: all, out: object{"openapi": all["openapi"], "info": trim(all["info"], false)}}
	for _, name := range Routes() {
		if method, path, _ := strings.Cut(name, " "); path != "/graphql" {
			x.take("paths", path, strings.ToLower(method))
		}
	}
	x.take("components", "schemas", "basic-error")
	testenv.Put(t, "testdata/api.github.com.json", string(linewise(t, x.out, 3)))
}

type extraction struct{ all, out object }

// take copies one part, and what it refers to.
func (x extraction) take(way ...string) {
	from, to := x.all, x.out
	for _, name := range way[:len(way)-1] {
		from = from[name].(object)
		if to[name] == nil {
			to[name] = object{}
		}
		to = to[name].(object)
	}
	name := way[len(way)-1]
	if to[name] != nil {
		return
	}
	to[name] = trim(from[name], false)
	x.follow(to[name])
}

func (x extraction) follow(v any) {
	switch v := v.(type) {
	case object:
		if ref, ok := v["$ref"].(string); ok {
			x.take(strings.Split(strings.TrimPrefix(ref, "#/"), "/")...)
		}
		for _, part := range v {
			x.follow(part)
		}
	case []any:
		for _, part := range v {
			x.follow(part)
		}
	}
}

// trim takes away what is for people only. The names of properties are not.
func trim(v any, names bool) any {
	switch v := v.(type) {
	case object:
		out := object{}
		for name, part := range v {
			forPeople := slices.Contains([]string{"description", "summary", "example", "examples", "title", "externalDocs", "tags", "deprecated", "contact", "termsOfService", "discriminator"}, name)
			if names || !forPeople && !strings.HasPrefix(name, "x-") && name != "headers" {
				out[name] = trim(part, !names && name == "properties")
			}
		}
		return out
	case []any:
		out := []any{}
		for _, part := range v {
			out = append(out, trim(part, false))
		}
		return out
	}
	return v
}

// linewise writes what is so deep in a value on a line of its own.
func linewise(t *testing.T, v object, deep int) []byte {
	var b bytes.Buffer
	var write func(v any, depth int)
	write = func(v any, depth int) {
		o, ok := v.(object)
		if !ok || depth == deep || len(o) == 0 {
			line, err := json.Marshal(v)
			testenv.Must(t, err)
			b.Write(line)
			return
		}
		b.WriteString("{\n")
		for i, name := range slices.Sorted(maps.Keys(o)) {
			if i > 0 {
				b.WriteString(",\n")
			}
			b.WriteString(`"` + name + `":`)
			write(o[name], depth+1)
		}
		b.WriteString("\n}")
	}
	write(v, 0)
	b.WriteByte('\n')
	return b.Bytes()
}
