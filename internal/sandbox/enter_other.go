//go:build !linux

package sandbox

import (
	"fmt"
	"net"
	"os"
	"runtime"
)

// landlocked says why this system has no sandbox.
func landlocked() error { return fmt.Errorf("reprise has none on %s", runtime.GOOS) }

// separate says that there are no namespaces here.
func separate([]string, Limits) separation { return separation{why: landlocked().Error()} }

func (*policy) noteUser() {}

// open gives nothing: no call has a network of its own here.
func (*relay) open(uint16) ([]*os.File, error) { return nil, nil }

func (*relay) lead(*net.UnixConn, uint16) error { return nil }

func handover() (*net.UnixConn, *os.File, error) { return nil, nil, landlocked() }

func (separation) holder(int) NetworkBond { return NoBond }

func memoryFor(Limits, ...string) uint64 { return 0 }

// Enter gives the error that this system has no sandbox.
func Enter([]string, []string) error { return landlocked() }
