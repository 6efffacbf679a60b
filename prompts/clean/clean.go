// Package clean takes out of a text what people who read it on GitHub do not see, so that an agent reads
// what people read.
package clean

import (
	"slices"
	"strings"
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
	kind     Kind
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
