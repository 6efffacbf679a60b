package process

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestEachLine(t *testing.T) {
	long := strings.Repeat("x", MaxLine)
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
		cut := EachLine(iotest.HalfReader(strings.NewReader(tt.text)), func(line []byte) { got = append(got, string(line)) })
		if !cmp.Equal(tt.want, got) || cut != tt.cut {
			t.Errorf("%s: %d lines, %d cut, want %d and %d", tt.name, len(got), cut, len(tt.want), tt.cut)
		}
	}
}

func TestExcerpt(t *testing.T) {
	e := &Excerpt{HeadMax: 4, TailMax: 6}
	for _, part := range []string{"ab", "cdefg", "hijklmnopqrst", "uv\x01w", "xyz"} {
		_, _ = e.Write([]byte(part)) // never fails
	}
	if got, want := e.String(), "abcd\n[17 bytes left out]\nvwxyz"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	short := &Excerpt{HeadMax: 4, TailMax: 6}
	_, _ = short.Write([]byte("abcdefgh")) // never fails
	if got := short.String(); got != "abcdefgh" {
		t.Errorf("%q, want it whole", got)
	}
	big := &Excerpt{TailMax: 1000}
	for range 1000 {
		_, _ = big.Write(bytes.Repeat([]byte("x"), 999)) // never fails
	}
	if cap(big.tail) > 4000 {
		t.Errorf("%d bytes are kept for 1000", cap(big.tail))
	}
}

// Sequences for a terminal go whole, also where the middle is left out; one that
// has no end takes nothing along.
// A part of a secret is not found as one: a word that is cut is left out as a whole.
func TestExcerptCutsBetweenWords(t *testing.T) {
	const secret = "the-secret"
	e := &Excerpt{HeadMax: 20, TailMax: 30}
	_, _ = fmt.Fprintf(e, "head of the %s%s%s and the end of it all", secret, strings.Repeat(" x", 50), secret)
	if got, want := e.String(), "head of the \n[121 bytes left out]\nand the end of it all"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

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
		if got := Printable(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
	e := &Excerpt{HeadMax: 8, TailMax: 20}
	_, _ = e.Write([]byte("head \x1b[3" + strings.Repeat("x", 100) + "\x1b[36mhalf of it\nlast \x1b[32mline\x1b[m\n")) // never fails
	if got, want := e.String(), "head \n[119 bytes left out]\nlast line\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestOneLine(t *testing.T) {
	if got := OneLine("  a\n\tb\x1b[31m  語語語語 ", 8); got != "a b 語語語語" {
		t.Errorf("%q", got)
	}
}
