package inbox

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// passed reports whether a comment was given during the run and never decided upon: it had
// to wait when a newer one was taken. Its own job takes it.
func passed(run metadata.Run, c github.Comment) bool {
	return !c.CreatedAt.Before(run.CreatedAt.Truncate(time.Second)) && // the forge tells no parts of a second
		!slices.ContainsFunc(run.Decisions, func(d metadata.Decision) bool { return d.Comment == c.ID })
}

// mostPassed is how many commands PassedOver gives: whether their authors have the right is
// looked up one by one, and anybody may write two hundred.
const mostPassed = 20

// PassedOver gives commands that had to wait when a newer one was taken, and that no job of
// their own has taken since: GitHub drops jobs that wait. They are not carried out any
// more, because whether their authors had the right when they wrote them is not known;
// who has it now can be told to give them again. Those that we have signed, as the gate does
// where it finds the right, come first, then the newest.
func (i *Inbox) PassedOver(run metadata.Run) []Waiting {
	i.mu.Lock()
	defer i.mu.Unlock()
	var out []Waiting
	for _, c := range i.list {
		mine := i.from.Trigger.Comment != nil && c.ID == i.from.Trigger.Comment.ID
		refused := i.signs.on(c).refused()
		if mine || refused || c.Edited() || !i.Overdue(c) || !i.taken(run, c.ID) || !passed(run, c) ||
			i.done[c.ID] || i.answered[c.ID] || strings.Contains(c.Body, OurMarker) || i.foreign(c) {
			continue
		}
		if asked := i.parse(c); asked.Outcome == command.Understood && !asked.Command.Now() {
			out = append(out, Waiting{Comment: c, Parsed: asked, Signs: i.signs.on(c), OnPull: i.onPull[c.ID]})
		}
	}
	slices.SortFunc(out, func(a, b Waiting) int {
		if a.Signs.Eyes && !b.Signs.Eyes {
			return -1
		}
		if b.Signs.Eyes && !a.Signs.Eyes {
			return 1
		}
		return cmp.Compare(b.Comment.ID, a.Comment.ID)
	})
	return out[:min(len(out), mostPassed)]
}
