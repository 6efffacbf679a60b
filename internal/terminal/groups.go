package terminal

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases/engine"
)

// GroupedView is a plain view whose lines the page of a job can fold. What
// stands below a result is a group whose title is that result; so is what an
// agent does, where that is printed, while it does it.
type GroupedView struct {
	PlainView
	Group func(title string) // begins one, and ends the one before; "" only ends it
	open  bool
}

// Report prints what there is to tell about e.
func (v *GroupedView) Report(e engine.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for n := range v.printed(e) {
		lines := plainLines(n, columnsOf(v.O.Plan), v.P.Palette, v.O.Verbose)
		if n.Event == "activity" {
			if !v.open {
				v.Group(text.Flat(text.Join(" ", n.Phase, n.Step, n.Agent)))
				v.open = true
			}
			v.print(lines)
			continue
		}
		if v.open {
			v.Group("")
			v.open = false
		}
		if len(lines) == 1 {
			v.print(lines)
			continue
		}
		title, below := lines[0], lines[1:]
		if n.Because != "" { // the words of others are no part of a workflow command
			n.Because, below = "", lines
			title = plainLines(n, columnsOf(v.O.Plan), v.P.Palette, false)[0]
		}
		v.Group(strings.TrimSpace(title))
		v.print(below)
		v.Group("")
	}
}
