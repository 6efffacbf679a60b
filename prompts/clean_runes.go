package prompts

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// cleanRunes removes characters that cannot be seen, and terminal escapes.
func cleanRunes(text string, r *recorder) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var prev rune // the last one kept
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c >= ' ' && c < utf8.RuneSelf-1 || c == '\n' || c == '\t':
			b.WriteByte(text[i])
			prev = c
		case c == '\u2028' || c == '\u2029': // no ends of lines in Markdown
			b.WriteByte(' ')
			prev = ' '
		case c == '\r':
			if !strings.HasPrefix(text[i+size:], "\n") {
				b.WriteByte('\n')
			}
			prev = '\n'
		case c == utf8.RuneError && size == 1:
			r.add(Control, text[i:i+1])
			b.WriteRune(utf8.RuneError)
			prev = c
		default:
			kind, n := hidden(prev, c, text[i:], size)
			if kind == "" {
				b.WriteString(text[i : i+n])
				prev, _ = utf8.DecodeLastRuneInString(text[i : i+n])
			} else {
				r.add(kind, run(r, kind, prev, text[i:]))
			}
			size = n
		}
		i += size
	}
	return b.String()
}

// run returns the hidden characters of one kind at the start of text, as far
// as a sample needs them; if there is a sample already, nothing.
func run(r *recorder, kind Kind, prev rune, text string) string {
	if r.has(kind) {
		return ""
	}
	end := 0
	for end < maxSample*utf8.UTFMax && end < len(text) {
		c, size := utf8.DecodeRuneInString(text[end:])
		k, n := hidden(prev, c, text[end:], size)
		if k != kind {
			break
		}
		end += n
	}
	return text[:end]
}

// plain reports whether text is printable ASCII, tabs and newlines.
func plain(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

// hidden says of which kind the rune c at the start of rest is, or "" to keep
// it, and how many bytes that concerns. Prev is the rune kept before it.
func hidden(prev, c rune, rest string, size int) (Kind, int) {
	next, _ := utf8.DecodeRuneInString(rest[size:])
	switch {
	case c == 0x1b || c == 0x9b:
		return ANSI, size + escape(c, rest[size:])
	case c < ' ' || c >= 0x7f && c <= 0x9f:
		return Control, size
	case c == 0xad:
		return SoftHyphen, size
	case c == 0x200d && emoji(next) && (emoji(prev) || prev == 0xfe0f),
		joiner(c) && (joining(prev) && !joiner(next) || joining(next) && !joiner(prev)):
		return "", size // part of one emoji, or of a word in its script
	case c == 0x1f3f4:
		return "", size + flagTags(rest[size:])
	case c >= 0xe0000 && c <= 0xe007f:
		return Tag, size
	case selector(c):
		if selects(prev, c, next) {
			return "", size
		}
		return VariationSelector, size
	case c == 0x061c || c >= 0x200e && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x206f:
		return Bidi, size
	case c >= 0x200b && c <= 0x200d || c >= 0x2060 && c <= 0x2065 || c == 0xfeff || c == 0x180e || c == 0x034f,
		c == 0x115f || c == 0x1160 || c == 0x3164 || c == 0xffa0, c >= 0x17b4 && c <= 0x17b5:
		return ZeroWidth, size
	case c >= 0xfff0 && c <= 0xfffb || c >= 0x1bca0 && c <= 0x1bca3 || c >= 0x1d173 && c <= 0x1d17a, c >= 0xe0080 && c <= 0xe0fff, c&0xfffe == 0xfffe:
		return Control, size
	}
	return "", size
}

// escape returns the length of what follows an escape character. Only
// sequences that are complete are taken whole.
func escape(c rune, rest string) int {
	if c == 0x9b {
		return csi(rest)
	}
	if rest == "" {
		return 0
	}
	switch rest[0] {
	case '[':
		return 1 + csi(rest[1:])
	case ']', 'P', 'X', '^', '_': // a string, up to BEL or ESC \
		end := strings.IndexAny(rest, "\a\x1b\n")
		if end >= 0 && rest[end] == '\a' {
			return end + 1
		}
		if end >= 0 && strings.HasPrefix(rest[end:], "\x1b\\") {
			return end + 2
		}
		return 1
	}
	return 0
}

// csi returns the length of parameters and final byte of a control sequence.
func csi(rest string) int {
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case c >= 0x20 && c <= 0x3f:
		case c >= 0x40 && c <= 0x7e:
			return i + 1
		default:
			return i
		}
	}
	return len(rest)
}

// flagTags returns the length of the tag characters that turn a black flag into
// that of England, Scotland or Wales.
func flagTags(rest string) int {
	for _, region := range []string{"gbeng", "gbsct", "gbwls"} {
		var tags strings.Builder
		for _, c := range region + "\x7f" {
			tags.WriteRune(0xe0000 + c)
		}
		if strings.HasPrefix(rest, tags.String()) {
			return tags.Len()
		}
	}
	return 0
}

func selector(c rune) bool {
	return c >= 0xfe00 && c <= 0xfe0f || c >= 0xe0100 && c <= 0xe01ef || c >= 0x180b && c <= 0x180d || c == 0x180f
}

// selects reports whether a variation selector changes how prev looks: an
// emoji or a text glyph, the form of an ideograph (as Japanese names need
// it), or a Mongolian letter.
func selects(prev, c, next rune) bool {
	switch {
	case c == 0xfe0e || c == 0xfe0f:
		return emoji(prev) || next == 0x20e3 && (prev >= '0' && prev <= '9' || prev == '#' || prev == '*')
	case c <= 0x180f:
		return unicode.Is(unicode.Mongolian, prev)
	case c <= 0xfe02 || c >= 0xe0100 && c <= 0xe011f:
		return unicode.Is(unicode.Han, prev)
	}
	return false
}

// emoji reports whether c is in a block of emoji.
func emoji(c rune) bool {
	return c >= 0x1f000 && c <= 0x1faff || c >= 0x2600 && c <= 0x27bf || c >= 0x2190 && c <= 0x21ff ||
		c >= 0x2300 && c <= 0x23ff || c >= 0x25a0 && c <= 0x25ff || c >= 0x2b00 && c <= 0x2bff ||
		c == 0xa9 || c == 0xae || c == 0x203c || c == 0x2049 || c == 0x2122 || c == 0x2139 || c == 0x24c2 ||
		c == 0x2934 || c == 0x2935 || c == 0x3030 || c == 0x303d || c == 0x3297 || c == 0x3299
}

// joiner reports whether c joins its neighbours or keeps them apart.
func joiner(c rune) bool { return c == 0x200c || c == 0x200d }

// joining reports whether c belongs to a script that needs joiners to be
// written correctly, such as Persian and the scripts of India: between letters,
// and where a letter has another form than it would have alone.
func joining(c rune) bool {
	return unicode.In(c, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Adlam,
		unicode.Mandaic, unicode.Hanifi_Rohingya, unicode.Chakma, unicode.Newa, unicode.Tirhuta, unicode.Grantha, unicode.Kaithi)
}
