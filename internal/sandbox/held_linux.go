package sandbox

import (
	"os"
)

// heldHere says what holds on this machine.
func heldHere(s Sandbox) Held {
	v, _ := landlockABI() // without Landlock there is no sandbox to ask about
	filter := v < socketABI && filtersCalls()
	h := Held{
		Landlock: v, Signals: v >= 6 || s.together.namespaced, Sockets: v >= socketABI || filter && !s.Sockets,
		Own: !filter || s.Sockets, Opened: filter && s.Sockets, Limits: s.Limits.withDefaults(),
		Together: s.together.word(), Apart: s.together.why,
		Closed: s.Closed || s.Lists, Network: s.together.holder(v), NoNet: s.together.noNet,
	}
	if os.Geteuid() == 0 {
		group, err := MakeGroup(h.Limits.Processes, "trial")
		if err != nil {
			h.Open = err.Error()
		}
		group.Remove()
	}
	return h
}
