package metadata

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// FuzzParse shows that Parse takes any input without panicking, and that what
// it takes can be written and reads the same.
func FuzzParse(f *testing.F) {
	golden := []byte(testenv.Read(f, "testdata/version-4.json"))
	f.Add(golden)
	for _, edit := range []struct{ old, repl string }{
		{`"completed_at": null`, `"completed_at": "2026-01-31T12:00:00.123456789Z"`},
		{`"complexity": "high"`, `"\ud800": "\u003c", "": [1e400, -0, null]`},
		{`"testing": {`, `"\u0074esting": {`},
		{`"output_files": []`, `"output_files": null`},
		{`9.875`, `1e308`},
		{`"schema": 4`, `"schema": 3`},
		{`"schema": 4`, `"schema": 5`},
		{`12:09:00Z`, `12:09:00+00:00`},
	} {
		f.Add(bytes.Replace(golden, []byte(edit.old), []byte(edit.repl), 1))
	}
	f.Add([]byte(`{"schema":4,"phases":[]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := Parse(data, File)
		if err != nil {
			return
		}
		text, err := Format(r)
		if err != nil {
			t.Fatalf("parsed, but cannot be written: %v", err)
		}
		again, err := Parse(text, File)
		if err != nil {
			t.Fatalf("written, but cannot be parsed: %v", err)
		}
		if diff := cmp.Diff(r, again, same); diff != "" {
			t.Fatalf("a trip changes the record:\n%s", diff)
		}
	})
}
