package agents

import (
	"encoding/json"
	"maps"
	"slices"
)

// strictSchema rewrites a JSON Schema into the strict form of OpenAI's service: every property is required, an optional
// one may be null instead. It reports false where there is no such form.
func strictSchema(schema json.RawMessage) (strict json.RawMessage, ok bool, err error) {
	var s map[string]any
	if err := json.Unmarshal(schema, &s); err != nil {
		return nil, false, err
	}
	if s["type"] != "object" {
		return nil, false, nil
	}
	strict, err = json.Marshal(tighten(s))
	return strict, err == nil, err
}

// tighten does it for one level of a schema, and all below.
func tighten(s map[string]any) map[string]any {
	out := map[string]any{}
	for key, value := range s {
		switch key {
		case "type", "description", "enum", "const", "pattern", "format", "minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems":
			out[key] = value
		case "items":
			if item, ok := value.(map[string]any); ok {
				out[key] = tighten(item)
			}
		case "anyOf", "oneOf":
			out["anyOf"] = tightenAll(value)
		} // what else there is, the service refuses
	}
	if s["type"] != "object" {
		return out
	}
	properties, _ := s["properties"].(map[string]any)
	tight := map[string]any{}
	for name, value := range properties {
		p, _ := value.(map[string]any)
		tight[name] = tighten(p)
		if !required(s, name) {
			tight[name] = nullable(tighten(p))
		}
	}
	out["properties"] = tight
	out["required"] = slices.Sorted(maps.Keys(tight))
	out["additionalProperties"] = false
	return out
}

func tightenAll(list any) []any {
	var out []any
	alternatives, _ := list.([]any)
	for _, a := range alternatives {
		if s, ok := a.(map[string]any); ok {
			out = append(out, tighten(s))
		}
	}
	return out
}

func nullable(s map[string]any) map[string]any {
	if mayBeNull(s) {
		return s
	}
	return map[string]any{"anyOf": []any{s, map[string]any{"type": "null"}}}
}

func required(s map[string]any, name string) bool {
	list, _ := s["required"].([]any)
	return slices.Contains(list, any(name))
}

// mayBeNull says whether a schema takes null by itself.
func mayBeNull(s map[string]any) bool {
	if s["type"] == "null" {
		return true
	}
	types, _ := s["type"].([]any)
	alternatives, _ := s["anyOf"].([]any)
	return slices.Contains(types, any("null")) || slices.ContainsFunc(alternatives, func(a any) bool {
		m, _ := a.(map[string]any)
		return m != nil && mayBeNull(m)
	})
}

// relaxAnswer undoes what the strict form did to an answer: nulls of optional properties go away.
func relaxAnswer(schema, answer json.RawMessage) json.RawMessage {
	var s map[string]any
	var v any
	if json.Unmarshal(schema, &s) != nil || json.Unmarshal(answer, &v) != nil {
		return answer
	}
	out, err := json.Marshal(loosen(s, v))
	if err != nil {
		return answer // unreachable: it was just decoded
	}
	return out
}

func loosen(s map[string]any, v any) any {
	switch v := v.(type) {
	case []any:
		item, _ := s["items"].(map[string]any)
		for i := range v {
			v[i] = loosen(item, v[i])
		}
	case map[string]any:
		properties, _ := s["properties"].(map[string]any)
		for name, value := range v {
			p, known := properties[name].(map[string]any)
			if known && value == nil && !required(s, name) && !mayBeNull(p) {
				delete(v, name)
				continue
			}
			v[name] = loosen(p, value)
		}
	}
	return v
}
