package sandbox

import (
	"encoding/json"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
)

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

	Own    bool   `json:"own,omitempty"`    // in namespaces that were made for it
	User   int    `json:"user,omitempty"`   // whom the program runs as, in a user namespace; 0: there is none
	Group  int    `json:"group,omitempty"`  // and with which group
	Memory uint64 `json:"memory,omitempty"` // what its own /dev/shm holds, in bytes; 0: it has none
	Trial  bool   `json:"trial,omitempty"`  // nothing is started: it is to see what can be done here
}

// variable is the variable that carries the policy to Enter.
func (p policy) variable() (string, error) {
	data, err := json.Marshal(p)
	return policyVar + "=" + string(data), err // it is made of strings and numbers
}

// within gives an environment that has the policy.
func (p policy) within(env []string) ([]string, error) {
	variable, err := p.variable()
	return process.SetVar(env, policyVar, strings.TrimPrefix(variable, policyVar+"=")), err
}

// apart reports whether the program has a network of its own.
func (p policy) apart() bool { return p.Network != nil && p.Network.Own }

// port is that of the gate; 0: there is none.
func (p policy) port() uint16 {
	if p.Network == nil {
		return 0
	}
	return p.Network.Port
}
