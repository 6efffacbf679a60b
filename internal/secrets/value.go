package secrets

import (
	"bytes"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Secret is a value that must not be seen.
type Secret struct {
	Name  string // where it comes from, such as ANTHROPIC_API_KEY
	Value string
}

// MinLength is the least length of a value that is looked for, in bytes: a
// shorter one stands in many texts by chance, and masking it would destroy them.
const MinLength = 8

// minBare is the least number of letters and digits of a form that is looked for with all else left out.
const minBare = 14

// Short names the secrets whose values are too short to be looked for. An empty
// value is no secret.
func Short(all []Secret) (out []string) {
	for _, s := range all {
		if s.Value != "" && len(s.Value) < MinLength {
			out = append(out, s.Name)
		}
	}
	return out
}

// forms are the ways in which a value may stand in a text.
func (s Secret) forms() []string {
	var out []string
	for _, v := range s.parts() {
		wide := spelled(v, "%c\x00") // as PowerShell takes commands
		out = append(out, v, backwards(v), escaped(v), percent(v))
		out = append(out, url.QueryEscape(v), url.PathEscape(v), smallEscapes(url.QueryEscape(v)), smallEscapes(url.PathEscape(v)))
		out = append(out, spelled(v, "%02x"), spelled(v, "%02X"), spelled(v, "x%02x"), spelled(v, "0x%02x"), spelled(v, "u00%02x"), spelled(v, "x%02X"), spelled(v, "0x%02X"), spelled(v, "u00%02X"), spelled(v, "%03o"), spelled(v, "%d"))
		for _, digits := range slices.Concat(shifted(base64.RawStdEncoding.EncodeToString, 6, v), shifted(base64.RawStdEncoding.EncodeToString, 6, wide)) {
			out = append(out, digits, backwards(digits))
		}
		out = append(out, shifted(base64.RawURLEncoding.EncodeToString, 6, v)...)
		out = append(out, shifted(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString, 5, v)...)
		out = append(out, backwards(hex.EncodeToString([]byte(v))))
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// parts are the value and, where it has several lines or fields, each long word of them but for addresses. So is what it
// holds in base64.
func (s Secret) parts() []string {
	v := strings.TrimSpace(s.Value)
	if len(v) < MinLength {
		return nil
	}
	out := []string{v}
	if inside, err := base64.StdEncoding.DecodeString(v); err == nil && utf8.Valid(inside) && !bytes.ContainsRune(inside, 0) {
		out = append(out, Secret{s.Name, string(inside)}.parts()...)
	}
	if v = strings.ReplaceAll(v, `\n`, "\n"); !strings.ContainsAny(v, "\n{") {
		return out
	}
	for _, word := range strings.FieldsFunc(v, func(c rune) bool { return unicode.IsSpace(c) || strings.ContainsRune("\"',", c) }) {
		if len(word) >= 2*minBare && !strings.HasPrefix(word, "-----") && !strings.Contains(word, "://") {
			out = append(out, word)
		}
	}
	return out
}

// shifted encodes a value as it looks inside a longer text that is encoded as a whole, at each place; digits that also
// tell of other bits are left out.
func shifted(encode func([]byte) string, bits int, v string) (out []string) {
	seen := map[int]bool{}
	for lead := range 5 {
		if at := lead * 8 % bits; !seen[at] {
			seen[at] = true
			digits := encode(append(make([]byte, lead), v...))
			out = append(out, digits[(lead*8+bits-1)/bits:(lead+len(v))*8/bits])
		}
	}
	return out
}

// spelled writes a value byte by byte.
func spelled(v, format string) string {
	var b strings.Builder
	for i := range len(v) {
		_, _ = fmt.Fprintf(&b, format, v[i]) // a builder takes everything
	}
	return b.String()
}

func percent(v string) string { return spelled(v, "%%%02X") }

// smallEscapes writes %2f where an address has %2F.
func smallEscapes(address string) string {
	before, after, ok := strings.Cut(address, "%")
	if !ok {
		return address
	}
	return before + "%" + strings.ToLower(after[:2]) + smallEscapes(after[2:])
}

func backwards(v string) string {
	b := []byte(v)
	slices.Reverse(b)
	return string(b)
}

// escaped writes a value as it stands between the quotes of a JSON string.
func escaped(v string) string {
	quoted, err := json.Marshal(v)
	if err != nil {
		return v // unreachable: a string always encodes
	}
	return string(quoted[1 : len(quoted)-1])
}

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
