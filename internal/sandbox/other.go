//go:build !linux || !(amd64 || arm64)

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"time"
)

// landlocked says why this system has no sandbox.
func landlocked() error {
	return fmt.Errorf("reprise has none on %s/%s", runtime.GOOS, runtime.GOARCH)
}

// separate says that there are no namespaces here.
func separate([]string, Limits) separation { return separation{why: landlocked().Error()} }

func (*policy) noteUser() {}

// open gives nothing: no call has a network of its own here.
func (*relay) open(policy) ([]*os.File, error) { return nil, nil }

func memoryFor(Limits, ...string) uint64 { return 0 }

// Enter gives the error that this system has no sandbox.
func Enter([]string, []string) error { return landlocked() }

// spaceOf finds out nothing here, so nothing is watched.
func spaceOf(string) (space, error) { return space{}, errors.ErrUnsupported }

func diskUse(info fs.FileInfo) (changed time.Time, bytes uint64, id fileID) {
	return info.ModTime(), uint64(info.Size()), fileID{}
}

func (*diskWatch) held() (sum uint64, hidden bool) { return 0, false }

// heldHere says that nothing holds: there is no sandbox here.
func heldHere(s Sandbox) Held {
	return Held{Own: true, Closed: s.Closed, NoGate: landlocked().Error(), Open: landlocked().Error(), Limits: s.Limits}
}

// group is a control group, which this system does not have.
type group struct{}

// makeGroup gives the error that there are none.
func makeGroup(uint64, string) (*group, error) {
	return nil, fmt.Errorf("%s has no control groups", runtime.GOOS)
}

// endGroups ends nothing.
func endGroups(string) int { return 0 }

// Remove does nothing.
func (*group) Remove() {}

// file gives "".
func (*group) file() string { return "" }
