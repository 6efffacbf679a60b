package prompts

import (
	"regexp"
	"testing"
	"unicode"

	"github.com/reprise-ci/reprise/metadata"
)

// foreign returns a part of text that is in another language, or "": any
// Japanese in English, and four English words in a row in Japanese. Code in
// backticks, code blocks, the shape of the verdict and placeholders are in no
// language.
func foreign(language, text string) string {
	text = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|\\{\\{.*?\\}\\}|\\{\"verdict\".*?\\]\\}").ReplaceAllString(text, "、")
	if language == "ja" {
		return regexp.MustCompile(`[A-Za-z']+([ ,;:.]+[A-Za-z']+){3,}`).FindString(text)
	}
	for i, r := range text {
		if unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana) || r >= 0xff00 && r <= 0xffef {
			return text[i:]
		}
	}
	return ""
}

func TestTemplatesAreInTheirLanguage(t *testing.T) {
	for _, language := range metadata.Languages() {
		for name, text := range mustLoad(t, language).Files() {
			if f := foreign(language, text); f != "" {
				t.Errorf("%s/%s: %q", language, name, f)
			}
		}
	}
}

// The prompts, too: what is put together must not mix what was apart.
func TestPromptsAreInTheirLanguage(t *testing.T) {
	for _, language := range metadata.Languages() {
		set := mustLoad(t, language)
		for _, d := range tenPhases() {
			if language == "ja" {
				d.Goal, d.Gates = "作る。", []string{"動く"}
			}
			text, err := set.Render(d.Step, d)
			if err != nil {
				t.Fatal(err)
			}
			if f := foreign(language, text); f != "" {
				t.Errorf("%s %s %s: %q", language, d.Phase, d.Step, f)
			}
		}
	}
}

// Both languages have the same templates, made of the same actions.
func TestTemplatesSayTheSame(t *testing.T) {
	action := regexp.MustCompile(`\{\{.*?\}\}`)
	fields := regexp.MustCompile(`\.[A-Z]\w*`)
	used := func(text string) map[string]bool {
		set := map[string]bool{}
		for _, a := range action.FindAllString(text, -1) {
			for _, f := range fields.FindAllString(a, -1) {
				set[f] = true
			}
		}
		return set
	}
	en, ja := mustLoad(t, "en").Files(), mustLoad(t, "ja").Files()
	for name, text := range en {
		other, ok := ja[name]
		if !ok {
			t.Errorf("%s: not in ja", name)
		}
		a, b := used(text), used(other)
		for f := range a {
			if !b[f] {
				t.Errorf("%s: ja does not use %s", name, f)
			}
		}
		for f := range b {
			if !a[f] {
				t.Errorf("%s: en does not use %s", name, f)
			}
		}
	}
	if len(en) != len(ja) {
		t.Errorf("en has %d templates, ja %d", len(en), len(ja))
	}
}
