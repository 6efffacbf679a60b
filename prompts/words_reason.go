package prompts

import (
	"fmt"
	"maps"
	"slices"
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
		case "confidence":
			v = Word(c.Confidences, v)
		}
		said[name] = v
	}
	return counting(text, said)
}

// Logged gives a line, or a part of one, of the log of a run. The values follow
// in pairs of a name and a value. What has no words is its own.
func (c Catalogue) Logged(what string, pairs ...any) string {
	text, known := c.Log[what]
	if !known {
		return what
	}
	return counting(text, valuesOf(pairs))
}

// Shown gives a line, or a part of one, of what commands show of a run in a
// terminal. The values follow in pairs of a name and a value. A test compares
// all calls with the words that there are.
func (c Catalogue) Shown(what string, pairs ...any) string {
	return counting(c.Show[what], valuesOf(pairs))
}
