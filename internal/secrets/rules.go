package secrets

import (
	_ "embed"
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// gitleaksRules are the rules of gitleaks as they come. Its module is not linked:
// it brings a whole program and 17 more modules.
//
//go:generate gitleaks/refresh v8.30.1
//go:embed gitleaks/rules.toml
var gitleaksRules []byte

// moreRules are shapes of what agents and workflows have at hand and gitleaks does not know.
//
//go:embed more.toml
var moreRules []byte

// ruleFile is what is read of the rules of gitleaks. Allowlists by path are left
// out: whoever writes a secret chooses the path as well.
type ruleFile struct {
	Rules     []ruleText
	Allowlist allowed
	Other     struct {
		Loose    []string            // rules that find what is often no secret
		Keywords map[string][]string // of rules that name some which much else has
	}
}

// ruleText is a rule as it is written.
type ruleText struct {
	ID, Regex   string
	SecretGroup int
	Entropy     float64
	Keywords    []string
	Allowlists  []allowed
}

// allowed are values that are no secrets: examples and placeholders.
type allowed struct{ Regexes, StopWords []string }

// rule is a shape. Its expressions are compiled when the first text calls for them.
type rule struct {
	ruleText
	compile func() (*regexp.Regexp, error)
	allow   func() (*regexp.Regexp, error) // matches all of a value that is no secret
}

// shapes are all rules, and what calls for each.
type shapes struct {
	rules    []*rule
	keywords *needles
	callers  [][]int  // the rules that a keyword calls for
	stop     []string // words that no secret has
	most     int      // bytes that are held against rules for one text
}

// readShapes reads the rules. The error says what is wrong with them.
func readShapes() (*shapes, error) {
	var f ruleFile
	if err := toml.Unmarshal(slices.Concat(gitleaksRules, moreRules), &f); err != nil {
		return nil, fmt.Errorf("the rules for finding secrets cannot be read: %w", err)
	}
	s := &shapes{}
	var words []string
	for _, t := range f.Rules {
		if t.Regex == "" || slices.Contains(f.Other.Loose, t.ID) {
			continue
		}
		if other := f.Other.Keywords[t.ID]; other != nil {
			t.Keywords = other
		}
		if len(t.Keywords) == 0 {
			return nil, fmt.Errorf("the rule %s for finding secrets has no keyword: every text would have to be held against it", t.ID)
		}
		s.rules = append(s.rules, newRule(t, f.Allowlist))
		for _, k := range t.Keywords {
			k = strings.ToLower(k)
			i := slices.Index(words, k)
			if i < 0 {
				i, words, s.callers = len(words), append(words, k), append(s.callers, nil)
			}
			s.callers[i] = append(s.callers[i], len(s.rules)-1)
		}
	}
	s.keywords, s.stop, s.most = newNeedles(words, true), f.Allowlist.StopWords, maxEffort
	return s, nil
}

// newRule gives a rule with the values that are allowed for it and for all.
func newRule(t ruleText, all allowed) *rule {
	r := &rule{ruleText: t}
	r.compile = sync.OnceValues(func() (*regexp.Regexp, error) {
		re, err := regexp.Compile(quicker(t.Regex))
		if err == nil && re.NumSubexp() < t.SecretGroup {
			err = fmt.Errorf("it has no group %d", t.SecretGroup)
		}
		return re, r.broken(err)
	})
	r.allow = sync.OnceValues(func() (*regexp.Regexp, error) {
		list := slices.Clone(all.Regexes)
		for _, a := range t.Allowlists {
			list = append(list, a.Regexes...)
		}
		re, err := regexp.Compile(`^(?:` + strings.Join(list, "|") + `)$`)
		return re, r.broken(err)
	})
	return r
}

// quicker writes an expression so that it finds the same secrets with less work on a text that is made to cost much.
func quicker(expression string) string {
	expression = strings.ReplaceAll(expression, `[\w.-]{0,50}?`, "")
	return counted.ReplaceAllStringFunc(expression, func(times string) string {
		m := counted.FindStringSubmatch(times)
		if most, _ := strconv.Atoi(m[2]); most < 100 {
			return times
		}
		return "{" + m[1] + ",}"
	})
}

var counted = regexp.MustCompile(`\{(\d+),(\d+)\}`)

func (r *rule) broken(err error) error {
	if err != nil {
		return fmt.Errorf("the rule %s for finding secrets cannot be used: %w", r.ID, err)
	}
	return nil
}

// The most bytes before and behind a word that calls for a rule where it is looked for:
// that of a long private key, and that of what has an end.
const (
	farReach  = 16 << 10
	nearReach = 4 << 10
)

// endless is in an expression of what may have no end.
var endless = regexp.MustCompile(`[*+]|,\}`)

func (t ruleText) reach() int {
	if endless.MatchString(t.Regex) {
		return farReach
	}
	return nearReach
}

// errTooMuch is why a text is not looked through to its end.
var errTooMuch = errors.New("too much in it looks like the beginning of a secret")

// maxEffort bounds the work on one text, in bytes that are held against a rule:
// many times what a large file of code takes.
const maxEffort = 256 << 20

// span is a part of a text.
type span struct{ from, to int }

// find gives what has the shape of a secret. Only around a keyword is a text
// held against a rule.
func (s *shapes) find(text []byte) (out []hit, err error) {
	around := s.around(text)
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
func (s *shapes) match(r *rule, text []byte, p span) (out []hit, err error) {
	re, err := r.compile()
	if err != nil {
		return nil, err
	}
	if !re.Match(text[p.from:p.to]) {
		return nil, nil // most have none, and that alone is told much sooner
	}
	for _, m := range re.FindAllSubmatchIndex(text[p.from:p.to], -1) {
		from, to := secretIn(m, r.SecretGroup)
		value := string(text[p.from+from : p.from+to])
		example, err := s.example(r, value)
		if err != nil {
			return nil, err
		}
		if !example {
			out = append(out, hit{Start: p.from + from, End: p.from + to, Name: r.ID})
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
