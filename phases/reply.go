package phases

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// AnsweredDocument gives the last message of an agent without the report at its end.
func AnsweredDocument(text string) string {
	text = strings.TrimSpace(text)
	if json.Valid([]byte(text)) {
		return ""
	}
	if last, _, _ := lastBlock(text); last >= 0 {
		text = strings.TrimSpace(text[:last])
	}
	return text
}

// AnsweredReport gives what an agent has answered as data: the typed answer, else its whole message, or the fenced
// block that ends it, if that is JSON. There is none where an earlier block has other values for the same names: one
// of them may be quoted. Nor is there one where an object has a name twice: who wrote which, nobody can tell. The error
// says why what stands there is none.
func AnsweredReport(typed json.RawMessage, text string) (json.RawMessage, error) {
	report, err := answered(typed, text)
	if report == nil || err != nil {
		return nil, err
	}
	if err := metadata.ParseAnswer(report, new(any)); err != nil {
		return nil, err
	}
	return report, nil
}

func answered(typed json.RawMessage, text string) (json.RawMessage, error) {
	switch {
	case string(typed) == "null": // and its message is none
		return nil, nil
	case json.Valid(typed):
		return typed, nil
	}
	if text = strings.TrimSpace(text); strings.HasPrefix(text, "{") || json.Valid([]byte(text)) {
		return json.RawMessage(text), nil
	}
	_, report, err := lastBlock(text)
	return report, err
}

// fence is the line that begins a fenced block, or ends one, perhaps in a list.
var fence = text.Pattern("^\\s*(?:[-*+]\\s+|\\d+[.)]\\s+)?(`{3,}|~{3,})\\s*(\\w*)\\s*$")

// errTwoBlocks says why a block is no answer.
var errTwoBlocks = errors.New("blocks of JSON contradict each other; end with one, and quote none")

// lastBlock finds the fenced JSON that ends a text, and where its fence begins; -1: there is none, and the error says why
// what looks like it is not.
func lastBlock(text string) (start int, report json.RawMessage, err error) {
	var blocks []json.RawMessage
	var open, body string
	at, start := 0, -1
	for line := range strings.Lines(strings.ReplaceAll(text, "\r", "\n")) {
		m := fence().FindStringSubmatch(line)
		switch {
		case open != "" && m != nil && m[2] == "" && strings.HasPrefix(m[1], open):
			if open = ""; json.Valid([]byte(body)) {
				blocks = append(blocks, json.RawMessage(body))
			} else if start = -1; strings.HasPrefix(strings.TrimSpace(body), "{") {
				err = metadata.ParseAnswer([]byte(body), new(any))
			}
		case open != "":
			body += line
		case m != nil:
			open, body, start, err = m[1], "", at, nil
			if m[2] != "" && !strings.EqualFold(m[2], "json") {
				body = m[2] // no JSON, whatever follows
			}
		case strings.TrimSpace(line) != "":
			start, err = -1, nil
		}
		at += len(line)
	}
	if start < 0 || open != "" {
		return -1, nil, err
	}
	last := blocks[len(blocks)-1]
	if slices.ContainsFunc(blocks, func(earlier json.RawMessage) bool { return contradict(earlier, last) }) {
		return start, nil, errTwoBlocks
	}
	return start, last, nil
}

// contradict reports whether two texts of JSON give one name two values.
func contradict(a, b json.RawMessage) bool {
	var one, other map[string]any
	if json.Unmarshal(a, &one) != nil || json.Unmarshal(b, &other) != nil {
		return false
	}
	for name, value := range one {
		if second, has := other[name]; has && fmt.Sprint(value) != fmt.Sprint(second) {
			return true
		}
	}
	return false
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
