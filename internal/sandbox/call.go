package sandbox

import (
	"os"
	"slices"

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

	relay     *relay // leads from its own network to the gate
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
	if c.Apart {
		c.Files, err = c.relay.open(p.port())
	}
	return c, err
}

// policy is what a call may reach.
func (s *Sandbox) policy(c Call) (policy, error) {
	p := policy{Write: []string{c.Home, c.Temp}, Devices: devices(), Limits: s.Limits, Sockets: s.Sockets, Control: c.group, Parent: os.Getpid(), Own: s.together.namespaced}
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
func (s *Sandbox) WatchDisk(c Call) *DiskWatch {
	folders := []string{c.Dir, c.Temp, c.Home}
	if c.Access.Runs() && !c.ownMemory { // that one has a size
		folders = append(folders, memory)
	}
	return newDiskWatch(folders, s.Limits.withDefaults())
}
