package clean

import (
	"strings"
	"testing"
)

func TestMark(t *testing.T) {
	for text, want := range map[string]string{
		"plain\ttext\n":                         "plain\ttext\n",
		"windows\r\nlines\r\n":                  "windows\r\nlines\r\n",
		"over\rwritten":                         "over<U+000D>written",
		"if admin\u202e\u2066// check\u2069":    "if admin<U+202E><U+2066>// check<U+2069>",
		"use\u200br":                            "use<U+200B>r",
		"a\u200db":                              "a<U+200D>b",
		"می\u200cخواهم":                         "می\u200cخواهم",
		"👩\u200d💻 ❤\ufe0f 葛\U000e0100":          "👩\u200d💻 ❤\ufe0f 葛\U000e0100",
		"x\ufe0f\U000e0100":                     "x<U+FE0F><U+E0100>",
		"hi\U000e0061\U000e0062":                "hi<U+E0061><U+E0062>",
		"\x1b[31mred\x1b]0;title\a":             "<U+001B>[31mred<U+001B>]0;title<U+0007>",
		"soft\u00adhyphen \ufeff \u3164 \uffff": "soft<U+00AD>hyphen <U+FEFF> <U+3164> <U+FFFF>",
		"line\u2028end \xff":                    "line<U+2028>end <0xFF>",
	} {
		got, count := Mark(text)
		if got != want || count != strings.Count(want, "<U+")+strings.Count(want, "<0x") {
			t.Errorf("%q is shown as %q (%d marks), want %q", text, got, count, want)
		}
	}
}
