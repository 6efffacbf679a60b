package page

import (
	"slices"

	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// sandboxText says which sandbox was asked for, which one there was, and what that
// held and what not.
func sandboxText(words prompts.Catalogue, asked string, b sandbox.Confinement) string {
	head := clean.Inline(asked, 200)
	switch {
	case head == "" || !b.Known:
		return clean.Named(words.Say("tell.sandbox"), head)
	case b.Held == nil:
		return clean.Named(words.Say("tell.sandbox"), text.Join(" · ", head, words.Say("sandbox.none")))
	}
	h := b.Held
	holds, not := []string{words.Say("sandbox.files"), words.Say("sandbox.programs")}, []string{words.Say("sandbox.owners"), words.Say("sandbox.memory")}
	if network := networkText(words, h); h.Closed && h.Network == sandbox.OwnNetwork {
		holds = append(holds, network)
	} else {
		not = slices.Insert(not, 0, network)
	}
	for _, g := range []struct {
		what string
		held bool
	}{{words.Say("sandbox.signals"), h.Signals}, {words.Say("sandbox.sockets"), h.Sockets}, {words.Say("sandbox.processes"), h.Open == ""}} {
		if g.held {
			holds = append(holds, g.what)
		} else {
			not = append(not, g.what)
		}
	}
	switch h.Together {
	case sandbox.Namespaces:
		holds = append(holds, words.Say("sandbox.namespaces"))
	case sandbox.ControlGroup:
		holds = append(holds, words.Say("sandbox.group"))
	default:
		not = append(not, words.Say("sandbox.marks"))
	}
	holds = append(holds, words.Say("sandbox.limits", "file", sandbox.Size(h.Limits.File), "disk", sandbox.Size(h.Limits.Disk)))
	if b.Root {
		not = append(not, words.Say("sandbox.root"))
	}
	return text.Join("\n",
		clean.Named(words.Say("tell.sandbox"), text.Join(" · ", head, words.Say("sandbox.inForce")))+"\n",
		"- "+words.Say("sandbox.holds")+": "+text.Join("; ", holds...),
		"- "+words.Say("sandbox.not")+": "+text.Join("; ", not...))
}

// networkText says what of the network is held, or not.
func networkText(words prompts.Catalogue, h *sandbox.Held) string {
	switch {
	case !h.Closed:
		return words.Say("sandbox.network")
	case h.Network == sandbox.OwnNetwork:
		return words.Say("sandbox.networkOwn")
	case h.Network == sandbox.PortAlone:
		return words.Say("sandbox.networkPort")
	}
	return words.Say("sandbox.networkNone")
}
