package phases

import (
	"cmp"
	"encoding/json"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// AnsweredDocument gives the last message of an agent without the report at its end.
func AnsweredDocument(text string) string {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return ""
	}
	if before, after, ok := cutLast(text, "```json\n"); ok && json.Valid([]byte(strings.TrimSuffix(after, "```"))) {
		text = strings.TrimSpace(before)
	}
	return text
}

// AnsweredReport gives what an agent has answered as data: the typed answer, else the last fenced
// JSON block of its text.
func AnsweredReport(typed json.RawMessage, text string) json.RawMessage {
	if len(typed) > 0 {
		return typed
	}
	_, after, ok := cutLast(text, "```json\n")
	if !ok {
		return nil
	}
	body, _, ok := strings.Cut(after, "\n```")
	if !ok || !json.Valid([]byte(body)) {
		return nil
	}
	return json.RawMessage(body)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// mostStderr is how much of what an agent's program wrote to standard error is kept, in Unicode code points.
const mostStderr = 1000

// LastWords is the end of what a program wrote to standard error, from the beginning of a line where there is one.
func LastWords(stderr string) string {
	stderr = strings.TrimSpace(ValidText(stderr))
	r := []rune(stderr)
	if len(r) <= mostStderr {
		return stderr
	}
	end := string(r[len(r)-mostStderr:])
	if _, rest, ok := strings.Cut(end, "\n"); ok {
		return rest
	}
	return "…" + end
}

// takeDecisions takes the three decisions of planning from a report that has them.
func takeDecisions(to *metadata.DesignDecisions, report json.RawMessage) {
	var d metadata.DesignDecisions
	if json.Unmarshal(report, &d) != nil {
		return // the report is checked against its own schema; it need not have these fields
	}
	decide(to, metadata.DesignDecisions{}, d)
}

// decide takes over those decisions that were made, which are not as they were.
func decide(to *metadata.DesignDecisions, was, is metadata.DesignDecisions) {
	to.ImplementationStrategy = cmp.Or(unlessSame(was.ImplementationStrategy, is.ImplementationStrategy, ""), to.ImplementationStrategy)
	to.TestStrategy = cmp.Or(unlessSame(was.TestStrategy, is.TestStrategy, ""), to.TestStrategy)
	to.TestCodeStrategy = cmp.Or(unlessSame(was.TestCodeStrategy, is.TestCodeStrategy, ""), to.TestCodeStrategy)
}

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

// cutString finds the first string in JSON. Where there is none that is whole, all of it is before.
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
