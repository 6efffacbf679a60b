package secrets

import (
	"errors"
	"math"
	"slices"
	"strings"
)

// errTooMuch is why a text is not looked through to its end.
var errTooMuch = errors.New("too much in it looks like the beginning of a secret")

// maxEffort bounds the work on one text, in bytes that are held against a rule:
// many times what a large file of code takes.
const maxEffort = 256 << 20

// span is a part of a text.
type span struct{ from, to int }

// find gives what has the shape of a secret. Only around a keyword is a text
// held against a rule.
func (s *shapes) find(text []byte) ([]Hit, error) {
	around := s.around(text)
	var out []Hit
	effort := 0
	for i, r := range s.rules {
		for _, p := range around[i] {
			if effort += p.to - p.from; effort > s.most {
				return nil, errTooMuch
			}
			hits, err := s.match(r, text, p)
			if err != nil {
				return nil, err
			}
			out = append(out, hits...)
		}
	}
	return out, nil
}

// around gives the parts of a text where each rule may match.
func (s *shapes) around(text []byte) map[int][]span {
	out := map[int][]span{}
	s.keywords.each(text, func(at, word int) {
		for _, i := range s.callers[word] {
			reach := s.rules[i].reach()
			p := span{max(0, at-reach), min(len(text), at+reach+1)}
			spans := out[i]
			if n := len(spans); n > 0 && p.from <= spans[n-1].to {
				spans[n-1].to = p.to
				continue
			}
			out[i] = append(spans, p)
		}
	})
	return out
}

// match gives what of a part of a text has the shape of a rule.
func (s *shapes) match(r *rule, text []byte, p span) ([]Hit, error) {
	re, err := r.compile()
	if err != nil {
		return nil, err
	}
	if !re.Match(text[p.from:p.to]) {
		return nil, nil // most have none, and that alone is told much sooner
	}
	var out []Hit
	for _, m := range re.FindAllSubmatchIndex(text[p.from:p.to], -1) {
		from, to := secretIn(m, r.SecretGroup)
		value := string(text[p.from+from : p.from+to])
		example, err := s.example(r, value)
		if err != nil {
			return nil, err
		}
		if !example {
			out = append(out, Hit{Start: p.from + from, End: p.from + to, Name: r.ID})
		}
	}
	return out, nil
}

// secretIn gives which part of a match is the secret: the group that the rule
// names, else the first that matched, else all.
func secretIn(m []int, group int) (from, to int) {
	if group > 0 && m[2*group] >= 0 {
		return m[2*group], m[2*group+1]
	}
	for i := 2; i < len(m); i += 2 {
		if m[i] >= 0 && m[i] < m[i+1] {
			return m[i], m[i+1]
		}
	}
	return m[0], m[1]
}

// example reports whether a value is a placeholder, or too regular for a secret.
func (s *shapes) example(r *rule, value string) (bool, error) {
	if r.Entropy > 0 && entropy(value) <= r.Entropy {
		return true, nil
	}
	allow, err := r.allow()
	if err != nil || allow.MatchString(value) {
		return true, err
	}
	lower := strings.ToLower(value)
	has := func(word string) bool { return strings.Contains(lower, strings.ToLower(word)) }
	return slices.ContainsFunc(s.stop, has) || slices.ContainsFunc(r.Allowlists, func(a allowed) bool { return slices.ContainsFunc(a.StopWords, has) }), nil
}

// entropy gives the bits of a byte of a value, as Shannon counts them.
func entropy(value string) float64 {
	var count [256]int
	for i := range len(value) {
		count[value[i]]++
	}
	bits := 0.0
	for _, n := range count {
		if n > 0 {
			p := float64(n) / float64(len(value))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}
