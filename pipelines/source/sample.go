package source

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp/syntax"
	"slices"
	"strings"
)

// Of gives a small value that fits a JSON Schema: every required
// property, the first word of an enum, the shortest list and string. It knows
// the keywords that pipelines export; patterns may be any regular expression
// without look-around.
func SampleOf(schema json.RawMessage) (json.RawMessage, error) {
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the JSON Schema of the answer: %w", err)
	}
	return json.Marshal(one(s))
}

// one does it for one level of a schema, and all below.
func one(s map[string]any) any {
	if v, ok := s["const"]; ok {
		return v
	}
	if list, ok := s["enum"].([]any); ok && len(list) > 0 {
		return list[0]
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		if list, ok := s[key].([]any); ok && len(list) > 0 {
			first, _ := list[0].(map[string]any)
			return one(first)
		}
	}
	switch typeIn(s) {
	case "object":
		return object(s)
	case "array":
		item, _ := s["items"].(map[string]any)
		out := []any{}
		for range int(number(s, "minItems", 0)) {
			out = append(out, one(item))
		}
		return out
	case "string":
		return sampleText(s)
	case "integer", "number":
		return numeric(s)
	case "boolean":
		return false
	}
	return nil
}

// typeIn is the type a schema asks for, or hints at.
func typeIn(s map[string]any) string {
	switch t := s["type"].(type) {
	case string:
		return t
	case []any:
		for _, one := range t {
			if name, ok := one.(string); ok && name != "null" {
				return name
			}
		}
	}
	for key, hint := range map[string]string{"properties": "object", "items": "array", "pattern": "string", "minimum": "number"} {
		if _, ok := s[key]; ok {
			return hint
		}
	}
	return "null"
}

func object(s map[string]any) map[string]any {
	out := map[string]any{}
	properties, _ := s["properties"].(map[string]any)
	required, _ := s["required"].([]any)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p, ok := properties[name].(map[string]any); ok && slices.Contains(required, any(name)) {
			out[name] = one(p)
		}
	}
	return out
}

func numeric(s map[string]any) any {
	v := max(0, number(s, "minimum", 0))
	if low, ok := s["exclusiveMinimum"].(float64); ok {
		v = max(v, low+1)
	}
	v = min(v, number(s, "maximum", v))
	if high, ok := s["exclusiveMaximum"].(float64); ok && v >= high {
		v = high - 1
	}
	if low := number(s, "minimum", v); v < low {
		v = low
	}
	return v
}

func number(s map[string]any, key string, without float64) float64 {
	if v, ok := s[key].(float64); ok {
		return v
	}
	return without
}

func sampleText(s map[string]any) string {
	text := "rehearsal"
	if pattern, ok := s["pattern"].(string); ok {
		if re, err := syntax.Parse(pattern, syntax.Perl); err == nil {
			text = shortest(re.Simplify())
		}
	}
	if least := int(number(s, "minLength", 0)); len(text) < least {
		text += strings.Repeat("x", least-len(text))
	}
	return text
}

// shortest gives a short text that a regular expression matches, taking the
// first of alternatives.
func shortest(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) > 0 {
			return string(friendly(re.Rune))
		}
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpCapture, syntax.OpPlus, syntax.OpAlternate:
		return shortest(re.Sub[0])
	case syntax.OpRepeat:
		return strings.Repeat(shortest(re.Sub[0]), re.Min)
	case syntax.OpConcat:
		var b strings.Builder
		for _, sub := range re.Sub {
			b.WriteString(shortest(sub))
		}
		return b.String()
	}
	return ""
}

// friendly picks a character of a class, a letter or digit if it has one.
func friendly(ranges []rune) rune {
	for _, want := range "axAX01" {
		for i := 0; i+1 < len(ranges); i += 2 {
			if ranges[i] <= want && want <= ranges[i+1] {
				return want
			}
		}
	}
	return ranges[0]
}
