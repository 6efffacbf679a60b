package text

import (
	"testing"
	"unicode"
)

func TestInvisible(t *testing.T) {
	for r, want := range map[rune]bool{
		'a': false, ' ': false, '\n': false, '\t': false, '漢': false, '\u0301': false, '\u00a0': false, '\u3000': false, utf8Error: false,
		'\u0600': false, '\U00013430': false, '❤': false,
		0: true, '\r': true, 0x1b: true, 0x7f: true, 0x85: true, '\u00ad': true, '\u034f': true, '\u061c': true, '\u115f': true, '\u17b4': true,
		'\u180b': true, '\u180e': true, '\u200b': true, '\u200d': true, '\u200e': true, '\u2028': true, '\u2029': true, '\u202e': true,
		'\u2060': true, '\u2065': true, '\u206a': true, '\u3164': true, '\ufe0f': true, '\ufeff': true, '\uffa0': true, '\ufff0': true,
		'\ufffb': true, '\ufffe': true, '\U0001bca0': true, '\U0001d173': true, '\U000e0001': true, '\U000e0041': true, '\U000e0100': true, '\U0010ffff': true,
	} {
		if Invisible(r) != want {
			t.Errorf("U+%04X: %v", r, !want)
		}
	}
	for r := rune(0); r <= unicode.MaxRune; r++ {
		if (Reorders(r) || Tag(r) || Joiner(r)) && !Invisible(r) {
			t.Errorf("U+%04X is of a kind, and not invisible", r)
		}
	}
}

const utf8Error = '\ufffd'
