package github

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/url"
	"reflect"
	"slices"
	"time"
)

// schema describes a value, with the words of OpenAPI 3.0 that GitHub uses.
type schema struct {
	Ref        string             `json:"$ref"`
	Type       string             `json:"type"`
	Nullable   bool               `json:"nullable"`
	Enum       []any              `json:"enum"`
	Format     string             `json:"format"`
	Properties map[string]*schema `json:"properties"`
	Required   []string           `json:"required"`
	Additional json.RawMessage    `json:"additionalProperties"`
	Items      *schema            `json:"items"`
	OneOf      []*schema          `json:"oneOf"`
	AnyOf      []*schema          `json:"anyOf"`
	AllOf      []*schema          `json:"allOf"`
	MinItems   int                `json:"minItems"`
	MinLength  int                `json:"minLength"`
	MaxLength  int                `json:"maxLength"`
	MaxProps   int                `json:"maxProperties"`
}

// resolve follows references.
func (d *description) resolve(sc *schema) *schema {
	for sc != nil && sc.Ref != "" {
		sc = d.Components.Schemas[last(sc.Ref)]
	}
	return sc
}

// check says in what a value is not what a schema describes: wrong, missing,
// or of a name that GitHub does not know.
func (d *description) check(sc *schema, v any, at string) []string {
	wrong := d.checkValue(sc, v, at)
	if o, isObject := v.(object); isObject {
		if known, closed := d.known(sc); closed {
			for _, name := range slices.Sorted(maps.Keys(o)) {
				if !known[name] {
					wrong = append(wrong, fmt.Sprintf("%s.%s is unknown", at, name))
				}
			}
		}
	}
	return wrong
}

// known are the names that an object may have, and whether these are all.
func (d *description) known(sc *schema) (map[string]bool, bool) {
	sc = d.resolve(sc)
	names, closed := map[string]bool{}, false
	if sc == nil {
		return names, false
	}
	if extra := string(sc.Additional); extra != "" && extra != "false" {
		return names, false
	}
	for name := range sc.Properties {
		names[name], closed = true, true
	}
	for _, part := range slices.Concat(sc.AllOf, sc.AnyOf, sc.OneOf) {
		more, c := d.known(part)
		maps.Copy(names, more)
		closed = closed || c
	}
	return names, closed
}

func (d *description) checkValue(sc *schema, v any, at string) []string {
	sc = d.resolve(sc)
	if sc == nil || v == nil && sc.Nullable {
		return nil
	}
	var wrong []string
	for _, part := range sc.AllOf {
		wrong = append(wrong, d.checkValue(part, v, at)...)
	}
	for _, choices := range [][]*schema{sc.OneOf, sc.AnyOf} { // GitHub's own answers fit several of oneOf
		wrong = append(wrong, d.checkChoices(choices, v, at)...)
	}
	if len(sc.Enum) > 0 && !slices.ContainsFunc(sc.Enum, func(e any) bool { return reflect.DeepEqual(e, v) }) {
		wrong = append(wrong, fmt.Sprintf("%s is %v, and not one of %v", at, v, sc.Enum))
	}
	switch sc.Type {
	case "":
		return wrong
	case "object":
		return append(wrong, d.checkObject(sc, v, at)...)
	case "array":
		return append(wrong, d.checkArray(sc, v, at)...)
	}
	return append(wrong, checkScalar(sc, v, at)...)
}

func (d *description) checkChoices(choices []*schema, v any, at string) []string {
	var first []string
	for i, sc := range choices {
		wrong := d.checkValue(sc, v, at)
		if len(wrong) == 0 {
			return nil
		}
		if i == 0 {
			first = wrong
		}
	}
	return first
}

func (d *description) checkObject(sc *schema, v any, at string) []string {
	o, isObject := v.(object)
	if !isObject {
		return []string{fmt.Sprintf("%s is %s, and no object", at, kindOf(v))}
	}
	var wrong []string
	for _, name := range sc.Required {
		if _, sent := o[name]; !sent {
			wrong = append(wrong, fmt.Sprintf("%s.%s is missing", at, name))
		}
	}
	if sc.MaxProps > 0 && len(o) > sc.MaxProps {
		wrong = append(wrong, fmt.Sprintf("%s has %d fields, and takes %d", at, len(o), sc.MaxProps))
	}
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if field := sc.Properties[name]; field != nil {
			wrong = append(wrong, d.check(field, o[name], at+"."+name)...)
		}
	}
	return wrong
}

func (d *description) checkArray(sc *schema, v any, at string) []string {
	list, isList := v.([]any)
	if !isList {
		return []string{fmt.Sprintf("%s is %s, and no list", at, kindOf(v))}
	}
	var wrong []string
	if len(list) < sc.MinItems {
		wrong = append(wrong, fmt.Sprintf("%s has %d items, and needs %d", at, len(list), sc.MinItems))
	}
	for i, x := range list {
		wrong = append(wrong, d.check(sc.Items, x, fmt.Sprintf("%s[%d]", at, i))...)
	}
	return wrong
}

func checkScalar(sc *schema, v any, at string) []string {
	no := func(want string) []string { return []string{fmt.Sprintf("%s is %s, and no %s", at, kindOf(v), want)} }
	switch sc.Type {
	case "boolean":
		if _, isBool := v.(bool); !isBool {
			return no("boolean")
		}
	case "integer":
		if n, isNumber := v.(float64); !isNumber || n != math.Trunc(n) {
			return no("integer")
		}
	case "number":
		if _, isNumber := v.(float64); !isNumber {
			return no("number")
		}
	case "string":
		s, isText := v.(string)
		n := len([]rune(s))
		switch {
		case !isText:
			return no("text")
		case n < sc.MinLength || sc.MaxLength > 0 && n > sc.MaxLength:
			return []string{fmt.Sprintf("%s has %d characters, and takes %d to %d", at, n, sc.MinLength, sc.MaxLength)}
		}
		return checkFormat(sc.Format, s, at)
	}
	return nil
}

func checkFormat(format, s, at string) []string {
	var err error
	switch format {
	case "date-time":
		_, err = time.Parse(time.RFC3339, s)
	case "uri":
		var u *url.URL
		if u, err = url.Parse(s); err == nil && !u.IsAbs() {
			err = fmt.Errorf("%q is no whole address", s)
		}
	}
	if err != nil {
		return []string{fmt.Sprintf("%s: %v", at, err)}
	}
	return nil
}

// kindOf says of a value what it is.
func kindOf(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return fmt.Sprintf("the text %.40q", v)
	case bool, float64:
		return fmt.Sprint(v)
	case []any:
		return "a list"
	}
	return "an object"
}
