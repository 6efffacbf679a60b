package prompts

// SandboxWords are what reprise says of the sandbox around agents.
type SandboxWords struct {
	InForce, None string // in a few words

	Holds, Not string // heads of two lists

	Files, Programs, Signals, Sockets, Processes string // what it may hold
	Namespaces, Group, Marks                     string // processes that stay after their call: kept from that by one of the first two, or not
	Owners, Memory                               string // what none holds
	Network                                      string // what is open because the pipeline leaves it so
	NetworkOwn, NetworkPort, NetworkNone         string // where it does not: what keeps it closed, or does so in part, or that nothing does
	Root                                         string // what it holds less of for root

	Forms struct{ Limits string }
}

// Limits says how much a call may use up: the most for a file and for all that
// it writes, with their units.
func (s SandboxWords) Limits(file, disk string) string {
	return fill(s.Forms.Limits, "file", file, "disk", disk)
}
