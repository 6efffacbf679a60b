package phases

import (
	"encoding/json"
	"strings"
)

// MaskedAnswer gives a structured answer whose texts mask has gone through, those that are paths
// and names of fields maskKnown alone. It stays the JSON that it is.
func MaskedAnswer(answer json.RawMessage, mask, maskKnown func(string) string) json.RawMessage {
	var out strings.Builder
	rest, field := string(answer), ""
	for {
		before, text, after, ok := cutString(rest)
		out.WriteString(before)
		if !ok {
			return json.RawMessage(out.String())
		}
		switch {
		case strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":"):
			field, text = text, maskKnown(text)
		case field == "file" || field == "files" || field == "path":
			text = maskKnown(text)
		default:
			text = mask(text)
		}
		quoted, _ := json.Marshal(text) // a string always encodes
		out.Write(quoted)
		rest = after
	}
}

// cutString finds the first string in JSON. Where there is none that is whole,
// all of it is before.
func cutString(text string) (before, value, after string, found bool) {
	start := strings.IndexByte(text, '"')
	if start < 0 {
		return text, "", "", false
	}
	for end := start + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case '"':
			if json.Unmarshal([]byte(text[start:end+1]), &value) != nil {
				return text, "", "", false
			}
			return text[:start], value, text[end+1:], true
		}
	}
	return text, "", "", false
}
