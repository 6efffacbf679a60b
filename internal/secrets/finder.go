// Package secrets is about what must not be seen: it finds it in a text, and
// masks it. It is asked where a text leaves: by package github for what is posted, by
// package environ for what is printed, by package leak for what is committed.
//
// A secret is a value that the user has, such as a token in a variable, or a
// text with the shape of one, such as a key of AWS. A value is known, so it is
// found however a program may have written it: encoded, escaped, cut to pieces
// or backwards. A shape is found as it stands; the shapes are the rules that
// come with gitleaks, and are read when the first text is looked through.
package secrets

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// hit is a place in a text where a secret stands.
type hit struct {
	Start, End int    // in bytes
	Name       string // of the secret, or of the rule whose shape it has
	Known      bool   // it is a value that was given, not only a shape
}

// Line gives the line of a hit in its text, counting from 1.
func (h hit) Line(text []byte) int { return 1 + bytes.Count(text[:h.Start], []byte("\n")) }

// Value is what stands there.
func (h hit) Value(text []byte) string { return string(text[h.Start:h.End]) }

// Finder looks for secrets. It may be used by several goroutines.
type Finder struct {
	mu     sync.Mutex
	all    []Secret
	known  *known // of all; nil until it is needed
	shapes func() (*shapes, error)
}

// New gives a finder that knows these values. It costs nothing before the first text.
func New(all ...Secret) *Finder {
	return &Finder{all: slices.Clone(all), shapes: sync.OnceValues(readShapes)}
}

// Learn adds values that are known from now on.
func (f *Finder) Learn(more ...Secret) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, s := range more {
		if !slices.ContainsFunc(f.all, func(had Secret) bool { return had.Value == s.Value }) {
			f.all, f.known = append(f.all, s), nil
		}
	}
}

// values gives what finds the values.
func (f *Finder) values() *known {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.known == nil {
		f.known = newKnown(f.all)
	}
	return f.known
}

// Known gives where values that were given stand in a text, in the order of
// their places. None overlaps with another.
func (f *Finder) Known(text []byte) []hit { return apart(f.values().find(text)) }

// Find gives where values that were given stand, and what has the shape of a secret. The error says why a text could
// not be looked through.
func (f *Finder) Find(text []byte) ([]hit, error) {
	if len(text) < MinLength {
		return nil, nil // nothing to read the rules for
	}
	hits := f.values().find(text)
	s, err := f.shapes()
	if err != nil {
		return nil, err
	}
	more, err := s.find(text)
	if err != nil {
		return nil, err
	}
	return apart(append(hits, more...)), nil
}

// Mask replaces every secret in a text by the name of what it is, in brackets. A
// text that cannot be looked through is withheld.
func (f *Finder) Mask(text string) string {
	hits, err := f.Find([]byte(text))
	if err != nil {
		return fmt.Sprintf("[withheld: %v]", err)
	}
	return masked(text, hits)
}

// MaskKnown replaces the values that were given, and leaves alone what only has
// the shape of a secret: for what programs read, such as names of files.
func (f *Finder) MaskKnown(text string) string { return masked(text, f.Known([]byte(text))) }

func masked(text string, hits []hit) string {
	if len(hits) == 0 {
		return text
	}
	var b strings.Builder
	at := 0
	for _, h := range hits {
		b.WriteString(text[at:h.Start])
		b.WriteString("[" + h.Name + "]")
		at = h.End
	}
	return b.String() + text[at:]
}

