package main

import (
	"strings"

	"github.com/reprise-ci/reprise/phases"
)

// groupedView is a plain view whose lines the page of a job can fold. What
// stands below a result is a group whose title is that result; so is what an
// agent does, where that is printed, while it does it.
type groupedView struct {
	plainView
	group func(title string) // begins one, and ends the one before; "" only ends it
	open  bool
}

// Report prints what there is to tell about e.
func (v *groupedView) Report(e phases.Event) {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, n := range newsOf(v.o.Plan, e) {
		if n.Event == "activity" && (!v.o.Verbose || n.Activity == "") {
			continue
		}
		lines := plainLines(n, columnsOf(v.o.Plan), v.p.palette, v.o.Verbose)
		if n.Event == "activity" {
			if !v.open {
				v.group(flat(joined(" ", n.Phase, n.Step, n.Agent)))
				v.open = true
			}
			v.print(lines)
			continue
		}
		if v.open {
			v.group("")
			v.open = false
		}
		if len(lines) == 1 {
			v.print(lines)
			continue
		}
		title, below := lines[0], lines[1:]
		if n.Because != "" { // the words of others are no part of a workflow command
			n.Because, below = "", lines
			title = plainLines(n, columnsOf(v.o.Plan), v.p.palette, false)[0]
		}
		v.group(strings.TrimSpace(title))
		v.print(below)
		v.group("")
	}
}

func (v *groupedView) print(lines []string) {
	for _, l := range lines {
		v.p.line("%s", l)
	}
}
