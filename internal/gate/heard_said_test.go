package gate

import (
	"testing"
)

// An answer counts as said where a model has said it: in words, as what it gave to a tool, in a stream or not.
func TestSaid(t *testing.T) {
	const verdict = `{"verdict": "fail", "gates": [{"pass": false}], "findings": [{"file": null, "line": 3}]}`
	for name, heard := range map[string]string{
		"itself":                verdict,
		"after words":           "I look: {} or {x}. ```json\n" + `{"gates": [{"pass": false}], "findings": [{"line": 3.0}], "verdict": "fail"}` + "\n```",
		"in an answer":          `{"content": [{"type": "tool_use", "input": ` + verdict + `}]}`,
		"in a text of that":     `{"output": [{"text": "{\"verdict\":\"fail\",\"gates\":[{\"pass\":false}],\"findings\":[{\"line\":3}]}"}]}`,
		"behind what is no end": `{"a": {"b": ` + verdict,
	} {
		if said, known := (&ledger{turns: 1, heard: [][]byte{[]byte("no"), []byte(heard)}}).says([]byte(verdict)); !said || !known {
			t.Errorf("%s: %v, %v", name, said, known)
		}
	}
	for name, heard := range map[string]string{
		"another word": `{"verdict": "pass", "gates": [{"pass": false}], "findings": [{"line": 3}]}`,
		"a part":       `{"verdict": "fail", "gates": [{"pass": false}]}`,
		"nothing":      "",
	} {
		if said, known := (&ledger{turns: 1, heard: [][]byte{[]byte(heard)}}).says([]byte(verdict)); said || !known {
			t.Errorf("%s: %v, %v", name, said, known)
		}
	}
	if said, known := (&ledger{}).says([]byte(verdict)); said || known {
		t.Errorf("where no model was asked: %v, %v", said, known)
	}
}

// Some services say in a stream the whole of what they have said, and no pieces.
func TestSaidAtOnce(t *testing.T) {
	m := newMeter(openAI, true, newRoom())
	m.write([]byte(`data: {"type": "response.output_item.done", "item": {"content": [{"text": "{\"verdict\": \"pass\"}"}]}}` + "\n"))
	if said, _ := (&ledger{turns: 1, heard: [][]byte{m.said}}).says([]byte(`{"verdict": "pass"}`)); !said {
		t.Errorf("it heard %q", m.said)
	}
}

// What models said last is remembered as it came, and what is too much is not.
func TestRemembered(t *testing.T) {
	m := newMeter(Anthropic, true, newRoom())
	for _, piece := range []string{`data: {"delta": {"partial_json": "{\"verdict\": "}}` + "\n", `data: {"delta": {"partial_json": "\"pass\"}"}}` + "\n"} {
		m.write([]byte(piece))
	}
	l := newLedger(limits{}, nil)
	for _, said := range [][]byte{make([]byte, maxHeard), m.said} {
		x, _ := l.admit(t.Context(), 0)
		l.remember(x, said)
	}
	if said, _ := l.says([]byte(`{"verdict": "pass"}`)); !said || len(l.heard) != 1 {
		t.Errorf("%v, %d answers, the last is %q", said, len(l.heard), m.said)
	}
}
