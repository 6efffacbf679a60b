package secrets

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// Hit is a place in a text where a secret stands.
type Hit struct {
	Start, End int    // in bytes
	Name       string // of the secret, or of the rule whose shape it has
	Known      bool   // it is a value that was given, not only a shape
}

// Line gives the line of a hit in its text, counting from 1.
func (h Hit) Line(text []byte) int { return 1 + bytes.Count(text[:h.Start], []byte("\n")) }

// Value is what stands there.
func (h Hit) Value(text []byte) string { return string(text[h.Start:h.End]) }

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
func (f *Finder) Known(text []byte) []Hit { return apart(f.values().find(text)) }

// Find gives where values that were given stand, and what has the shape of a secret. The error says why a text could
// not be looked through.
func (f *Finder) Find(text []byte) ([]Hit, error) {
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

func masked(text string, hits []Hit) string {
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
func apart(hits []Hit) []Hit {
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Or(a.Start-b.Start, b.End-a.End) })
	var out []Hit
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
