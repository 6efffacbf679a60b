package rehearsal

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// spoken is what a rehearsal writes, in one language, by the names in words.json.
type spoken map[string]string

//go:embed words.json
var allWords []byte

// inLanguages are the words of all languages.
var inLanguages = sync.OnceValue(func() (all map[string]spoken) {
	if err := json.Unmarshal(allWords, &all); err != nil {
		panic(err) // it is part of the program
	}
	return all
})

// wordsIn gives the words of a language, or the English ones.
func wordsIn(language string) spoken {
	if words := inLanguages()[language]; words != nil {
		return words
	}
	return inLanguages()["en"]
}

// document is a plausible artifact.
func (w spoken) document(t engine.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n"+w["about"]+"\n", process.OneLine(t.Title, 200), t.Phase, t.Attempt)
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", w["goal"], strings.TrimSpace(t.Goal))
	for _, g := range t.Gates {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", process.OneLine(g, 200), w["gate"])
	}
	if reason := rollbackReason(t.Prompt); reason != "" {
		fmt.Fprintf(&b, "\n## %s\n\n> %s\n", w["reason"], strings.ReplaceAll(reason, "\n", "\n> "))
	}
	if t.Step == metadata.Revise {
		fmt.Fprintf(&b, "\n%s\n\n"+w["fix"]+"\n", w["revised"], theFinding)
	}
	return b.String()
}

// rollbackHead matches the beginning of a prompt that starts with the reason
// of a rollback, up to the reason: a heading, a sentence, and a fence.
var rollbackHead = regexp.MustCompile(`\A\s*# [^\n]*\n\n[^\n]*\n\n<<<(\S+) reason\n`)

// rollbackReason finds the reason of a rollback at the start of a prompt.
func rollbackReason(prompt string) string {
	m := rollbackHead.FindStringSubmatchIndex(prompt)
	if m == nil {
		return ""
	}
	boundary := prompt[m[2]:m[3]]
	reason, _, ok := strings.Cut(prompt[m[1]:], "\n"+boundary+">>>")
	if !ok {
		return ""
	}
	return strings.TrimSpace(reason)
}
