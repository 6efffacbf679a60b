package gate

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// phrases puts together what a stream says in pieces: a secret that comes in two of them
// would be found in neither.
type phrases struct {
	api   API
	said  map[string]string // by where it stands
	all   []string          // those places, in their order
	taken int               // how many pieces were taken
}

// placeNames tell apart what is said at the same time.
var placeNames = []string{"type", "index", "output_index", "content_index", "summary_index"}

// spoken gives a stream of events as people read it: first the events without the words
// in them, then the words. Events that are cut off are left out.
func spoken(api API, stream string) string {
	p := phrases{api: api, said: map[string]string{}}
	var out strings.Builder
	for line := range strings.Lines(stream) {
		data, is := strings.CutPrefix(line, "data:")
		var v any
		switch data = strings.TrimSpace(data); {
		case !is:
		case data == "[DONE]":
			out.WriteString("[DONE]\n")
		case json.Unmarshal([]byte(data), &v) != nil:
			out.WriteString("[an event that is cut off]\n")
		default:
			places, taken := len(p.all), p.taken
			rest, _ := json.Marshal(p.take(v, "", "")) // it was JSON
			if p.taken == taken || len(p.all) > places {
				out.Write(append(rest, '\n'))
			}
		}
	}
	for _, at := range p.all {
		fmt.Fprintf(&out, "%s: %s\n", strings.TrimSpace(at), p.said[at])
	}
	return out.String()
}

// take takes the words out of a value that stands at a path.
func (p *phrases) take(v any, path, place string) (rest any) {
	switch v := v.(type) {
	case string:
		if f := protocols()[p.api].inAnswer[path]; f != ofWords && f != ofThought {
			return v
		}
		at := path + place
		if _, known := p.said[at]; !known {
			p.all = append(p.all, at)
		}
		p.said[at] += v
		p.taken++
		return ""
	case []any:
		for i := range v {
			v[i] = p.take(v[i], path, fmt.Sprintf("%s %d", place, i))
		}
	case map[string]any:
		for _, name := range placeNames {
			if at, is := v[name]; is {
				place += fmt.Sprintf(" %v", at)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			v[name] = p.take(v[name], join(path, name), place)
		}
	}
	return v
}
