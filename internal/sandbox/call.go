package sandbox

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// Call is a program about to be started.
type Call struct {
	Argv []string // the first is an absolute path
	Env  []string // all that the program gets to see
	Dir  string   // its work tree
	Home string
	User string // the user's home, which is Home unless there is a sandbox
	Temp string // folder for this call alone, removed after it

	Access   pipelines.Access // what it may write of the work tree
	Artifact string           // the file that it may write with access "artifacts"; "": none
	Shown    []string         // files elsewhere that it may read

	Network *Network // what it may reach of the network; nil: all of it

	Own   bool       // its processes are in namespaces of their own; Hold sets it
	Apart bool       // and have a network of their own; Hold sets it
	Files []*os.File // what the helper inherits from descriptor 4 on; Hold sets it

	relay     *relay // leads to the gate
	group     string // the file by which it enters its control group; "" without one
	ownMemory bool   // /dev/shm, too, is its own
}

// Hold makes of a call the same call in the sandbox.
func (s *Sandbox) Hold(c Call) (Call, error) {
	p, err := s.policy(c)
	if err != nil {
		return c, err
	}
	if c.Env, err = p.within(c.Env); err != nil {
		return c, err
	}
	c.Own, c.ownMemory, c.Apart = p.Own, p.Memory > 0, p.apart()
	c.Argv = slices.Concat(s.Helper, c.Argv)
	c.Files, err = c.relay.open(p)
	return c, err
}

// policy is what a call may reach.
func (s *Sandbox) policy(c Call) (policy, error) {
	p := policy{Write: []string{c.Home, c.Temp}, Devices: devices(), Limits: s.Limits, Sockets: s.Sockets, Judge: !c.Access.Writes(), Control: c.group, Parent: os.Getpid(), Own: s.together.namespaced}
	apart := resolved(append(slices.Clone(s.hidden), c.User))
	for _, dir := range resolved(slices.Concat(system(), installed(c.Argv[0], c.User, c.Env))) {
		p.Read = append(p.Read, around(dir, apart)...)
	}
	p.Read = slices.Concat(p.Read, borrowed(s.Objects), named(c.Env), shared(c.User), elsewhere(c.Env, c.User), []string{c.Dir}, c.Shown)
	switch c.Access {
	case pipelines.AccessTree, pipelines.AccessRun:
		p.Write = append(p.Write, c.Dir)
		p.Devices = append(p.Devices, memory) // semaphores of test programs
	case pipelines.AccessArtifacts:
		if c.Artifact != "" {
			dir, err := artifactFolder(c.Dir, c.Artifact)
			if err != nil {
				return p, err
			}
			p.Write = append(p.Write, dir)
		}
	}
	if c.Network != nil {
		p.Network = &closed{Network: *c.Network, Own: s.together.network}
	}
	for _, list := range []*[]string{&p.Read, &p.Write, &p.Devices} {
		*list = resolved(*list)
	}
	if p.Own {
		p.noteUser()
	}
	if p.Own && slices.Contains(p.Devices, memory) {
		p.Memory = memoryFor(s.Limits, slices.Concat(p.Read, p.Write)...)
	}
	return p, nil
}

// WatchDisk begins to watch what a call in the sandbox does to the disk.
func (s *Sandbox) WatchDisk(c Call) *diskWatch {
	folders := []string{c.Dir, c.Temp, c.Home}
	if c.Access.Runs() && !c.ownMemory { // that one has a size
		folders = append(folders, memory)
	}
	return newDiskWatch(folders, s.Limits.withDefaults())
}

// policyVar carries the policy from Hold to Enter.
const policyVar = "REPRISE_SANDBOX"

// policy is what a program may reach. All paths are absolute and lead through
// no link; what is not there counts for nothing.
type policy struct {
	Read    []string `json:"read"`
	Write   []string `json:"write"`
	Devices []string `json:"devices"` // read, written and controlled
	Limits  Limits   `json:"limits"`
	Sockets bool     `json:"sockets,omitempty"`
	Control string   `json:"control,omitempty"` // the file to enter a control group by
	Network *closed  `json:"network,omitempty"` // nil: all of it may be reached
	Parent  int      `json:"parent"`            // the process of reprise; 0: another program is the parent

	Judge  bool   `json:"judge,omitempty"`  // what it starts may not reach into it
	Own    bool   `json:"own,omitempty"`    // in namespaces that were made for it
	User   int    `json:"user,omitempty"`   // whom the program runs as, in a user namespace; 0: there is none
	Group  int    `json:"group,omitempty"`  // and with which group
	Memory uint64 `json:"memory,omitempty"` // what its own /dev/shm holds, in bytes; 0: it has none
	Trial  bool   `json:"trial,omitempty"`  // nothing is started: it is to see what can be done here
}

// within gives an environment that carries the policy to Enter.
func (p policy) within(env []string) ([]string, error) {
	data, err := json.Marshal(p)
	return process.SetVar(env, policyVar, string(data)), err
}

// apart reports whether the program has a network of its own.
func (p policy) apart() bool { return p.Network != nil && p.Network.Own }

// Converters gives what makes of a program the same program in the sandbox, where git starts it to convert files. It
// reads programs and the folders read, writes only below write, and reaches no network. Where the system has no
// sandbox, programs stay as they are, or it is an error if how is Required.
func Converters(how Containment, helper, environ []string) func(argv, env, read []string, write string) ([]string, []string, error) {
	return func(argv, env, read []string, write string) ([]string, []string, error) {
		missing := landlocked()
		switch {
		case missing != nil && how == Required:
			return nil, nil, fmt.Errorf("the sandbox is required for %s, but %w", argv[0], missing)
		case missing != nil || how == uncontained:
			return argv, env, nil
		}
		s := &Sandbox{Helper: helper, Limits: Limits{File: math.MaxUint64}.withDefaults(), hidden: hidden(environ, read)}
		c := Call{
			Argv: argv, Env: process.SetVar(process.SetVar(env, "HOME", write), "TMPDIR", write), Dir: write,
			Home: write, Temp: write, User: process.Lookup(env, "HOME"), Access: pipelines.AccessNone, Network: &Network{},
		}
		p, err := s.policy(c)
		if err != nil {
			return nil, nil, err
		}
		p.Parent, p.Read = 0, append(p.Read, read...) // what is not there yet counts when it is
		env, err = p.within(c.Env)
		return slices.Concat(helper, argv), env, err
	}
}
