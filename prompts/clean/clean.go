// Package clean takes out of a text what people who read it on GitHub do not
// see: hidden comments, invisible characters, titles of links, addresses that
// run scripts. An agent then reads what people read.
package clean

import "strings"

// Text removes from a text what a person who reads it on GitHub does not
// see, so that an agent reads what people read. Line ends become \n. Text in
// any script survives, and so do emoji with their joiners and selectors, and
// code, of which only what cannot be seen goes. Cleaning a clean text changes
// nothing. The time is linear in len(text).
//
// What is code is read from the text as it stands, so it has to be whole:
// begun where GitHub begins to read it.
func Text(text string) (clean string, removed []Removal) {
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	r := &recorder{}
	if clean = removeHidden(cleanRunes(text, r), r, false); clean == text {
		return clean, r.list
	}
	code := seenCode(text)
	if len(code) == 0 {
		return clean, r.list
	}
	r.list = nil
	return cleanAround(text, code, r), r.list
}

// Quoted is Text for what is shown in another place than it was written for:
// comments are removed wherever they stand, also in a block of code.
func Quoted(text string) (clean string, removed []Removal) {
	r := &recorder{}
	return removeHidden(cleanRunes(text, r), r, true), r.list
}
