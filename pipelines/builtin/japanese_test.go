package builtin_test

import (
	"slices"
	"testing"
	"unicode"

	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// kana reports whether a text is in Japanese.
func kana(text string) bool {
	return slices.ContainsFunc([]rune(text), func(r rune) bool { return unicode.In(r, unicode.Hiragana, unicode.Katakana) })
}

func TestBuiltinInJapanese(t *testing.T) {
	for _, name := range builtin.Names() {
		p := load(t, name)
		english := p.Phases[0].Goal
		if err := builtin.Speak(p); err != nil || p.Phases[0].Goal != english {
			t.Fatalf("%s in English: %v", name, err)
		}
		p.Language = "ja"
		p.Phases[0].Gates = append(p.Phases[0].Gates, "It is ours")
		if err := builtin.Speak(p); err != nil {
			t.Fatal(err)
		}
		if !kana(p.Description) {
			t.Errorf("%s: description %q", name, p.Description)
		}
		for _, ph := range p.Phases {
			if ph.Title == "" {
				t.Errorf("%s %s has no title", name, ph.Name)
			}
			if !kana(ph.Goal) {
				t.Errorf("%s %s: goal %q", name, ph.Name, ph.Goal)
			}
			for _, g := range ph.Gates {
				if kana(g) == (g == "It is ours") {
					t.Errorf("%s %s: gate %q", name, ph.Name, g)
				}
			}
		}
	}
}

// Words of a repository are its own, whatever phase they stand in.
func TestOwnWordsAreLeftAlone(t *testing.T) {
	p := load(t, "fix")
	p.Language, p.Description = "ja", "Ours."
	p.Phases[0].Goal += " And more."
	want := p.Phases[0].Goal
	if err := builtin.Speak(p); err != nil || p.Phases[0].Goal != want || p.Description != "Ours." || !kana(p.Phases[1].Goal) {
		t.Errorf("%v: %q, %q, %q", err, p.Description, p.Phases[0].Goal, p.Phases[1].Goal)
	}
	if p.Phases[0].Title != "" || p.Phases[1].Title != "修正の実装" {
		t.Errorf("titles %q and %q", p.Phases[0].Title, p.Phases[1].Title)
	}
}
