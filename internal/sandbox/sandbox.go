package sandbox

import (
	"fmt"
	"slices"
	"strings"
)

// Containment says how much depends on the sandbox.
type Containment string

// The words for it.
const (
	Required    Containment = "required"    // nothing starts without it
	BestEffort  Containment = "best-effort" // where the system has it
	Uncontained Containment = "off"         // not even there
)

// Containments are the words for it, the strictest first.
func Containments() []string {
	return []string{string(Required), string(BestEffort), string(Uncontained)}
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
// of a run, and kept between calls for sessions and caches; the program's login
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
	// Objects are the folders of git objects that the work tree's .git borrows.
	// Those that they borrow from are found.
	Objects []string
	// Limits are what a call may use up; the zero value stands for the usual.
	Limits Limits
	// Sockets leaves programs the sockets that have files, on a system that
	// cannot tell theirs from those of others. They reach both then. Where
	// Landlock can tell, it changes nothing.
	Sockets bool
	// Closed says that some calls may not reach all of the network, and Lists that
	// hosts were named for some. With Lists, a system that cannot hold that has no
	// sandbox where it is Required.
	Closed, Lists bool

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
	case how == Uncontained:
		return nil, "", nil
	case missing != nil && how == Required:
		return nil, "", fmt.Errorf("the sandbox is required, but %w: use Linux 6.2 or newer with Landlock, or do without (%s or %s)", missing, BestEffort, Uncontained)
	case missing != nil:
		return nil, fmt.Sprintf("there is no sandbox: %v; agents and checks can reach all that you can", missing), nil
	}
	s.Limits = s.Limits.withDefaults()
	s.homes = &homesInUse{}
	s.hidden, s.together = hidden(environ, s.Objects), separate(s.Helper, s.Limits)
	if how == Required && s.Lists {
		held := s.Held()
		if err := s.refuses(held.Network, held.NoNet); err != nil {
			return nil, "", err
		}
	}
	return &s, "", nil
}

// Beside gives the same sandbox with other homes, for programs that work in another tree
// at the same time.
func (s *Sandbox) Beside(state string) *Sandbox {
	beside := *s
	beside.State, beside.homes = state, &homesInUse{}
	return &beside
}

// refuses says why there can be no run where hosts are listed and nothing keeps programs from others.
func (s Sandbox) refuses(network NetworkBond, why string) error {
	if !s.Lists || network != NoBond {
		return nil
	}
	return fmt.Errorf("the sandbox is required, and the pipeline lists hosts, but nothing here keeps programs from others: use Linux 6.7 or newer with Landlock, or a system that lets this user make namespaces (%s), or say `network: \"open\"` in the pipeline", why)
}
