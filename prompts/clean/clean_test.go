package clean

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// payload is an attempt to hide something from people, or a text that only
// looks like one.
type payload struct {
	Name, Text, Want string
	Kinds            []kind
}

func payloads(t testing.TB) []payload {
	t.Helper()
	data := []byte(testenv.Read(t, "testdata/payloads.json"))
	var list []payload
	testenv.Must(t, json.Unmarshal(data, &list))
	return list
}

func TestCleanPayloads(t *testing.T) {
	list := payloads(t)
	if len(list) < 40 {
		t.Fatalf("%d payloads, want 40 or more", len(list))
	}
	seen := map[kind]bool{}
	for _, p := range list {
		t.Run(p.Name, func(t *testing.T) {
			got, removed := Text(p.Text)
			if d := cmp.Diff(p.Want, got); d != "" {
				t.Errorf("Clean (-want +got):\n%s", d)
			}
			var kinds []kind
			for _, r := range removed {
				kinds = append(kinds, r.Kind)
				seen[r.Kind] = true
				if r.Count < 1 || len(r.Sample) > maxSample || strings.ContainsAny(r.Sample, "<>`@[]\n\x1b") {
					t.Errorf("removal %+v: want a count and a short, harmless sample", r)
				}
			}
			if d := cmp.Diff(p.Kinds, kinds); d != "" {
				t.Errorf("kinds (-want +got):\n%s", d)
			}
		})
	}
	for _, k := range kinds() {
		if !seen[k] {
			t.Errorf("no payload of kind %s", k)
		}
	}
}

func TestCleanKeeps(t *testing.T) {
	for name, text := range map[string]string{
		"empty":         "",
		"japanese":      "挨拶に読点がない。「Hello, World」と表示されるべき。ガギグ ｶﾞ　全角空白",
		"ideograph":     "葛\U000E0100城市の辻\U000E0101さん",
		"family":        "👨‍👩‍👧‍👦 👩🏽‍💻 🏳️‍🌈 ❤️ 👁️‍🗨️ ☎︎ 1️⃣ #️⃣ ©️",
		"flags":         "🇯🇵 🏴\U000E0067\U000E0062\U000E0065\U000E006E\U000E0067\U000E007F 🏴",
		"arabic":        "السَّلامُ عليكم ١٢٣",
		"persian":       "می\u200cخواهم",
		"hebrew":        "שָׁלוֹם עוֹלָם (test)",
		"hindi":         "क्\u200dष क्\u200cष",
		"combining":     "e\u0301 ñ Å",
		"code":          "```html\n<img alt=\"" + strings.Repeat("visible ", 20) + "\">\n```\nafter",
		"inline code":   "Write `<!-- toc -->` and ``<!DOCTYPE html> ` `` where it belongs, not `[a](b \"" + strings.Repeat("visible ", 20) + "\")`.",
		"in a heading":  "# The `<!-- toc -->` mark\n\n- `<!-- a -->` and\n- [ ] `<!-- b -->`\n\n> `<!-- c -->`",
		"fenced":        "See:\n\n```html\n<!DOCTYPE html>\n<!-- toc -->\n\n<a href=\"javascript:x()\">\n```\n\n~~~\n<!-- x\n~~~\nafter",
		"in a list":     "1. Do:\n\n   ```\n   <!-- toc -->\n\n   x\n   ```\n2. Done",
		"in a quote":    "> ```\n> <!-- toc -->\n> ```",
		"never closed":  "```\n<!-- toc -->\n",
		"indented":      "The file:\n\n    <!-- toc -->\n    <!DOCTYPE html>\n\nend",
		"diagram":       "```mermaid\nflowchart TD\n%%\n  a --> b\n```",
		"chillu":        "അവന്\u200d പോയി",
		"heh":           "سنة 1445 ه\u200d.",
		"tildes":        "~~~\n[a](b \"" + strings.Repeat("visible ", 20) + "\")\n~~~",
		"short alt":     "![the settings page](https://github.com/user-attachments/assets/1.png)",
		"pasted image":  `<img width="1234" height="567" alt="Image" src="https://github.com/user-attachments/assets/0a1b2c3d-0000-0000-0000-000000000000" />`,
		"details":       "<details><summary>Log</summary>\n\nboom\n\n</details>",
		"compare":       "if a < b && c > d { x <- y } // a<b, List<String>, i<n",
		"autolink":      "<https://example.com/a?b=c> and <me@example.com>",
		"definition":    "See [docs][^1].\n\n[docs]: https://example.com/docs\n[^1]: A note that is long, but a reader does see all of it at the end of the page.",
		"quoted after":  "see [it](https://example.com) \"" + strings.Repeat("quoted ", 20) + "\"",
		"words":         "data: 1\nmetadata:text/plain is data:\njavascript: a language\nnpm run javascript:lint",
		"open comment":  "The parser fails on `<!--` and then stops.\n\nMore text.",
		"arrow":         "a --> b, <- c",
		"odd lists":     "`<!-- x -->` and\n\n- 10) \t`", // a parser of Markdown ended by it
		"table":         "Text:\n| a | b \\| c |\n|---|:-:|\n| 1 | 2 |\n| `x \\| y` | 2 | |\n3\n\n| 1 | 2 | 3 |",
		"no table":      "| a | b |\n|---|\n| 1 | 2 | 3 |\n\n- x\n| a | b |\n|---|---|\n| 1 | 2 | 3 |",
		"after table":   "| a | b |\n|---|---|\n- 1 | 2 | 3\n\n> | a |\n> |---|\n\n1 | 2",
		"table in code": "```\n| a |\n|---|\n| 1 | 2 |\n```\n\n<pre>\n| a |\n|---|\n\n| 1 | 2 |\n</pre>",
		"footnotes":     "One[^One] and two[^2].\n\n[^oNE]: first\n\n    with more\n[^2]: second[^3]\n[^3]: third",
		"own footnote":  "[^a]: shown, for it refers to [^a]",
		"note in code":  "```\n[^1]: a note\n```\n\n<div>\n[^2]: no note\n</div>\n\n    [^3]: code",
		"formulas":      "$a \\% b$ and $$\\text{100\\% of it}$$ and $5 (10% off) or $6, 10%, `$x % y$`\n\n- $$ 10% a\n- $$",
		"no formula":    "\\phantom{x} 10% of $HOME and ${A%b}$x \\$a % b$",
		"shown tags":    "<title>text</title> and <script>alert(1)</script> and <style>p {}</style>", // GitHub shows these tags as text
		"task list":     "- [ ] one\n- [x] two\n1. [three](x)",
	} {
		t.Run(name, func(t *testing.T) {
			got, removed := Text(text)
			if d := cmp.Diff(text, got); d != "" {
				t.Errorf("Clean (-want +got):\n%s", d)
			}
			if len(removed) > 0 {
				t.Errorf("removed %+v, want nothing", removed)
			}
		})
	}
}

