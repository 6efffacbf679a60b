package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", maxLine)
	for _, tt := range []struct {
		name, text string
		want       []string
		cut        int
	}{
		{"plain", "a\nb\r\n\nc", []string{"a", "b", "c"}, 0},
		{"longer than the buffer", strings.Repeat("y", 100<<10) + "\nz\n", []string{strings.Repeat("y", 100<<10), "z"}, 0},
		{"too long", long + "more\nz\n", []string{long, "z"}, 1},
		{"far too long, at the end", "a\n" + long + long, []string{"a", long}, 1},
		{"two too long", long + long + "\n" + long + long + "\nz", []string{long, long, "z"}, 2},
		{"not UTF-8", "a\xffb\n", []string{"a\uFFFDb"}, 0},
	} {
		var got []string
		cut := eachLine(iotest.HalfReader(strings.NewReader(tt.text)), func(line []byte) { got = append(got, string(line)) })
		if !cmp.Equal(tt.want, got) || cut != tt.cut {
			t.Errorf("%s: %d lines, %d cut, want %d and %d", tt.name, len(got), cut, len(tt.want), tt.cut)
		}
	}
}

func TestExcerpt(t *testing.T) {
	e := &excerpt{headMax: 4, tailMax: 6}
	for _, part := range []string{"ab", "cdefg", "hijklmnopqrst", "uv\x01w", "xyz"} {
		_, _ = e.Write([]byte(part)) // never fails
	}
	if got, want := e.String(), "abcd\n[17 bytes left out]\nvwxyz"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	short := &excerpt{headMax: 4, tailMax: 6}
	_, _ = short.Write([]byte("abcdefgh")) // never fails
	if got := short.String(); got != "abcdefgh" {
		t.Errorf("%q, want it whole", got)
	}
	big := &excerpt{tailMax: 1000}
	for range 1000 {
		_, _ = big.Write(bytes.Repeat([]byte("x"), 999)) // never fails
	}
	if cap(big.tail) > 4000 {
		t.Errorf("%d bytes are kept for 1000", cap(big.tail))
	}
}

