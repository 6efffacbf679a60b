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
	said map[string]*strings.Builder // by where it stands
	all  []string                    // those places, in their order
}

// placeNames tell apart what is said at the same time.
var placeNames = []string{"type", "index", "output_index", "content_index", "summary_index"}

// moreWords are words besides those that are counted.
var moreWords = []string{"choices.delta.reasoning", "choices.delta.reasoning_content", "choices.delta.refusal"}

// spoken gives a stream of events as people read it: first the events without the words
// in them, then the words. Events that are cut off are left out.
func spoken(api API, stream string) string {
	p := phrases{said: map[string]*strings.Builder{}}
	var out strings.Builder
	for event := range strings.SplitSeq(strings.ReplaceAll(stream, "\r\n", "\n"), "\n\n") {
		var data strings.Builder
		for line := range strings.Lines(event) {
			if rest, is := strings.CutPrefix(line, "data:"); is {
				data.WriteString(rest)
			}
		}
		var v any
		switch text := strings.TrimSpace(data.String()); {
		case text == "" && strings.TrimSpace(event) == "":
		case text == "[DONE]":
			out.WriteString("[DONE]\n")
		case json.Unmarshal([]byte(text), &v) != nil:
			out.WriteString("[an event that is cut off]\n")
		default:
			before := len(p.all)
			if rest, words := p.take(api, v, "", ""); !words || len(p.all) > before {
				line, _ := json.Marshal(rest) // it was JSON
				out.Write(append(line, '\n'))
			}
		}
	}
	for _, at := range p.all {
		fmt.Fprintf(&out, "%s: %s\n", strings.TrimSpace(at), p.said[at])
	}
	return out.String()
}

// take takes the words out of a value that stands at a path, and reports whether there were any.
func (p *phrases) take(api API, v any, path, place string) (rest any, words bool) {
	switch v := v.(type) {
	case string:
		f, known := answerFields()[api][path]
		if !(known && f == ofWords) && !slices.Contains(moreWords, path) {
			return v, false
		}
		p.add(path+place, v)
		return "", true
	case []any:
		for i := range v {
			var more bool
			v[i], more = p.take(api, v[i], path, fmt.Sprintf("%s %d", place, i))
			words = words || more
		}
	case map[string]any:
		for _, name := range placeNames {
			if at, is := v[name]; is {
				place += fmt.Sprintf(" %v", at)
			}
		}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			var more bool
			v[name], more = p.take(api, v[name], strings.TrimPrefix(path+"."+name, "."), place)
			words = words || more
		}
	}
	return v, words
}

func (p *phrases) add(at, words string) {
	if p.said[at] == nil {
		p.said[at] = &strings.Builder{}
		p.all = append(p.all, at)
	}
	p.said[at].WriteString(words)
}
