package sandbox

// Network is what a call may reach of the network when that is not all of it:
// the gate of the call, a proxy on loopback that decides about the rest.
type Network struct {
	Port   uint16 // of the gate; 0: there is none, and nothing is reached
	Listen bool   // servers of its own on loopback, where it has a network of its own
}

// closed is the policy of a network that is not open. With namespaces, a call has a network of its own with a listener
// that leads to the gate; else Landlock allows connections by port alone, and a filter refuses what is not TCP.
type closed struct {
	Network
	Own bool `json:",omitempty"` // it has a network of its own
}
