package clean

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of hidden text.
type Kind string

// The kinds of text that are removed, all but the last by Text.
const (
	HTMLComment       Kind = "html_comment"
	ZeroWidth         Kind = "zero_width"
	Bidi              Kind = "bidi"               // controls that reorder text
	Tag               Kind = "tag"                // Unicode tag characters
	VariationSelector Kind = "variation_selector" // except where it selects a glyph
	SoftHyphen        Kind = "soft_hyphen"
	ANSI              Kind = "ansi"          // terminal escapes
	Control           Kind = "control"       // other control characters, and bytes that are not UTF-8
	HiddenText        Kind = "hidden_text"   // titles, words behind a language, footnotes that nothing refers to and the like
	DangerousURL      Kind = "dangerous_url" // data:, javascript: and vbscript:
	quotedMail        Kind = "quoted_mail"   // what a program for mail adds; Mail removes it
)

// Removal is what Text took out of a text, of one kind.
type Removal struct {
	Kind   Kind
	Count  int    // characters, or whole comments, sequences, titles and so on
	Sample string // the beginning of the first: ASCII letters, digits and the like; all else as {hex}; at most 60 bytes
}

// maxSample is the most bytes of a Removal.Sample.
const maxSample = 60

// recorder collects what was removed.
type recorder struct{ list []Removal }

// add counts a removal. The text of the first one of its kind is the sample.
func (r *recorder) add(k Kind, text string) {
	for i := range r.list {
		if r.list[i].Kind == k {
			r.list[i].Count++
			return
		}
	}
	r.list = append(r.list, Removal{k, 1, sample(text)})
}

func (r *recorder) has(k Kind) bool {
	return slices.ContainsFunc(r.list, func(x Removal) bool { return x.Kind == k })
}

// sample makes a removed text fit to be shown anywhere.
func sample(text string) string {
	var b strings.Builder
	for _, c := range text {
		if c >= 0xE0020 && c <= 0xE007E {
			c -= 0xE0000 // tag characters spell ASCII; people should see what
		}
		s := string(c)
		if c < ' ' || c > '~' || strings.ContainsRune("<>&`@#[](){}!|*_~\\/:\"'", c) {
			s = fmt.Sprintf("{%X}", c)
		}
		if b.Len()+len(s) > maxSample-len("...") {
			b.WriteString("...")
			break
		}
		b.WriteString(s)
	}
	return b.String()
}
