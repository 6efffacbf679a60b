// Package sandbox holds programs that somebody else wrote: it says what of the
// machine one may reach and use up, whatever it is told and whoever it runs as. A
// helper process puts the limits on itself and then becomes the program; Landlock,
// filters of system calls, namespaces and control groups keep them.
package sandbox

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
)

// Containment says how much depends on the sandbox.
type Containment string

// The words for it.
const (
	Required    Containment = "required"    // nothing starts without it
	BestEffort  Containment = "best-effort" // where the system has it
	uncontained Containment = "off"         // not even there
)

// Containments are the words for it, the strictest first.
func Containments() []string {
	return []string{string(Required), string(BestEffort), string(uncontained)}
}

// Check refuses a word that is none of them.
func (c Containment) Check() error {
	if !slices.Contains(Containments(), string(c)) {
		return fmt.Errorf("sandbox: %q is not one of %s", c, strings.Join(Containments(), ", "))
	}
	return nil
}

// Sandbox limits what programs can reach, whatever they are told and whoever
// they run as. A program in it
//
//   - writes only below its work tree (access "tree"), in a copy of it ("run"), below the folder of its
//     artifact (access "artifacts") or nowhere in the tree ("read" and "none"),
//     and into its own home and temporary folder;
//   - reads only the system, installed programs, the work tree and git's
//     objects: nothing of the user's home, of the user's checkout, or of other
//     temporary folders;
//   - signals and traces only its own kind, and sees only processes of its own
//     call, which all end with it, where the system has namespaces for it;
//   - reaches no service that listens on a socket file, unless Sockets;
//   - uses up no more than Limits allow.
//
// Held says what of this the machine has.
//
// Its home is not the user's. It is made for one program and one access level
// of a run, and kept between calls for sessions, and for caches of those that write; the program's login
// and settings are copied in before a call, and a renewed login is copied back
// after it. So whatever a program leaves there, no program with other rights,
// and none of the user's, comes across it. Checks have a home without logins.
//
// The network is open but for calls that have a Network.
type Sandbox struct {
	// Helper is a command that calls Enter with the arguments after its own.
	Helper []string
	// State is the folder for the homes, made if missing. It must lie outside
	// of all work trees.
	State string
	// Checks, if not empty, is the folder for the home of checks, in place of State. No two sandboxes may have one at once.
	Checks string
	// Base, if not empty, is the State of another sandbox, whose clean home of checks is the one of this, too.
	Base string
	// Objects are the folders of git objects that the work tree's .git borrows.
	// Those that they borrow from are found.
	Objects []string
	// Limits are what a call may use up; the zero value stands for the usual.
	Limits Limits
	// Sockets leaves programs the sockets that have files, on a system that
	// cannot tell theirs from those of others. They reach both then. Where
	// Landlock can tell, it changes nothing.
	Sockets bool
	// Closed says that some calls may not reach all of the network, and Asked that the pipeline itself says so, and not
	// a default. With Asked, a system that cannot hold it has no sandbox where it is Required.
	Closed, Asked bool

	hidden   []string // what is not read even where it lies in the system
	together separation
	homes    *homesInUse
}

// Prepare makes a sandbox ready for programs whose environment is taken from environ. Where there is none, BestEffort
// gives nil and a sentence for the user, and Required an error. The helper is started once, to see what can be had
// here; Held says it.
func (s Sandbox) Prepare(how Containment, environ []string) (*Sandbox, string, error) {
	return s.prepare(how, environ, landlocked())
}

// prepare is Prepare for a system that has no sandbox because of missing; nil
// says that it has one.
func (s Sandbox) prepare(how Containment, environ []string, missing error) (*Sandbox, string, error) {
	if err := how.Check(); err != nil {
		return nil, "", err
	}
	switch {
	case how == uncontained:
		return nil, "", nil
	case missing != nil && how == Required:
		return nil, "", fmt.Errorf("the sandbox is required, but %w: use Linux 5.13 or newer with Landlock, or do without (%s or %s)", missing, BestEffort, uncontained)
	case missing != nil:
		return nil, fmt.Sprintf("there is no sandbox: %v; agents and checks can reach all that you can", missing), nil
	}
	s.Limits = s.Limits.withDefaults()
	s.homes = &homesInUse{calls: map[string]int{}}
	s.hidden, s.together = hidden(environ, s.Objects), separate(s.Helper, s.Limits)
	if held := s.held(); how == Required && s.Asked && held.Network == noBond {
		return nil, "", fmt.Errorf("the sandbox is required, and %s: change that, use another machine, or say `network: \"open\"` in the pipeline", held.netOpen())
	}
	return &s, "", nil
}

// Beside gives the same sandbox with other homes, in other folders for State and Checks, for programs that work in another
// tree at the same time.
func (s *Sandbox) Beside(state, checks string) *Sandbox {
	beside := *s
	beside.State, beside.Checks, beside.homes = state, checks, &homesInUse{calls: map[string]int{}}
	return &beside
}

