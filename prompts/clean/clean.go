// Package clean takes out of a text what people who read it on GitHub do not see, so that an agent reads
// what people read.
package clean

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// maxRounds is how often a text is cleaned, as what is taken out may have hidden something else.
const maxRounds = 6

// Text removes from a whole text what a person who reads it on GitHub does not see, in time that is linear in
// its length. Any script, emoji and code survive; cleaning a clean text changes nothing.
func Text(text string) (clean string, removed []Removal) {
	return rounds(text, []cleaner{(*draft).blocks, (*draft).comments, (*draft).addresses, (*draft).targets, (*draft).tags})
}

// Quoted is Text for what is shown in another place than it was written for: only comments are hidden
// there, and are removed also in code.
func Quoted(text string) (clean string, removed []Removal) {
	return rounds(text, []cleaner{(*draft).comments, (*draft).addresses})
}

// rounds has cleaners go over a text until nothing is left to be done.
func rounds(text string, all []cleaner) (string, []Removal) {
	r := &recorder{}
	visible := cleanRunes(text, r)
	// What is code for people is so with the characters that they do not see, too.
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	for range maxRounds {
		d := &draft{src: text, open: text, r: r}
		for _, c := range all {
			c(d)
		}
		if d.src == text && text == visible {
			return text, r.list
		}
		text = cleanRunes(d.src, &recorder{})
		visible = text
	}
	// It was made not to come to an end, so it is read without its markup.
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune("<>[]|$%:`~&", c) {
			return ' '
		}
		return c
	}, text), r.list
}

// draft is a text that is being cleaned.
type draft struct {
	src  string
	open string // the same, with x for every byte of code: whoever looks for markup reads this
	r    *recorder
}

// cleaner cleans a text of some kind of hidden text.
type cleaner func(*draft)

// edit puts something in the place of a part of a text.
type edit struct {
	from, to int
	with     string
	kind     kind
	hidden   string // what is taken out
}

// apply makes edits. One within another is left out.
func (d *draft) apply(edits []edit) {
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	var src, open strings.Builder
	at := 0
	for _, e := range edits {
		if e.from < at {
			continue
		}
		d.r.add(e.kind, e.hidden)
		src.WriteString(d.src[at:e.from] + e.with)
		open.WriteString(d.open[at:e.from] + e.with)
		at = e.to
	}
	if len(edits) > 0 {
		d.src, d.open = src.String()+d.src[at:], open.String()+d.open[at:]
	}
}

// kind is a kind of hidden text.
type kind string

// The kinds of text that are removed, all but the last by Text.
const (
	HTMLComment       kind = "html_comment"
	zeroWidth         kind = "zero_width"
	bidi              kind = "bidi"               // controls that reorder text
	Tag               kind = "tag"                // Unicode tag characters
	variationSelector kind = "variation_selector" // except where it selects a glyph
	softHyphen        kind = "soft_hyphen"
	ansi              kind = "ansi"          // terminal escapes
	Control           kind = "control"       // other control characters, and bytes that are not UTF-8
	hiddenText        kind = "hidden_text"   // titles, words behind a language, footnotes that nothing refers to and the like
	dangerousURL      kind = "dangerous_url" // data:, javascript: and vbscript:
	quotedMail        kind = "quoted_mail"   // what a program for mail adds; Mail removes it
)

// Removal is what Text took out of a text, of one kind.
type Removal struct {
	Kind   kind
	Count  int    // characters, or whole comments, sequences, titles and so on
	Sample string // the beginning of the first: ASCII letters, digits and the like; all else as {hex}; at most 60 bytes
}

// maxSample is the most bytes of a Removal.Sample.
const maxSample = 60

// recorder collects what was removed.
type recorder struct{ list []Removal }

// add counts a removal. The text of the first one of its kind is the sample.
func (r *recorder) add(k kind, text string) {
	for i := range r.list {
		if r.list[i].Kind == k {
			r.list[i].Count++
			return
		}
	}
	r.list = append(r.list, Removal{k, 1, sample(text)})
}

func (r *recorder) has(k kind) bool {
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

// mailForms are how that begins what a program for mail adds below one's own words: the headers of the mail that is
// answered, that mail as a quotation below who wrote it and when, a signature, or a footer.
var mailForms = sync.OnceValue(func() *regexp.Regexp {
	const when, quoted = `(?:\d[:./-]\d|\d{4})`, `[:：]\s*\n(?:\s*\n)*(?:>.*\n|\s*\n)*>.*\s*\z`
	return regexp.MustCompile(`(?m)^(?:` + strings.Join([]string{
		`(?:[-_]{5,}.*\n)?\*{0,2}[\pL ]{2,12}:\*{0,2} .*@.*\n(?:\*{0,2}[\pL ]{2,12}:\*{0,2} .*\n){2}`,
		`.*` + when + `.*(?:\n[^\d\n]*@.*|@.*\n\pL{2,15} ?)` + quoted,
		`.*(?:@|` + when + `).*` + quoted,
		`.*\d[:.]\d\d.*@\S*>.*(?:[:：](?:\s*| {3}.*)| -{3,}\s*)$`, // who wrote when, where the mail is not marked as a quotation
		`-{3,} ?[\pL ]{5,40} ?-{3,}\s*\z`,
		`-- ?\r?$`,
		`(?:—\s*\n)?(?:Reply to this email directly|You are receiving this because|Message ID: <)`,
		`(?:Sent from my |\pL+ Outlook \pL+ (?:iOS|Android|Mac)\b|Von meinem .* gesendet|Envoyé de mon |iPhoneから送信)`,
		`(?:(?:Sent|Gesendet|Envoyé|Enviado|Inviato|Verzonden) (?:from|with|via|von|mit|depuis|avec|desde|do|da|met|vanaf)(?: mi)? \[?(?:\p{Lu}|iP).*|.*から送信)\s*\z`,
	}, "|") + `)`)
})

// Mail takes off a text what a program for mail has added below it. A quotation that nobody is said to have written
// stays: it may be what the text is about.
func Mail(text string) (own string, removed []Removal) {
	r := &recorder{}
	for range maxRounds {
		at := mailForms().FindStringIndex(text)
		if at == nil {
			break
		}
		r.add(quotedMail, text[at[0]:])
		text = strings.TrimRight(text[:at[0]], " \t\r\n")
	}
	return text, r.list
}

// Mark gives a text with a mark such as <U+202E> in the place of every character that nobody would see, for
// who reviews a change, and how many these are. Emoji and scripts keep what they need.
func Mark(text string) (marked string, count int) {
	if plain(text) {
		return text, 0
	}
	var b strings.Builder
	var prev rune
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch kind, n := hidden(prev, c, text[i:], size); {
		case c == '\n' || c == '\t' || c == '\r' && strings.HasPrefix(text[i+size:], "\n"):
			b.WriteString(text[i : i+size])
		case c == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, "<0x%02X>", text[i])
			count++
		case kind != "" || c == '\u2028' || c == '\u2029':
			fmt.Fprintf(&b, "<U+%04X>", c)
			count++
		default:
			b.WriteString(text[i : i+n])
			size = n
			c, _ = utf8.DecodeLastRuneInString(text[i : i+n])
		}
		prev = c
		i += size
	}
	return b.String(), count
}
