package source

import (
	"encoding/json"
	"fmt"
	"regexp/syntax"
	"strings"
)

// SampleOf gives a small value that fits the JSON Schema of a report: every required
// property, the first word of an enum, the shortest list and text.
func SampleOf(schema json.RawMessage) (json.RawMessage, error) {
	var s Schema
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, fmt.Errorf("the JSON Schema of the answer: %w", err)
	}
	return json.Marshal(s.sample())
}

// sample does it for one level of a schema, and all below.
func (s *Schema) sample() any {
	if len(s.Enum) > 0 {
		return s.Enum[0]
	}
	if len(s.AnyOf) > 0 {
		return s.AnyOf[0].sample()
	}
	kind := s.Type
	if all, several := kind.([]any); several {
		kind = all[0]
	}
	switch kind {
	case "object":
		out := map[string]any{}
		for _, name := range s.Required {
			out[name] = s.Properties[name].sample()
		}
		return out
	case "array":
		return []any{}
	case "string":
		if re, err := syntax.Parse(s.Pattern, syntax.Perl); err == nil && s.Pattern != "" {
			return shortest(re.Simplify())
		}
		return "rehearsal"
	case "integer", "number":
		for _, limit := range []json.RawMessage{s.Minimum, s.Maximum} {
			if limit != nil {
				return limit
			}
		}
		return 0
	case "boolean":
		return false
	}
	return nil
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
