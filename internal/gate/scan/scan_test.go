package scan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// scanned gives what a Scanner tells of a text that comes in pieces of a size.
func scanned(text string, size int) (got []string) {
	s := Scanner{Want: Fields{"model": 0, "a.b": 1, "list.x": 2, "": 3}}
	s.Found = func(f Field, v Value) {
		switch said, ok := v.Text(); {
		case v.Opens:
			got = append(got, fmt.Sprintf("%d opens", f))
		case ok:
			got = append(got, fmt.Sprintf("%d %q", f, said))
		default:
			got = append(got, fmt.Sprintf("%d %s (%d bytes)", f, v.Raw, v.Size))
		}
	}
	for p := range bytesOf(text, size) {
		s.Write(p)
	}
	s.End()
	return got
}

// bytesOf cuts a text into pieces.
func bytesOf(text string, size int) func(func([]byte) bool) {
	return func(yield func([]byte) bool) {
		for len(text) > 0 {
			n := min(size, len(text))
			if !yield([]byte(text[:n])) {
				return
			}
			text = text[n:]
		}
	}
}

func TestScan(t *testing.T) {
	for text, want := range map[string][]string{
		`{"model":"m","a":{"b":1,"c":2},"list":[{"x":true},{"x":null}]}`:      {"3 opens", `0 "m"`, "1 1 (1 bytes)", "2 true (4 bytes)", "2 null (4 bytes)"},
		`{"mod\u0065l":"m\n\"n\"","model":"other"}`:                           {"3 opens", "0 \"m\\n\\\"n\\\"\"", `0 "other"`},
		` { "x" : { "model" : 1 } , "model" : 2 } `:                           {"3 opens", "0 2 (1 bytes)"},
		`{"text":"\"model\":\"no\"","a":{"b":[1,[2]]}}`:                       {"3 opens", "1 opens", "1 1 (1 bytes)", "1 opens", "1 2 (1 bytes)"},
		`[{"model":"in a list"}]`:                                             {"3 opens", "3 opens", `0 "in a list"`},
		`12.5e3`:                                                              {"3 12.5e3 (6 bytes)"},
		`"` + strings.Repeat("x", 300) + `"`:                                  {"3 " + strings.Repeat("x", 256) + " (300 bytes)"},
		strings.Repeat("[", 100) + strings.Repeat("]", 100) + `{"model":"m"}`: append(slices.Repeat([]string{"3 opens"}, 33), `0 "m"`),
		`{"` + strings.Repeat("x", 300) + `":1,"model":"m"}`:                  {"3 opens", `0 "m"`},
		`}]{"model":"m"}`:                                                     {"3 opens", `0 "m"`},
	} {
		for _, size := range []int{1, 3, 1000} {
			if d := cmp.Diff(want, scanned(text, size)); d != "" {
				t.Errorf("%.60s in pieces of %d (-want +got):\n%s", text, size, d)
			}
		}
	}
}

// A parser of the standard library finds the same in valid JSON, wherever it is cut.
func FuzzScan(f *testing.F) {
	f.Add(`{"model":"m","a":{"b":[1,{"c":"\u00e9\\"}]}}`, 3)
	f.Add(`{"a":{"b":1,"b":"2"},"model":null}`, 1)
	f.Add("{\"model\":\"m\xfd\"}", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		got := scanned(text, max(1, size))
		if !json.Valid([]byte(text)) {
			return
		}
		var whole struct{ Model *string }
		var exact map[string]json.RawMessage
		d := json.NewDecoder(bytes.NewReader([]byte(text)))
		if json.Unmarshal([]byte(text), &exact) != nil || d.Decode(&whole) != nil {
			return
		}
		raw, ok := exact["model"]
		var name string
		if !ok || len(raw) == 0 || raw[0] != '"' || json.Unmarshal(raw, &name) != nil || len(raw) > maxValue {
			return
		}
		want := fmt.Sprintf("0 %q", name)
		for _, g := range got {
			if g == want {
				return
			}
		}
		t.Errorf("%q: got %q, want %s among it", text, got, want)
	})
}
