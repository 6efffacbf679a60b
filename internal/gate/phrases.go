package gate

import (
	"fmt"
	"strings"
)

// spoken gives a stream of events as people read it: first the events without words in them,
// then the words, each kind in one text. A secret that comes in two pieces would be found in
// neither. Events that are cut off are left out.
func spoken(api API, stream string) string {
	var out strings.Builder
	said, all := map[string]string{}, []string(nil)
	for line := range strings.Lines(stream) {
		data, is := strings.CutPrefix(line, "data:")
		data = strings.TrimSpace(data)
		words := 0
		err := everyValue([]byte(data), func(place string, v any) {
			text, isText := v.(string)
			if f := protocols()[api].inAnswer[place]; isText && (f == ofWords || f == ofThought) {
				if _, known := said[place]; !known {
					all = append(all, place)
				}
				said[place] += text
				words++
			}
		})
		switch {
		case !is || words > 0:
		case err != nil && data != "[DONE]":
			out.WriteString("[an event that is cut off]\n")
		default:
			out.WriteString(data + "\n")
		}
	}
	for _, place := range all {
		fmt.Fprintf(&out, "%s: %s\n", place, said[place])
	}
	return out.String()
}
