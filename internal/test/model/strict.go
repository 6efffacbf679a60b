package model

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// checkStrict says what OpenAI's service has against a schema for structured
// answers: it takes objects only whose properties are all required and that
// allow no others, and knows no oneOf, allOf or not.
func checkStrict(raw json.RawMessage) error {
	var schema map[string]any
	if err := json.Unmarshal(raw, &schema); err != nil {
		return fmt.Errorf("not an object: %w", err)
	}
	if schema["type"] != "object" {
		return fmt.Errorf("schema must be a JSON Schema of 'type: \"object\"', got 'type: %q'", schema["type"])
	}
	return strictAt(schema, nil)
}

func strictAt(schema map[string]any, at []string) error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("in context=(%s), %s",
			strings.Join(at, ", "), fmt.Sprintf(format, args...))
	}
	for _, word := range []string{"oneOf", "allOf", "not", "if", "then", "else", "patternProperties", "dependentRequired"} {
		if _, ok := schema[word]; ok {
			return bad("'%s' is not permitted", word)
		}
	}
	if properties, ok := schema["properties"].(map[string]any); ok || schema["type"] == "object" {
		if schema["additionalProperties"] != false {
			return bad("'additionalProperties' is required to be supplied and to be false")
		}
		required, _ := schema["required"].([]any)
		for name := range properties {
			if !slices.Contains(required, any(name)) {
				return bad("'required' is required to be supplied and to be an array including every key in properties. Missing '%s'", name)
			}
		}
	}
	for key, v := range schema {
		if err := strictBelow(key, v, at); err != nil {
			return err
		}
	}
	return nil
}

// strictBelow goes on with the schemas that a keyword holds.
func strictBelow(key string, v any, at []string) error {
	at = append(slices.Clone(at), "'"+key+"'")
	switch key {
	case "properties", "$defs", "definitions":
		all, _ := v.(map[string]any)
		for name, s := range all {
			if sub, ok := s.(map[string]any); ok {
				if err := strictAt(sub, append(slices.Clone(at), "'"+name+"'")); err != nil {
					return err
				}
			}
		}
	case "items":
		if sub, ok := v.(map[string]any); ok {
			return strictAt(sub, at)
		}
	case "anyOf":
		all, _ := v.([]any)
		for _, s := range all {
			if sub, ok := s.(map[string]any); ok {
				if err := strictAt(sub, at); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
