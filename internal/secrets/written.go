package secrets

import (
	"bytes"
	"encoding/hex"
	"regexp"
)

// escape is one of an ASCII character.
var escape = regexp.MustCompile(`\\(?:x|u00)([0-7][0-9a-fA-F])`)

// unescaped gives a text with its escapes of ASCII characters, such as \u002D and \x2d, as the characters themselves,
// each behind so many spaces that all else keeps its place; nil if it has none.
func unescaped(text []byte) []byte {
	all := escape.FindAllSubmatchIndex(text, -1)
	if all == nil {
		return nil
	}
	out := bytes.Clone(text)
	for _, m := range all {
		blank(out[m[0]:m[1]])
		_, _ = hex.Decode(out[m[1]-1:m[1]], text[m[2]:m[3]]) // they are two digits
	}
	return out
}

// dumped is a line as xxd and hexdump -C write it: an offset, up to 16 bytes, and the characters.
var dumped = regexp.MustCompile(`(?m)^([0-9a-fA-F]{4,16}:? )( *(?:[0-9a-fA-F] *){2,32})(.*)$`)

// undumped gives a text in which such lines have their bytes alone, and else spaces; nil if it has none.
func undumped(text []byte) []byte {
	all := dumped.FindAllSubmatchIndex(text, -1)
	if all == nil {
		return nil
	}
	out := bytes.Clone(text)
	for _, m := range all {
		blank(out[m[2]:m[3]])
		blank(out[m[6]:m[7]])
	}
	return out
}

func blank(text []byte) {
	for i := range text {
		text[i] = ' '
	}
}
