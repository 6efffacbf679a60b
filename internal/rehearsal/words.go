package rehearsal

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// spoken is what a rehearsal writes, in one language.
type spoken struct {
	about, goal, gate    string // of the artifact
	reason, revised, fix string
	wrote, reviewed      string // its last words
	holds, missing       string // of a review
	title                string
	impact, solution     string
	sound, fails         string // of a diagnosis
}

func wordsIn(language string) spoken {
	if language == "ja" {
		return spoken{
			about:    "フェーズ %s のリハーサルです。モデルは使っていません(試行 %d)。",
			goal:     "目的",
			gate:     "リハーサルでは、この条件は満たされているものとします。",
			reason:   "差し戻しの理由",
			revised:  "## 改訂",
			fix:      "指摘 %s に対応しました。",
			wrote:    "リハーサル: フェーズ %s を書きました。",
			reviewed: "リハーサル: フェーズ %s の判定は %s です。",
			holds:    "リハーサルのため、満たされているものとします。",
			missing:  "成果物に「改訂」の節がありません。",
			title:    "改訂がまだ示されていない",
			impact:   "リハーサルの最初のレビューは一度だけ不合格になり、改訂の流れを示します。",
			solution: "「改訂」の節を加える。",
			sound:    "記録には未解決のものがありません。",
			fails:    "フェーズ %s のチェック %s が失敗しています。",
		}
	}
	return spoken{
		about:    "A rehearsal of the phase %s, without a model (attempt %d).",
		goal:     "Goal",
		gate:     "In a rehearsal this gate is taken to hold.",
		reason:   "Reason of the rollback",
		revised:  "## Revised",
		fix:      "Finding %s is dealt with.",
		wrote:    "Rehearsal: wrote %s.",
		reviewed: "Rehearsal: reviewed %s, verdict %s.",
		holds:    "Taken to hold, as this is a rehearsal.",
		missing:  `The artifact has no section "Revised".`,
		title:    "No revision is shown yet",
		impact:   "The first review of a rehearsal fails once, to show how work is revised.",
		solution: `Add a section "Revised".`,
		sound:    "The record holds nothing against the work.",
		fails:    "The check %[2]s of %[1]s fails.",
	}
}

// document is a plausible artifact.
func (w spoken) document(t engine.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n"+w.about+"\n", process.OneLine(t.Title, 200), t.Phase, t.Attempt)
	fmt.Fprintf(&b, "\n## %s\n\n%s\n", w.goal, strings.TrimSpace(t.Goal))
	for _, g := range t.Gates {
		fmt.Fprintf(&b, "\n## %s\n\n%s\n", process.OneLine(g, 200), w.gate)
	}
	if reason := rollbackReason(t.Prompt); reason != "" {
		fmt.Fprintf(&b, "\n## %s\n\n> %s\n", w.reason, strings.ReplaceAll(reason, "\n", "\n> "))
	}
	if t.Step == metadata.Revise {
		fmt.Fprintf(&b, "\n%s\n\n"+w.fix+"\n", w.revised, theFinding)
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
