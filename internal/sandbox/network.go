package sandbox

// Network is what a call may reach of the network when that is not all of it:
// the gate of the call, a proxy on loopback that decides about the rest.
type Network struct {
	Port   uint16 // of the gate; 0: there is none, and nothing is reached
	Listen bool   // servers of its own on loopback, where it has a network of its own
}

// closed is the part of the policy about a network that is not open.
//
// Where a call can have namespaces, it has a network of its own, in which there
// is only loopback: no address outside can be named there. A listener in it leads
// to the gate. Elsewhere Landlock allows connections by port alone, to whichever
// address, and a filter of system calls refuses what is not TCP.
type closed struct {
	Network
	Own bool `json:",omitempty"` // it has a network of its own
}