// What is removed beside code is removed, and the code stays.
func TestCleanAroundCode(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"template":  {"<!-- Describe the bug -->\nWrite `<!-- toc -->`.\n\n```\n<!-- x -->\n```\n<!-- end -->", "\nWrite `<!-- toc -->`.\n\n```\n<!-- x -->\n```\n"},
		"unseen":    {"`a\u200b<!-- b -->\u202e`", "`a<!-- b -->`"},
		"words":     {"```js " + strings.Repeat("hidden ", 20) + "\n<!-- x -->\n```", "```js\n<!-- x -->\n```"},
		"diagram":   {"```mermaid\nflowchart TD\n  %% Ignore all that\n  a --> b\n```", "```mermaid\nflowchart TD\n  %%\n  a --> b\n```"},
		"columns":   {"| `a` | b |\n|---|---|\n| `1` | 2 | Ignore | all |\n1 | 2 \\| 3 | that\n\nx", "| `a` | b |\n|---|---|\n| `1` | 2 |\n1 | 2 \\| 3 |\n\nx"},
		"in list":   {"- | a |\n  |:--|\n  | 1 | Ignore |\n> | a |\n> |---|\n> 1 | Ignore", "- | a |\n  |:--|\n  | 1 |\n> | a |\n> |---|\n> 1 |"},
		"listed":    {"- x\n  | a |\n  |---|\n  | 1 | Ignore |", "- x\n  | a |\n  |---|\n  | 1 |"},
		"split":     {"| a | b |\n|---|---|\n| `1 | 2` | Ignore |\n\n```\n| a |\n|---|\n| 1 | 2 |\n```", "| a | b |\n|---|---|\n| `1 | 2` |\n\n```\n| a |\n|---|\n| 1 | 2 |\n```"},
		"footnote":  {"Text[^1] `[^x]` \\[^x].\n[^x]: Ignore\nall\n\n    of that\n\n[^1]: seen\n\n```\n[^x]\n```\n> [^Y]: Ignore", "Text[^1] `[^x]` \\[^x].\n\n[^1]: seen\n\n```\n[^x]\n```\n> "},
		"referring": {"[^x]: Ignore[^1] that [^nothing]\n[^1]: all\n\nx", "\nx"},
		"phantom":   {"So $a \\phantom{Ignore {all}} b$, $c % that$, $`x \\hphantom {Ignore}`$\n$$\n\\vphantom{Ignore\nall} x\n$$", "So $removed$, $c %$, $`removed`$\n$$removed\n\n\n$$"},
		"phantoms":  {"```math\na \\phantom{Ignore\nall} \\text{5%} % that\n```", "```math\nremoved\n\n```"},
		"formula":   {"```math\nx \\% y % Ignore all that\n```", "```math\nx \\% y %\n```"},
	} {
		t.Run(name, func(t *testing.T) {
			got, removed := Text(c.text)
			if d := cmp.Diff(c.want, got); d != "" || len(removed) == 0 {
				t.Errorf("Clean (-want +got):\n%s\nremoved %+v", d, removed)
			}
		})
	}
}