// apart sorts hits, and joins those that overlap: as what is known, if one is.
func apart(hits []hit) (out []hit) {
	slices.SortStableFunc(hits, func(a, b hit) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	for _, h := range hits {
		if n := len(out); n > 0 && h.Start < out[n-1].End {
			last := &out[n-1]
			if h.Known && !last.Known {
				last.Name, last.Known = h.Name, true
			}
			last.End = max(last.End, h.End)
			continue
		}
		out = append(out, h)
	}
	return out
}

// needles are strings that are looked for all at once, in time that grows with the text alone.
type needles struct {
	words []string
	heads []bool           // by the first two bytes: some word begins so
	begin map[uint16][]int // the words that do
	fold  [256]byte        // what a byte counts as
}

// newNeedles prepares to look for words of two bytes or more, with fold
// whether letters are large or small. The words are in small letters then.
func newNeedles(words []string, fold bool) *needles {
	n := &needles{words: words, heads: make([]bool, 1<<16), begin: map[uint16][]int{}}
	for i := range n.fold {
		n.fold[i] = byte(i)
		if fold && 'A' <= i && i <= 'Z' {
			n.fold[i] = byte(i) + 'a' - 'A'
		}
	}
	for i, w := range words {
		if len(w) < 2 {
			continue // unreachable: no value and no rule is that short
		}
		h := uint16(w[0])<<8 | uint16(w[1])
		n.heads[h] = true
		n.begin[h] = append(n.begin[h], i)
	}
	return n
}

// each calls found for every place where a word stands, in the order of places.
func (n *needles) each(text []byte, found func(at, word int)) {
	if len(n.words) == 0 || len(text) < 2 {
		return
	}
	h := uint16(n.fold[text[0]])
	for i, c := range text[1:] {
		h = h<<8 | uint16(n.fold[c])
		if !n.heads[h] {
			continue
		}
		for _, w := range n.begin[h] {
			if n.stands(text[i:], n.words[w]) {
				found(i, w)
			}
		}
	}
}

func (n *needles) stands(text []byte, word string) bool {
	if len(text) < len(word) {
		return false
	}
	for i := 2; i < len(word); i++ {
		if n.fold[text[i]] != word[i] {
			return false
		}
	}
	return true
}

// known finds the forms of values.
type known struct {
	exact, bare           *needles
	exactNames, bareNames []string // of the secrets that needles are forms of
}

// newKnown prepares to look for secrets.
func newKnown(all []Secret) *known {
	k := &known{}
	var exact, letters []string
	for _, s := range all {
		for _, f := range s.forms() {
			b := string(bare([]byte(f)))
			if len(b) >= minBare && !slices.Contains(letters, b) {
				letters, k.bareNames = append(letters, b), append(k.bareNames, s.Name)
			}
			// Also where the bare form is looked for: it leaves out the signs at
			// both ends.
			if len(f) >= MinLength && !slices.Contains(exact, f) {
				exact, k.exactNames = append(exact, f), append(k.exactNames, s.Name)
			}
		}
	}
	k.exact, k.bare = newNeedles(exact, false), newNeedles(letters, false)
	return k
}

// find gives where forms of values stand.
func (k *known) find(text []byte) (out []hit) {
	k.exact.each(text, func(at, word int) {
		out = append(out, hit{Start: at, End: at + len(k.exact.words[word]), Name: k.exactNames[word], Known: true})
	})
	if len(k.bare.words) == 0 {
		return out
	}
	for _, written := range [][]byte{text, unescaped(text), undumped(text)} {
		if written == nil {
			continue
		}
		start := cursor{text: written}
		k.bare.each(bare(written), func(at, word int) {
			start.move(at - start.bare)
			end := start
			end.move(len(k.bare.words[word]) - 1)
			out = append(out, hit{Start: start.at, End: end.at + 1, Name: k.bareNames[word], Known: true})
		})
	}
	return out
}

// bare leaves out of a text all but letters and digits, so that nothing between the pieces of a value hides it.
func bare(text []byte) []byte {
	out := make([]byte, 0, len(text))
	for i := 0; i < len(text); i++ {
		if n := silent(text[i:]); n > 0 {
			i += n - 1
			continue
		}
		out = append(out, text[i])
	}
	return out
}

// silent gives how many bytes at the start of a text are left out.
func silent(text []byte) int {
	switch c := text[0]; {
	case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		return 0
	case c == '\\' && len(text) > 1 && (text[1] == 'n' || text[1] == 'r' || text[1] == 't'):
		return 2
	}
	return 1
}

// cursor is a place in a text and in what bare makes of it.
type cursor struct {
	text     []byte
	at, bare int
}

// move goes n letters on, and stands on a letter then: one that there is.
func (c *cursor) move(n int) {
	for c.bare += n; ; n-- {
		for s := silent(c.text[c.at:]); s > 0; s = silent(c.text[c.at:]) {
			c.at += s
		}
		if n == 0 {
			return
		}
		c.at++
	}
}
