package secrets

import (
	"bytes"
	"encoding/hex"
)

// unescaped gives a text with its escapes of ASCII characters, such as \u002D
// and \x2d, as the characters themselves, each behind so many spaces that all
// else keeps its place; nil if it has none.
func unescaped(text []byte) []byte {
	var out []byte
	for i := 0; i+3 < len(text); i++ {
		if text[i] != '\\' {
			continue
		}
		digits := 0
		switch rest := text[i+1:]; {
		case rest[0] == 'x':
			digits = 1
		case rest[0] == 'u' && len(rest) >= 5 && rest[1] == '0' && rest[2] == '0':
			digits = 3
		default:
			continue
		}
		var c [1]byte
		end := i + 1 + digits + 2
		if end > len(text) {
			continue
		}
		if _, err := hex.Decode(c[:], text[end-2:end]); err != nil || c[0] >= 0x80 {
			continue
		}
		if out == nil {
			out = bytes.Clone(text)
		}
		for j := i; j < end-1; j++ {
			out[j] = ' '
		}
		out[end-1] = c[0]
		i = end - 1
	}
	return out
}

// undumped gives a text in which the lines of a dump, as xxd and hexdump -C write
// it, have their bytes alone: the offset before them and the characters behind
// them are spaces. It is nil if the text has no such line.
func undumped(text []byte) []byte {
	const perLine = 16 // bytes
	var out []byte
	for start := 0; start < len(text); {
		end := len(text)
		if n := bytes.IndexByte(text[start:], '\n'); n >= 0 {
			end = start + n
		}
		line := text[start:end]
		at := 0
		for at < len(line) && isHex(line[at]) {
			at++
		}
		offset := at
		if at < len(line) && line[at] == ':' {
			at++
		}
		if offset >= 4 && offset <= 16 && at < len(line) && line[at] == ' ' {
			digits := 0
			data := at
			for ; at < len(line) && digits < 2*perLine && (line[at] == ' ' || isHex(line[at])); at++ {
				if line[at] != ' ' {
					digits++
				}
			}
			if digits >= 2 {
				if out == nil {
					out = bytes.Clone(text)
				}
				blank(out[start : start+data])
				blank(out[start+at : end])
			}
		}
		start = end + 1
	}
	return out
}

func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'f' || 'A' <= c && c <= 'F'
}
