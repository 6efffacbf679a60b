package text

import "unicode"

// Invisible reports whether a character takes up no room, or changes how others
// are laid out or read instead of being shown: control characters, those that
// format, select a variant or are left out by default, ends of lines that are
// none in Markdown, and code points that are no characters. Line breaks and tabs
// are not; joiners and selectors are, though some scripts and emoji need them:
// whoever asks has to look at what stands around.
func Invisible(r rune) bool {
	switch {
	case r == '\n', r == '\t':
		return false
	case r < 0x7f: // nearly all there is, and the tables below take long
		return r < ' '
	case unicode.Is(unicode.Prepended_Concatenation_Mark, r), unicode.Is(unicode.Egyptian_Hieroglyphs, r):
		return false // formats that are drawn
	}
	return unicode.In(r,
		unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point, unicode.Noncharacter_Code_Point)
}

// Reorders reports whether a character changes the order in which others are
// shown.
func Reorders(r rune) bool {
	return unicode.Is(unicode.Bidi_Control, r) || r >= 0x206a && r <= 0x206f // the latter are deprecated
}

// Tag reports whether a character is one of those that repeat ASCII without
// being shown.
func Tag(r rune) bool { return r >= 0xe0000 && r <= 0xe007f }

// Joiner reports whether a character joins those beside it or keeps them apart.
func Joiner(r rune) bool { return r == 0x200c || r == 0x200d }

// Emoji reports whether c is in a block of emoji.
func Emoji(c rune) bool {
	return c >= 0x1f000 && c <= 0x1faff || c >= 0x2600 && c <= 0x27bf || c >= 0x2190 && c <= 0x21ff ||
		c >= 0x2300 && c <= 0x23ff || c >= 0x25a0 && c <= 0x25ff || c >= 0x2b00 && c <= 0x2bff ||
		c == 0xa9 || c == 0xae || c == 0x203c || c == 0x2049 || c == 0x2122 || c == 0x2139 || c == 0x24c2 ||
		c == 0x2934 || c == 0x2935 || c == 0x3030 || c == 0x303d || c == 0x3297 || c == 0x3299
}

// Joined reports whether c belongs to a script that needs joiners to be
// written correctly, such as Persian and the scripts of India: between letters,
// and where a letter has another form than it would have alone.
func Joined(c rune) bool {
	return unicode.In(c, unicode.Arabic, unicode.Syriac, unicode.Nko, unicode.Mongolian, unicode.Devanagari, unicode.Bengali,
		unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya, unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam,
		unicode.Sinhala, unicode.Khmer, unicode.Myanmar, unicode.Tibetan, unicode.Balinese, unicode.Javanese, unicode.Adlam,
		unicode.Mandaic, unicode.Hanifi_Rohingya, unicode.Chakma, unicode.Newa, unicode.Tirhuta, unicode.Grantha, unicode.Kaithi)
}