// Sequences for a terminal go whole, also where the middle is left out; one that
// has no end takes nothing along.
func TestPrintable(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[36mcyan\x1b[0m, \x1b[1;31mred\x1b[K\x1b[m":         "cyan, red",
		"\x1b[38:2::255:0:0mrgb\x1b[?25l\x1b[2 q":                "rgb",
		"\u009b36mcyan\u009bm":                                   "cyan",
		"\x1b]0;title\x07a\x1b]8;;https://x.example\x1b\\b":      "ab",
		"\x1b]52;c;ZXZpbA==\x07\x1bPq#0\x1b\\\u009d0;t\u009cend": "end",
		"\x1b]0;no end\nnext line":                               "0;no end\nnext line",
		"\x1b(Bplain\x1b7\x1b8\x1b=\x1bc":                        "plain",
		"\x1b[":                                                  "",
		"10%\r20%\rdone\n|\r/\r":                                 "done\n/",
		"a\tb\x00\x08c\x7f":                                      "a\tbc",
		"array[36m] stays":                                       "array[36m] stays",
	} {
		if got := printable(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	e := &excerpt{headMax: 8, tailMax: 20}
	_, _ = e.Write([]byte("head \x1b[3" + strings.Repeat("x", 100) + "\x1b[36mhalf of it\nlast \x1b[32mline\x1b[m\n")) // never fails
	if got, want := e.String(), "head 3\n[116 bytes left out]\nlast line\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOneLine(t *testing.T) {
	if got := oneLine("  a\n\tb\x1b[31m  語語語語 ", 8); got != "a b 語語語語" {
		t.Errorf("%q", got)
	}
}

// The strict form of a schema and back again give an answer that fits the
// schema that was asked for.
func TestStrictSchema(t *testing.T) {
	const schema = `{"type":"object","description":"d","required":["a"],"title":"T","properties":{
		"a":{"type":"string","pattern":"^x$","minLength":1},
		"b":{"type":"integer","minimum":1},
		"c":{"type":["string","null"]},
		"d":{"type":"array","items":{"type":"object","required":[],"properties":{"e":{"enum":["x"]}}}},
		"f":{"oneOf":[{"type":"string"},{"type":"object","properties":{"g":{"type":"boolean"}},"required":["g"],"additionalProperties":{"type":"string"}}]}}}`
	const want = `{"additionalProperties":false,"description":"d","properties":{
		"a":{"pattern":"^x$","type":"string"},
		"b":{"anyOf":[{"minimum":1,"type":"integer"},{"type":"null"}]},
		"c":{"type":["string","null"]},
		"d":{"anyOf":[{"items":{"additionalProperties":false,"properties":{"e":{"anyOf":[{"enum":["x"]},{"type":"null"}]}},"required":["e"],"type":"object"},"type":"array"},{"type":"null"}]},
		"f":{"anyOf":[{"anyOf":[{"type":"string"},{"additionalProperties":false,"properties":{"g":{"type":"boolean"}},"required":["g"],"type":"object"}]},{"type":"null"}]}},
		"required":["a","b","c","d","f"],"type":"object"}`
	strict, ok, err := strictSchema(json.RawMessage(schema))
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
	var got, wanted any
	if json.Unmarshal(strict, &got) != nil || json.Unmarshal([]byte(want), &wanted) != nil {
		t.Fatalf("no JSON: %s", strict)
	}
	if diff := cmp.Diff(wanted, got); diff != "" {
		t.Errorf("strict form (-want +got):\n%s", diff)
	}
	for answer, want := range map[string]string{
		`{"a":"x","b":null,"c":null,"d":[{"e":null},{"e":"x"}],"f":null}`: `{"a":"x","c":null,"d":[{},{"e":"x"}]}`,
		`{"a":null,"z":null}`: `{"a":null,"z":null}`, // wrong stays wrong, for whoever checks it
		`[1]`:                 `[1]`,
	} {
		if got := relax(json.RawMessage(schema), json.RawMessage(answer)); string(got) != want {
			t.Errorf("%s: %s, want %s", answer, got, want)
		}
	}
	if _, ok, err := strictSchema(json.RawMessage(`{"type":"array"}`)); ok || err != nil {
		t.Errorf("a list: %v, %v; want no strict form and no error", ok, err)
	}
	if _, _, err := strictSchema(json.RawMessage(`[`)); err == nil {
		t.Error("no error for what is no schema")
	}
}

func TestGeminiFault(t *testing.T) {
	for message, want := range map[string]metadata.Class{
		`[API Error: {"error":{"code":400,"status":"INVALID_ARGUMENT","message":"bad","details":[{"reason":"API_KEY_INVALID"}]}}]`: metadata.Auth,
		`[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]`:                                                        metadata.RateLimited,

		`[API Error: {"error":{"code":503}}]`: metadata.Network,
		`[API Error: the word 401 in a text]`: metadata.Crash,
		`} {`:                                 metadata.Crash,
	} {
		if got, _ := geminiFault(message); got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel() // most of it is waiting
	b := newBench(t)
	b.opts.Environ = append(b.opts.Environ, "GITHUB_TOKEN="+canary, "ANTHROPIC_API_KEY="+canary)
	for _, tt := range []struct {
		run     string
		timeout time.Duration
		pass    bool
		code    int
		output  string
	}{
		{run: "echo out; echo err >&2; ls main.go", pass: true, output: "out\nerr\nmain.go\n"},
		{run: "echo no; exit 3", code: 3, output: "no\n"},
		{run: "kill -9 $$", code: -1},
		{run: "echo start; sleep 60", timeout: 2 * time.Second, code: -1, output: "start\n\nreprise: the check took longer than its 2s and was ended\n"},
		{run: "env | grep canary; sleep 60 & true", pass: true},
		{run: "printf 'a%.0s' $(seq 9000); echo; echo end; exit 1", code: 1, output: "[5105 bytes left out]\n" + strings.Repeat("a", 3895) + "\nend\n"},
	} {
		r, err := b.opts.Check(t.Context(), b.dir, pipelines.Check{Name: "unit", Run: tt.run, Timeout: pipelines.Duration(tt.timeout)})
		r.Output = strings.TrimPrefix(r.Output, "\n")
		want := metadata.CheckResult{Name: "unit", Run: tt.run, Pass: tt.pass, ExitCode: tt.code, Output: tt.output, DurationMS: r.DurationMS}
		if diff := cmp.Diff(want, r); diff != "" || err != nil {
			t.Errorf("error %v, result (-want +got):\n%s", err, diff)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.opts.Check(ctx, b.dir, pipelines.Check{Name: "unit", Run: "sleep 60"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that there was no time left", err)
	}
}
