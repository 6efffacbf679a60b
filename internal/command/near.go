package command

import "github.com/reprise-ci/reprise/internal/text"

// Nearest gives the name within two edits of what was typed, or "". A name
// of few letters is soon near to any short word: up to five, one edit counts.
func Nearest(typed string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := text.Edits(fold(typed), name); d < least && d <= len(name)/3 {
			best, least = name, d
		}
	}
	return best
}
