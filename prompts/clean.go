package prompts

import (
	"fmt"
	"slices"
	"strings"
)

// Kind is a kind of hidden text.
type Kind string

// The kinds of hidden text that Clean removes.
const (
	HTMLComment       Kind = "html_comment"
	ZeroWidth         Kind = "zero_width"
	Bidi              Kind = "bidi"               // controls that reorder text
	Tag               Kind = "tag"                // Unicode tag characters
	VariationSelector Kind = "variation_selector" // except where it selects a glyph
	SoftHyphen        Kind = "soft_hyphen"
	ANSI              Kind = "ansi"          // terminal escapes
	Control           Kind = "control"       // other control characters, and bytes that are not UTF-8
	HiddenText        Kind = "hidden_text"   // long titles, alternative texts, HTML attributes and the like
	DangerousURL      Kind = "dangerous_url" // data:, javascript: and vbscript:
)

// Kinds lists every kind.
func Kinds() []Kind {
	return []Kind{HTMLComment, ZeroWidth, Bidi, Tag, VariationSelector, SoftHyphen, ANSI, Control, HiddenText, DangerousURL}
}

// Removal is what Clean took out of a text, of one kind.
type Removal struct {
	Kind   Kind
	Count  int    // characters, or whole comments, sequences, titles and so on
	Sample string // the beginning of the first: ASCII letters, digits and the like; all else as {hex}; at most 60 bytes
}

// Clean removes from a text what a person who reads it on GitHub does not
// see, so that an agent reads what people read. Line ends become \n. Text in
// any script survives, and so do emoji with their joiners and selectors, and
// code, of which only what cannot be seen goes. Cleaning a clean text changes
// nothing. The time is linear in len(text).
//
// What is code is read from the text as it stands, so it has to be whole:
// begun where GitHub begins to read it.
func Clean(text string) (clean string, removed []Removal) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	r := &recorder{}
	if clean = settle(cleanRunes(text, r), r, false); clean == text {
		return clean, r.list
	}
	code := seenCode(text)
	if len(code) == 0 {
		return clean, r.list
	}
	r.list = nil
	return cleanAround(text, code, r), r.list
}

// CleanAll is Clean for text that is shown in another place than it was written
// for: comments go wherever they stand, also in a block of code.
func CleanAll(text string) (clean string, removed []Removal) {
	r := &recorder{}
	return settle(cleanRunes(text, r), r, true), r.list
}

// settle removes hidden markup until none is left. If fenced, blocks between
// fences at the margin keep all but comments and addresses.
func settle(text string, r *recorder, fenced bool) string {
	for range maxRounds {
		before := text
		text = cleanComments(text, r)
		text = cleanURLs(text, r)
		if !fenced {
			text = cleanFences(text, r)
		}
		text = cleanMarkup(text, r, fenced)
		if text == before {
			break
		}
	}
	return text
}

// maxRounds is how often markup is cleaned, because what was taken out may
// have kept something else from being seen as markup. One round does for all
// but texts made to need more.
const maxRounds = 4

// maxHidden is how many characters of a title or alternative text may stay.
const maxHidden = 60

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
		if c == stand {
			continue
		}
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
