package prompts

import (
	"fmt"
	"regexp"
	"strings"
)

// valuesOf gives values by their names, from pairs of both.
func valuesOf(pairs []any) map[string]string {
	values := map[string]string{}
	for i := 0; i+1 < len(pairs); i += 2 {
		values[fmt.Sprint(pairs[i])] = fmt.Sprint(pairs[i+1])
	}
	return values
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

// fill puts values in the place of {name}. Values are not looked at again.
func fill(text string, pairs ...string) string {
	for i := 0; i < len(pairs); i += 2 {
		pairs[i] = "{" + pairs[i] + "}"
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
