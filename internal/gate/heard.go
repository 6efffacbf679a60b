package gate

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
)

// maxHeard is how much of what models said is remembered, in bytes.
const maxHeard = 4 << 20

// Said reports whether a model said some JSON, in words or as what it gave to a tool, and whether anything that a model
// said came through at all, in a form that the gate reads. How it is written does not matter, nor do nulls in objects,
// which some programs add or remove.
func (p *Passage) Said(answer []byte) (said, heard bool) {
	if p.gate == nil {
		return false, false
	}
	return p.gate.ledger.says(answer)
}

func (l *ledger) says(answer []byte) (said, heard bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var want any
	err := json.Unmarshal(answer, &want)
	want = bare(want)
	return err == nil && slices.ContainsFunc(l.heard, func(words []byte) bool { return holds(words, want) }), len(l.heard) > 0
}

// holds reports whether an object stands in some words, perhaps within another one, or in a text of that.
func holds(words []byte, want any) bool {
	for at := bytes.IndexByte(words, '{'); at >= 0; at = bytes.IndexByte(words, '{') {
		in := json.NewDecoder(bytes.NewReader(words[at:]))
		var v any
		if in.Decode(&v) == nil {
			if contains(v, want) {
				return true
			}
			at += int(in.InputOffset()) - 1
		}
		words = words[at+1:]
	}
	return false
}

// contains reports whether a value is another one or has it somewhere.
func contains(v, want any) bool {
	switch v := v.(type) {
	case string:
		return len(v) > 1 && holds([]byte(v), want)
	case []any:
		for _, one := range v {
			if contains(one, want) {
				return true
			}
		}
	case map[string]any:
		if reflect.DeepEqual(bare(v), want) {
			return true
		}
		for _, one := range v {
			if contains(one, want) {
				return true
			}
		}
	}
	return false
}

// bare gives a value without the nulls that its objects have.
func bare(v any) any {
	switch v := v.(type) {
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = bare(v[i])
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, one := range v {
			if one != nil {
				out[name] = bare(one)
			}
		}
		return out
	}
	return v
}
