package text

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReasons(t *testing.T) {
	for in, want := range map[string]string{
		"":                              "",
		"one":                           "one",
		"a.md is unchanged\nno tool":    "a.md is unchanged; no tool",
		"\n- a\n\n  b\x1b[1m\n":         "- a; b␛[1m",
		"Keep it.\nSay why: \nit's ok;": "Keep it. Say why: it's ok;",
		"そのまま。\nなぜ":                     "そのまま。 なぜ",
	} {
		if got := JoinLines(in); got != want {
			t.Errorf("reasons(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestFigures(t *testing.T) {
	got := map[string]string{
		"usd 0": USD(0), "usd 0.001": USD(0.001), "usd 0.123": USD(0.123), "usd 12": USD(12),
		"tokens 0": Tokens(0), "tokens 999": Tokens(999), "tokens 1000": Tokens(1000), "tokens 1249": Tokens(1249),
		"tokens 999949": Tokens(999_949), "tokens 999950": Tokens(999_950), "tokens 5M": Tokens(5_000_000),
		"took -1s": Duration(-time.Second), "took 0.4s": Duration(400 * time.Millisecond), "took 9s": Duration(9 * time.Second), "took 12s": Duration(12300 * time.Millisecond),
		"took 3m12s": Duration(192 * time.Second), "took 2h5m": Duration(125 * time.Minute), "took 3d4h": Duration(76 * time.Hour),
		"cut": Cut("日本語です", 6), "cut none": Cut("abc", 0), "cut exact": Cut("abc", 3), "padded": Pad("日本", 6) + "|",
		"flat": Flat(" a\n\tb\x1b[31mc \u200bd ##[x]\u202e\u009b\x7f"),
	}
	want := map[string]string{
		"usd 0": "$0.00", "usd 0.001": "<$0.01", "usd 0.123": "$0.12", "usd 12": "$12.00",
		"tokens 0": "0", "tokens 999": "999", "tokens 1000": "1k", "tokens 1249": "1.2k",
		"tokens 999949": "999.9k", "tokens 999950": "1M", "tokens 5M": "5M",
		"took -1s": "0s", "took 0.4s": "0.4s", "took 9s": "9s", "took 12s": "12s", "took 3m12s": "3m12s", "took 2h5m": "2h05m", "took 3d4h": "3d04h",
		"cut": "日本…", "cut none": "abc", "cut exact": "abc", "padded": "日本  |", "flat": "a b␛[31mc <U+200B>d ## [x]<U+202E><U+009B>␡",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// An issue of a file has no number, and a file is often named issue.md.
func TestNamesOfIssues(t *testing.T) {
	for _, tt := range []struct{ id, title, head, name string }{
		{"7", "Say\nhello", "#7 Say hello", "Issue 7"},
		{"7", "", "#7", "Issue 7"},
		{"issue", "Say hello", "issue: Say hello", "Say hello"},
		{"v2", "", "v2", "v2"},
	} {
		if head, name := IssueHead(tt.id, tt.title), IssueName(tt.id, tt.title); head != tt.head || name != tt.name {
			t.Errorf("%q, %q: %q and %q, want %q and %q", tt.id, tt.title, head, name, tt.head, tt.name)
		}
	}
}
