package prompts

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Reason puts a reason of the record into words. One that it does not know, as
// a newer version has written it, is shown as it stands.
func (c Catalogue) Reason(code string, values map[string]string) string {
	text, known := c.Reasons[code]
	if !known {
		for _, name := range slices.Sorted(maps.Keys(values)) {
			code += fmt.Sprintf(" %s=%s", name, values[name])
		}
		return code
	}
	said := map[string]string{}
	for name, v := range values {
		switch name {
		case "step":
			v = Word(c.Steps, v)
		case "status":
			v = Word(c.Statuses, v)
		}
		said[name] = v
	}
	return counting(text, said)
}

// counting puts values in the place of {name}, and one of two words in that of
// {name|one|many}.
func counting(text string, values map[string]string) string {
	text = counted.ReplaceAllStringFunc(text, func(form string) string {
		parts := counted.FindStringSubmatch(form)
		if values[parts[1]] == "1" {
			return parts[2]
		}
		return parts[3]
	})
	pairs := make([]string, 0, 2*len(values))
	for name, v := range values {
		pairs = append(pairs, name, v)
	}
	return fill(text, pairs...)
}

// counted is a word that goes with a number, such as {n|file|files}.
var counted = regexp.MustCompile(`\{(\w+)\|([^{}|]*)\|([^{}|]*)\}`)

// List puts names into one line.
func (c Catalogue) List(items []string) string { return strings.Join(items, c.listed) }

// Sentences puts reasons into one line.
func (c Catalogue) Sentences(all []string) string { return strings.Join(all, c.sentences) }
