package source

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
)

// In YAML, JSON and TOML every value is what it is: {risk: string} is the word
// "string" and no type. What describes values is written in CUE there, as text.

// fixedFile names the language of a file whose objects hold fixed values; "" if
// they may describe values.
func fixedFile(file string) string {
	return map[string]string{".yaml": "YAML", ".yml": "YAML", ".json": "JSON", ".toml": "TOML"}[path.Ext(file)]
}

// quotedType finds a field of a report that can be nothing but the name of a
// type, which somebody has put in quotes.
func quotedType(report json.RawMessage) (field, word string) {
	var s Schema
	if json.Unmarshal(report, &s) != nil {
		return "", ""
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if field, word := s.Properties[name].quotedType(name); field != "" {
			return field, word
		}
	}
	return "", ""
}

func (s *Schema) quotedType(name string) (field, word string) {
	if len(s.Enum) == 1 && json.Unmarshal(s.Enum[0], &word) == nil && slices.Contains([]string{"string", "int", "number", "float", "bool", "bytes"}, word) {
		return name, word
	}
	if s.Items != nil {
		return s.Items.quotedType(name + "[]")
	}
	for _, inner := range slices.Sorted(maps.Keys(s.Properties)) {
		if field, word := s.Properties[inner].quotedType(name + "." + inner); field != "" {
			return field, word
		}
	}
	return "", ""
}
