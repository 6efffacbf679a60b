package sandbox

import (
	"strconv"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
)

// What the linker may take from a build, so that tests can try the sandbox of a
// machine that has less. A release is built without them.
var (
	newestABI    = ""    // the newest version of Landlock that is used
	noNamespaces = "off" // "on": calls get no namespaces
)

// landlockABI is the version of Landlock that is used here.
func landlockABI() (int, error) {
	v, err := ll.LandlockGetABIVersion()
	if most, wrong := strconv.Atoi(newestABI); wrong == nil {
		v = min(v, most)
	}
	return v, err
}

// landlockConfig handles all that Landlock can do in a version.
func landlockConfig(abi int) landlock.Config {
	all := []landlock.Config{
		landlock.V1, landlock.V2, landlock.V3, landlock.V4, landlock.V5, landlock.V6,
		landlock.V7, landlock.V8, landlock.V9, landlock.V10, landlock.V11,
	}
	return all[min(abi, len(all))-1]
}
