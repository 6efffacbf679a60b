package agents

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/pipelines"
)

// Containment says how much depends on the sandbox.
type Containment string

// The words for it.
const (
	Required    Containment = "required"    // nothing starts without it
	BestEffort  Containment = "best-effort" // where the system has it
	Uncontained Containment = "off"         // not even there
)

// Sandbox limits what programs can reach, whatever they are told and whoever
// they run as. A program in it
//
//   - writes only below its work tree (access "tree"), below the folder of its
//     artifact (access "artifacts") or nowhere in the tree ("read" and "none"),
//     and into its own home and temporary folder;
//   - reads only the system, installed programs, the work tree and git's
//     objects: nothing of the user's home, of the user's checkout, or of other
//     temporary folders;
//   - signals and traces only its own kind;
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
// The network is open: the agents need their services.
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

	hidden []string // what is not read even where it lies in the system
}

// policyVar carries the policy from Contain to Enter.
const policyVar = "REPRISE_SANDBOX"

// Contain puts all that o starts into the sandbox. Where the system has none,
// BestEffort gives o as it is and a sentence for the user, and Required an
// error. Nothing is started or made.
func (o Options) Contain(how Containment, s Sandbox) (Options, string, error) {
	return o.contain(how, s, landlocked())
}

// contain is Contain for a system that has no sandbox because of missing; nil
// says that it has one.
func (o Options) contain(how Containment, s Sandbox, missing error) (Options, string, error) {
	words := []Containment{Required, BestEffort, Uncontained}
	if !slices.Contains(words, how) {
		return o, "", fmt.Errorf("sandbox: %q is not one of %s, %s, %s", how, words[0], words[1], words[2])
	}
	switch {
	case how == Uncontained:
		return o, "", nil
	case missing != nil && how == Required:
		return o, "", fmt.Errorf("the sandbox is required, but %w: use Linux 6.2 or newer with Landlock, or do without (%s or %s)", missing, BestEffort, Uncontained)
	case missing != nil:
		return o, fmt.Sprintf("there is no sandbox: %v; agents and checks can reach all that you can", missing), nil
	}
	s.Limits = s.Limits.withDefaults()
	s.hidden = hidden(o.withDefaults().Environ, s.Objects)
	o.box, o.Contained, o.Sandbox = &s, true, s.hold
	return o, "", nil
}

// hold makes of a call the same call in the sandbox.
func (s Sandbox) hold(c Call) (Call, error) {
	p, err := s.policy(c)
	if err != nil {
		return c, err
	}
	data, err := json.Marshal(p)
	if err != nil {
		return c, err // unreachable: it is made of strings and numbers
	}
	c.Env = setVar(c.Env, policyVar, string(data))
	c.Argv = slices.Concat(s.Helper, c.Argv)
	return c, nil
}

// hidden lists what has secrets wherever it lies: the user's repository, and on
// a GitHub runner its own folder, which the two variables lead to.
func hidden(env, objects []string) []string {
	var out []string
	for _, dir := range objects {
		out = append(out, filepath.Dir(dir))
	}
	if workspace := lookup(env, "GITHUB_WORKSPACE"); workspace != "" {
		out = append(out, workspace)
	}
	if temp := lookup(env, "RUNNER_TEMP"); temp != "" {
		out = append(out, temp, filepath.Dir(filepath.Dir(temp)))
	}
	return out
}

// policy is what a program may reach. All paths are absolute and lead through
// no link; what is not there counts for nothing.
type policy struct {
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	Devices []string `json:"devices"` // read, written and controlled
	Limits  Limits   `json:"limits"`
	Sockets bool     `json:"sockets,omitempty"`
	Group   string   `json:"group,omitempty"` // the file to enter a control group by
	Parent  int      `json:"parent"`          // the process of reprise
}

func (s Sandbox) policy(c Call) (policy, error) {
	p := policy{Write: []string{c.Home, c.Temp}, Devices: devices(), Limits: s.Limits, Sockets: s.Sockets, Group: c.group, Parent: os.Getpid()}
	apart := resolved(append(slices.Clone(s.hidden), c.User))
	for _, dir := range resolved(slices.Concat(system(), installed(c))) {
		p.Read = append(p.Read, around(dir, apart)...)
	}
	p.Read = slices.Concat(p.Read, borrowed(s.Objects), named(c.Env), shared(c.User), []string{c.Dir})
	switch c.Task.Access {
	case pipelines.AccessTree:
		p.Write = append(p.Write, c.Dir)
		p.Devices = append(p.Devices, memory) // semaphores of test programs
	case pipelines.AccessArtifacts:
		if c.Task.Artifact != "" {
			dir, err := artifactFolder(c.Dir, c.Task.Artifact)
			if err != nil {
				return p, err
			}
			p.Write = append(p.Write, dir)
		}
	}
	for _, list := range []*[]string{&p.Read, &p.Write, &p.Devices} {
		*list = resolved(*list)
	}
	return p, nil
}

// resolved leads paths through their links and leaves out what is not there.
func resolved(paths []string) []string {
	var out []string
	for _, path := range paths {
		if found, err := filepath.EvalSymlinks(path); err == nil && filepath.IsAbs(found) {
			out = append(out, found)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}
