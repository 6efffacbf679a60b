package sandbox

import "os"

// Held says what the sandbox holds on this machine.
type Held struct {
	Landlock int         // the version of Landlock
	Signals  bool        // no signals to processes outside
	Sockets  bool        // no services that listen on a socket file
	Own      bool        // programs may have socket files of their own
	Opened   bool        // only Sandbox.Sockets is why Sockets does not hold
	Open     string      // why the number of processes has no limit; "" if it has
	Together Bond        // what ends all processes of a call
	Apart    string      // why that is not Namespaces; "" if it is
	Closed   bool        // some calls may not reach all of the network
	Network  NetworkBond // what keeps them from the rest
	NoNet    string      // why that is not OwnNetwork; "" if it is
	Limits   Limits      // those in force
}

// Held says what the sandbox holds. To find out, it may make a control group and
// remove it.
func (s *Sandbox) Held() Held { return heldHere(*s) }

// Apart reports whether a call with a closed network has one of its own. A nil
// sandbox gives none.
func (s *Sandbox) Apart() bool { return s != nil && s.together.network }

// Confinement says what a sandbox keeps programs in; a nil one keeps them in nothing.
type Confinement struct {
	Known bool
	Held  *Held // nil: they were kept in nothing
	Root  bool  // reprise had the rights of root
}

// Confinement says what a sandbox keeps programs in; a nil one keeps them in nothing.
func (s *Sandbox) Confinement() Confinement {
	c := Confinement{Known: true, Root: os.Geteuid() == 0}
	if s != nil {
		held := s.Held()
		c.Held = &held
	}
	return c
}

// Lacks lists what this machine does not hold though others do, each as a sentence without its end.
func (h Held) Lacks() (out []string) {
	if !h.Signals {
		out = append(out, "signals to other processes are not kept back (Linux 6.12 does that)")
	}
	if !h.Sockets {
		lack := "services that listen on a socket file, such as Docker's, can be reached"
		if h.Opened {
			lack += ", as the pipeline says `sandbox: sockets: true`"
		}
		out = append(out, lack)
	}
	if h.Open != "" {
		out = append(out, "the number of processes has no limit: "+h.Open)
	}
	if h.Closed {
		switch h.Network {
		case PortAlone:
			out = append(out, "where the pipeline closes the network, programs still reach any server that has the port of the call's proxy, and can start none themselves, because a call has no network of its own ("+h.NoNet+")")
		case NoBond:
			out = append(out, "where the pipeline closes the network, programs still reach all of it by TCP (Linux 6.7 or newer prevents that), because a call has no network of its own ("+h.NoNet+")")
		}
	}
	switch h.Together {
	case ControlGroup:
		out = append(out, "files in /dev/shm stay after a call, which has no namespaces of its own ("+h.Apart+")")
	case Marks:
		out = append(out, "processes that hide may outlive reprise when it is killed, and files in /dev/shm stay after a call, which has no namespaces of its own ("+h.Apart+")")
	}
	return out
}
