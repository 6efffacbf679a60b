package page

import (
	"fmt"
	"slices"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Replies are Markdown for a comment of at most markdown.MaxComment characters. Each
// begins with the marker line that the caller finds it by. Text from outside
// is escaped in them.

// StatusReply says in short where a run is, with a link to the live comment,
// which says the rest.
func StatusReply(marker string, plan *pipelines.Pipeline, run metadata.Run, t Notices, live string) string {
	w := newWriter(plan, run, t)
	done := fmt.Sprintf("%d / %d", w.Done, w.All)
	return w.reply(marker, []string{
		"**" + w.headline() + "**", text.Join(" · ", clean.Named(w.Say("progress"), done), w.facts()), w.warnings(), advice{w}.text(),
		text.Join(" · ", clean.Link(w.Say("progress"), live), w.linked()),
	})
}

// RefusalReply says why commands are not carried out, and how to change that.
// The same that was given several times is told once.
func RefusalReply(marker, language string, all ...Denial) string {
	w := speaker(language)
	var blocks []string
	for _, d := range all {
		block := refusal{w}.text(d)
		if !slices.Contains(blocks, block) {
			blocks = append(blocks, block)
		}
	}
	return w.reply(marker, blocks)
}
