package main

import (
	"fmt"

	"github.com/reprise-ci/reprise/prompts"
)

// extraWords are words of the comment that only it needs, besides the
// catalogue of package prompts.
type extraWords struct {
	Suggestions string // heading of what passing reviews suggest
	Gate        string // before the text of a gate that does not hold
	CutOff      string // at the end of a comment that is too long
	more        string // in place of what there is no room for
}

func moreWords(language string) extraWords {
	if prompts.Words(language).Language == "ja" {
		return extraWords{
			Suggestions: "残してある提案", Gate: "満たしていない条件",
			CutOff: "_コメントの上限を超えるため、ここまでを表示しています。_",
			more:   "_コメントに収まらないため、ほか %d 件を省きました。すべてはブランチにあります。_",
		}
	}
	return extraWords{
		Suggestions: "Suggestions kept", Gate: "gate does not hold",
		CutOff: "_The rest is left out: a comment has no room for it._",
		more:   "_%d more are left out, as a comment has no room for them. All are on the branch._",
	}
}

func (w extraWords) left(n int) string { return fmt.Sprintf(w.more, n) }
