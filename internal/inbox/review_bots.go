package inbox

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// MostByBots is how many commands by programs are obeyed one after the other: two
// programs could go on for ever.
const MostReviewsByBots = 2

// TooManyBots reports whether a program gives a command, in a review or a comment, and the newest
// commands of the run came from programs, too.
func TooManyBots(run metadata.Run, by string) bool {
	bot := func(who string) bool { return strings.HasSuffix(who, "[bot]") }
	n := 0
	for _, d := range slices.Backward(run.Decisions) {
		if d.By != "" && !bot(d.By) {
			break
		}
		if bot(d.By) {
			n++
		}
	}
	return bot(by) && n >= MostReviewsByBots
}

// WhyNoMoreBots is why a command of a program is refused then.
func WhyNoMoreBots() metadata.Reason {
	return metadata.Because("bots_in_a_row", "n", MostReviewsByBots)
}