// Limits are what the sandbox allows one call to use up. 0 stands for the
// usual.
type Limits struct {
	// File is the most that one file may have, in bytes; usually 1 GB.
	File uint64
	// Disk is the most that a call may write into its tree, its home and its
	// temporary folder together, in bytes; usually 4 GB. It is looked at
	// every second, or for a twentieth of the time where that takes longer.
	Disk uint64
	// Spare is what a call must leave free on the disk, in bytes; usually
	// 200 MB.
	Spare uint64
	// Processes is the most that a call may have at once, threads counted;
	// usually 4096. Root is held to it by a control group. Others are held to
	// it in a user namespace, and without one to so many more than the machine
	// has when the call begins.
	Processes uint64
}

func (l Limits) withDefaults() Limits {
	return Limits{
		File: cmp.Or(l.File, 1e9), Disk: cmp.Or(l.Disk, 4e9),
		Spare: cmp.Or(l.Spare, 200e6), Processes: cmp.Or(l.Processes, 4096),
	}
}

// Size writes bytes for people: "4 GB", "500 MB", "12 kB".
func Size(n uint64) string {
	switch {
	case n >= 1e9:
		return fmt.Sprintf("%.3g GB", float64(n)/1e9)
	case n >= 1e6:
		return fmt.Sprintf("%d MB", n/1e6)
	}
	return fmt.Sprintf("%d kB", n/1e3)
}

// String lists the limits for people.
func (l Limits) String() string {
	return fmt.Sprintf("a file %s, a call %s of disk, %d processes", Size(l.File), Size(l.Disk), l.Processes)
}

// Network is what a call may reach of the network when that is not all of it:
// the gate of the call, a proxy on loopback that decides about the rest.
type Network struct {
	Port   uint16 // of the gate; 0: there is none, and nothing is reached
	Listen bool   // servers of its own on loopback, where it has a network of its own
}

// closed is the policy of a network that is not open. With namespaces, a call has a network of its own with a listener
// that leads to the gate; else reprise gives it its sockets, which are connected to the gate, and a filter refuses others.
type closed struct {
	Network
	Own bool `json:",omitempty"` // it has a network of its own
}

// Held says what the sandbox holds on this machine.
type Held struct {
	Landlock int         // the version of Landlock
	Signals  bool        // no signals to processes outside
	Sockets  bool        // no services that listen on a socket file; only Sandbox.Sockets is why not
	Own      bool        // programs may have socket files of their own
	Open     string      // why the number of processes has no limit; "" if it has
	Together Bond        // what ends all processes of a call
	Apart    string      // why that is not Namespaces; "" if it is
	Closed   bool        // some calls may not reach all of the network
	Network  networkBond // what keeps them from the rest
	NoNet    string      // why that is not OwnNetwork; "" if it is
	NoGate   string      // why it is not even GateAlone; "" if it could be
	Limits   Limits      // those in force
}

// held says what the sandbox holds. To find out, it may make a control group and
// remove it.
func (s *Sandbox) held() Held { return heldHere(*s) }

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
		held := s.held()
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
		out = append(out, "services that listen on a socket file, such as Docker's, can be reached, as the pipeline says `sandbox: sockets: true`")
	}
	if h.Open != "" {
		out = append(out, "the number of processes has no limit: "+h.Open)
	}
	if h.Closed {
		switch h.Network {
		case GateAlone:
			out = append(out, "where the pipeline closes the network, programs can start no servers themselves, because a call has no network of its own ("+h.NoNet+")")
		case noBond:
			out = append(out, h.netOpen())
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

// Bond says by what all processes of a call end when it does, whatever they do
// to hide, and after reprise was killed.
type Bond string

// The kinds of it, from the one that holds most.
const (
	Namespaces   Bond = "namespaces"    // at once, and so do its shared memory and queues
	ControlGroup Bond = "control group" // at once; after reprise was killed, when it starts again
	Marks        Bond = "marks"         // as far as they can be told: by their environment, session and parents
)

// networkBond says what keeps calls from what they may not reach of the network.
type networkBond string

// The kinds of it, from the one that holds most.
const (
	OwnNetwork networkBond = "own network" // a network in which there is nothing else
	GateAlone  networkBond = "gate"        // every socket leads there; there are no servers
	noBond     networkBond = ""            // nothing
)

// netOpen says that a closed network is not, and why.
func (h Held) netOpen() string {
	return "where the pipeline closes the network, programs still reach all of it, because " + h.NoGate
}

// holder says what keeps the network of a call closed, and why not even GateAlone does.
func (s Sandbox) holder(socketsBound bool) (bond networkBond, noGate string) {
	switch t := s.together; {
	case s.Sockets && !socketsBound:
		return noBond, "services with a socket file lead there, which they may ask, as the pipeline says `sandbox: sockets: true`"
	case t.network:
		return OwnNetwork, ""
	case t.noGate != "":
		return noBond, fmt.Sprintf("a call has no network of its own (%s), and cannot be given its sockets (%s)", t.noNet, t.noGate)
	}
	return GateAlone, ""
}

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
	noGate  string // and why their sockets cannot be given to them either; "" if they can, or need not
}
