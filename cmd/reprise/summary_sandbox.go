package main

import (
	"os"

	"github.com/reprise-ci/reprise/agents"
)

// boxed is what the programs of a run were kept in. The zero value stands for a
// run that has started none.
type boxed struct {
	Known bool
	Held  *agents.Held // nil: they were kept in nothing
	Root  bool         // reprise had the rights of root
}

// boxedBy says what opts keep programs in.
func boxedBy(opts agents.Options) boxed {
	b := boxed{Known: true, Root: os.Geteuid() == 0}
	if held, ok := opts.Held(); ok {
		b.Held = &held
	}
	return b
}

// sandbox says which sandbox was asked for, which one there was, and what that
// held and what not.
func (c commenter) sandbox(asked string, b boxed) string {
	words, head := c.Tell.Holding, inline(asked, 200)
	switch {
	case head == "" || !b.Known:
		return named(c.Tell.Sandbox, head)
	case b.Held == nil:
		return named(c.Tell.Sandbox, joined(" · ", head, words.None))
	}
	h := b.Held
	holds, not := []string{words.Files, words.Programs}, []string{words.Network, words.Owners, words.Memory}
	for _, g := range []struct {
		what string
		held bool
	}{{words.Signals, h.Signals}, {words.Sockets, h.Sockets}, {words.Processes, h.Open == ""}} {
		if g.held {
			holds = append(holds, g.what)
		} else {
			not = append(not, g.what)
		}
	}
	holds = append(holds, words.Limits(agents.Size(h.Limits.File), agents.Size(h.Limits.Disk)))
	if b.Root {
		not = append(not, words.Root)
	}
	return joined("\n",
		named(c.Tell.Sandbox, joined(" · ", head, words.InForce))+"\n",
		"- "+words.Holds+": "+joined("; ", holds...),
		"- "+words.Not+": "+joined("; ", not...))
}
