package sandbox

// Bond says by what all processes of a call end when it does, whatever they do
// to hide, and after reprise was killed.
type Bond string

// The kinds of it, from the one that holds most.
const (
	Namespaces   Bond = "namespaces"    // at once, and so do its shared memory and queues
	ControlGroup Bond = "control group" // at once; after reprise was killed, when it starts again
	Marks        Bond = "marks"         // as far as they can be told: by their environment, session and parents
)

// NetworkBond says what keeps calls from what they may not reach of the network.
type NetworkBond string

// The kinds of it, from the one that holds most.
const (
	OwnNetwork NetworkBond = "own network" // a network in which there is nothing else
	PortAlone  NetworkBond = "port"        // of a server; any machine may have one there
	NoBond     NetworkBond = ""            // nothing
)

// word says what separation is for Held.
func (s separation) word() Bond {
	switch {
	case s.namespaced:
		return Namespaces
	case s.group:
		return ControlGroup
	}
	return Marks
}

// separation says how the processes of a call are kept together.
type separation struct {
	namespaced bool   // in namespaces of their own, which end with the call
	why        string // they are not
	group      bool   // in a control group instead

	network bool   // calls can have a network of their own
	noNet   string // why they cannot
}