func TestCleanSample(t *testing.T) {
	var hidden strings.Builder
	for _, c := range "ignore <all>" {
		hidden.WriteRune(0xE0000 + c)
	}
	_, removed := Text("a" + hidden.String() + "b" + hidden.String())
	want := []Removal{{Tag, 24, "ignore {3C}all{3E}"}}
	if d := cmp.Diff(want, removed); d != "" {
		t.Errorf("removed (-want +got):\n%s", d)
	}
}

// hostile are texts made to make searches start over and over again.
func hostile() map[string]string {
	return map[string]string{
		"comments": "<!--", "nested": "<!<!---->", "closers": "-->", "brackets": "[", "images": "![", "links": "](", "titles": `](a "`,
		"parens": "](a (", "escaped": `](a (\)`, "angles": "](<", "nested images": "![](a", "alts": "![aaaaaaaa](", "tags": "<a ",
		"attributes": `<a b="`, "quoted tags": `b="<a" `, "unquoted": "<a b=", "definitions": "[a]: b (\n", "labels": "[\n", "long definitions": "[a]: b \"x\n",
		"declarations": "<!x ", "instructions": "<?", "escapes": "\x1b]", "csi": "\x1b[", "nine": "\u009b1", "joiners": "\u200d", "emoji joiners": "👨\u200d",
		"tags of unicode": "\U000E0041", "flags": "🏴\U000E0067", "urls": "javascript:", "data": "(data:", "spaced": "javascript&colon;   ",
		"fences": "```\n", "ticks": "`", "backslashes": "\\", "newlines": "\n", "carriage": "\r", "bytes": "\xff", "quotes": "> ", "markup lines": "<x\n",
		"open titles": "[a]: b\n(\n", "addresses": `href="<a/href=x" `, "rows": "|a|\n|-|\n|", "cells": "|a", "delimiters": "|-", "notes": "[^a]: [^b]\n", "references": "[^", "noted lines": "[^a]: b\n\n\n", "dollars": "$", "formulas": "$a ",
		"displays": "$$ a", "phantoms": "$$\\phantom{", "percents": "$%", "code in formulas": "$`", "quoted notes": "> [^a]: x\n", "mixed": "<a b='](<![\"", "japanese": "漢字",
	}
}

func repeat(unit string, size int) string { return strings.Repeat(unit, size/len(unit)+1)[:size] }

// A text that is eight times as long takes about eight times as long, however fast
// the machine is; where all was compared with all, it would be 64 times.
func TestCleanIsLinear(t *testing.T) {
	const short = 20 * time.Millisecond // over less, the clock says nothing about growth
	size := 1 << 14
	if raceDetector {
		size /= 4
	}
	var slowest time.Duration
	for name, unit := range hostile() {
		// With the last one all of it is looked through for code.
		for _, tail := range []string{"", `>")`, "\n\n`<!-- x -->`"} {
			took := best(repeat(unit, size)+tail, short)
			slowest = max(slowest, took)
			if took <= short {
				continue
			}
			if eighth := best(repeat(unit, size/8)+tail, 0); took > 24*eighth {
				t.Errorf("%s: %d bytes took %v, and an eighth of it %v", name, size, took, eighth)
			}
		}
	}
	t.Logf("slowest: %v", slowest)
}

// best is the shortest of a few times, because other programs disturb all but
// the best; it stops at one that is good enough.
func best(text string, enough time.Duration) time.Duration {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	shortest := time.Hour
	for range 5 {
		start := clock()
		Text(text)
		if shortest = min(shortest, clock()-start); shortest <= enough {
			break
		}
	}
	return shortest
}

func FuzzClean(f *testing.F) {
	for _, p := range payloads(f) {
		f.Add(p.Text)
	}
	for _, unit := range hostile() {
		f.Add(repeat(unit, 64))
	}
	f.Fuzz(func(t *testing.T, text string) {
		clean, removed := Text(text)
		if !utf8.ValidString(clean) {
			t.Errorf("Text(%q) = %q: not UTF-8", text, clean)
		}
		if again, more := Text(clean); again != clean {
			t.Errorf("Text(%q) = %q, and cleaned again %q: %+v", text, clean, again, more)
		}
		if strings.ContainsAny(clean, "\r\x1b\x00\u200b\u202e\u00ad") {
			t.Errorf("Text(%q) = %q: hidden characters left", text, clean)
		}
		for _, r := range removed {
			if len(r.Sample) > maxSample {
				t.Errorf("sample %q: longer than %d bytes", r.Sample, maxSample)
			}
		}
	})
}

// kinds lists every kind.
func kinds() []kind {
	return []kind{HTMLComment, zeroWidth, bidi, Tag, variationSelector, softHyphen, ansi, Control, hiddenText, dangerousURL}
}

func BenchmarkText(b *testing.B) {
	text := repeat("The `parser` fails on [this](https://x.example \"title\") input.\n<!-- hidden -->漢字\u200b ![alt](u)\n\n", 64<<10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Text(text)
	}
}
