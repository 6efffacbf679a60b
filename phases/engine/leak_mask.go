package engine

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Mask hides secrets in a text for people.
func (g LeakGuard) Mask(text string) string {
	if g.Secrets == nil {
		return text
	}
	return g.Secrets.Mask(text)
}

// MaskKnown hides the user's values in a text for programs.
func (g LeakGuard) MaskKnown(text string) string {
	if g.Secrets == nil {
		return text
	}
	return g.Secrets.MaskKnown(text)
}

// MaskAnswer hides secrets in the texts of a structured answer, which stays the
// JSON it is. Paths in it stay what they are as long as they name no value.
func (g LeakGuard) MaskAnswer(answer json.RawMessage) json.RawMessage {
	if g.Secrets == nil || answer == nil {
		return answer
	}
	return phases.MaskedAnswer(answer, g.Mask, g.MaskKnown)
}

// MaskFiles makes the files fit to be committed that reprise itself has written. Those
// that are exact may not be changed: where one of them has a value of the user, nothing
// is committed. Other texts are for people, and are masked.
func (g LeakGuard) MaskFiles(files map[string][]byte, exact func(name string) bool) error {
	for name, body := range files {
		text := string(body)
		if !exact(name) {
			files[name] = []byte(g.Mask(text))
			continue
		}
		if clean := g.MaskKnown(text); clean != text {
			at := 0
			for at < min(len(text), len(clean)) && text[at] == clean[at] {
				at++
			}
			line, _, _ := strings.Cut(clean[1+strings.LastIndexByte(clean[:at], '\n'):], "\n")
			return fmt.Errorf("%s: nothing was committed, for the value of a secret would be in %s, in line %d: %s",
				metadata.SecretFound, g.Mask(name), 1+strings.Count(text[:at], "\n"), phases.OneLine(line))
		}
	}
	return nil
}
