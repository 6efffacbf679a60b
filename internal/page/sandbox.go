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
	holding, head := words.Sandbox, clean.Inline(asked, 200)
	switch {
	case head == "" || !b.Known:
		return clean.Named(words.Tell.Sandbox, head)
	case b.Held == nil:
		return clean.Named(words.Tell.Sandbox, text.Join(" · ", head, holding.None))
	}
	h := b.Held
	holds, not := []string{holding.Files, holding.Programs}, []string{holding.Owners, holding.Memory}
	if network := networkText(holding, h); h.Closed && h.Network == sandbox.OwnNetwork {
		holds = append(holds, network)
	} else {
		not = slices.Insert(not, 0, network)
	}
	for _, g := range []struct {
		what string
		held bool
	}{{holding.Signals, h.Signals}, {holding.Sockets, h.Sockets}, {holding.Processes, h.Open == ""}} {
		if g.held {
			holds = append(holds, g.what)
		} else {
			not = append(not, g.what)
		}
	}
	switch h.Together {
	case sandbox.Namespaces:
		holds = append(holds, holding.Namespaces)
	case sandbox.ControlGroup:
		holds = append(holds, holding.Group)
	default:
		not = append(not, holding.Marks)
	}
	holds = append(holds, holding.Limits(sandbox.Size(h.Limits.File), sandbox.Size(h.Limits.Disk)))
	if b.Root {
		not = append(not, holding.Root)
	}
	return text.Join("\n",
		clean.Named(words.Tell.Sandbox, text.Join(" · ", head, holding.InForce))+"\n",
		"- "+holding.Holds+": "+text.Join("; ", holds...),
		"- "+holding.Not+": "+text.Join("; ", not...))
}

// networkText says what of the network is held, or not.
func networkText(words prompts.SandboxWords, h *sandbox.Held) string {
	switch {
	case !h.Closed:
		return words.Network
	case h.Network == sandbox.OwnNetwork:
		return words.NetworkOwn
	case h.Network == sandbox.PortAlone:
		return words.NetworkPort
	}
	return words.NetworkNone
}
