package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/process"
)

// leastABI is the first version of Landlock that also guards a file against
// being cut to nothing.
const leastABI = 3

// landlocked says why this system has no sandbox, or nothing.
func landlocked() error {
	v, err := landlockABI()
	switch {
	case err != nil:
		return fmt.Errorf("this kernel has no Landlock, or it is switched off: %w", err)
	case v < leastABI:
		return fmt.Errorf("the Landlock of this kernel is too old (version %d, and %d is needed)", v, leastABI)
	}
	return nil
}

// Enter turns this process into the program argv within the limits that Hold has put into environ. It returns only with
// an error, and then nothing was started.
func Enter(argv, environ []string) error {
	var p policy
	text := process.Lookup(environ, policyVar)
	if err := json.Unmarshal([]byte(text), &p); text != "" && err != nil {
		return fmt.Errorf("sandbox: reading its limits: %w", err)
	}
	if text == "" || !p.Trial && len(argv) == 0 {
		return errors.New("this is for reprise itself: it starts agents in their sandbox")
	}
	runtime.LockOSThread() // rights are a thread's, and this one starts the program
	join := func() error { return EnterGroup(p.Control) }
	steps := []func() error{landlocked, p.dieWithParent, p.enterNamespaces}
	if p.Trial {
		steps = []func() error{p.enterNamespaces, join, p.furnishNamespaces}
	}
	if err := each(steps); err != nil || p.Trial {
		return err
	}
	bound := func() error { return limit(p.Limits, p.User != 0) }
	filter := func() error { return filterCalls(p.Sockets, p.Network) }
	if err := each([]func() error{join, p.furnishNamespaces, bound, dropRights, p.restrict, filter}); err != nil {
		return err
	}
	environ = slices.DeleteFunc(slices.Clone(environ), func(kv string) bool { return strings.HasPrefix(kv, policyVar+"=") })
	start := syscall.Exec
	if p.Own {
		start = process.LookAfter
	}
	if err := start(argv[0], argv, environ); err != nil {
		return fmt.Errorf("sandbox: starting %s: %w", argv[0], err)
	}
	return nil // unreachable: it is another program now, or that is over
}

// each takes steps until one goes wrong.
func each(steps []func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return fmt.Errorf("sandbox: %w", err)
		}
	}
	return nil
}

// dieWithParent has the program end when reprise does, however that ends.
func (p policy) dieWithParent() error {
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return fmt.Errorf("ending with reprise: %w", err)
	}
	there := p.Parent == 0 || os.Getppid() == p.Parent
	if p.Own { // where no process outside has a number
		there = process.Heard()
	}
	if !there {
		return errors.New("reprise has ended in the meantime")
	}
	return nil
}

// dropRights takes from root what no build needs, by which it looks past every limit on files, and from others the
// right to arrange their own namespaces.
func dropRights() error {
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping rights: %w", err)
	}
	keep := []uintptr{
		unix.CAP_CHOWN, unix.CAP_DAC_OVERRIDE, unix.CAP_FOWNER, unix.CAP_FSETID,
		unix.CAP_KILL, unix.CAP_SETGID, unix.CAP_SETUID, unix.CAP_NET_BIND_SERVICE,
	}
	for right := uintptr(0); ; right++ {
		held, err := unix.PrctlRetInt(unix.PR_CAPBSET_READ, right, 0, 0, 0)
		if err != nil {
			return nil // that was the last one
		}
		if held == 0 || slices.Contains(keep, right) {
			continue
		}
		if err := unix.Prctl(unix.PR_CAPBSET_DROP, right, 0, 0, 0); err != nil && os.Geteuid() == 0 {
			return fmt.Errorf("dropping right %d of root: %w", right, err)
		}
	}
}

// What may be done to files and folders. Whoever may make device files reads
// the disk, so nobody may.
const (
	reading       landlock.AccessFSSet = ll.AccessFSExecute | ll.AccessFSReadFile
	writing                            = reading | ll.AccessFSWriteFile | ll.AccessFSTruncate
	control                            = writing | ll.AccessFSIoctlDev
	readingFolder                      = reading | ll.AccessFSReadDir
	writingFolder                      = writing | ll.AccessFSReadDir | ll.AccessFSRemoveDir | ll.AccessFSRemoveFile | ll.AccessFSMakeDir | ll.AccessFSMakeReg |
		ll.AccessFSMakeSock | ll.AccessFSMakeFifo | ll.AccessFSMakeSym | ll.AccessFSRefer
	controlFolder = writingFolder | ll.AccessFSIoctlDev
)

// restrict puts the limits on this process, for good; newer kernels keep more.
func (p policy) restrict() error {
	abi, err := landlockABI()
	if err != nil {
		return err
	}
	all := landlockConfig(abi)
	var rules []landlock.Rule
	all.HandledAccessNet, rules = p.Network.rules(all)
	add := func(paths []string, file, folder landlock.AccessFSSet) error {
		for _, path := range paths {
			info, err := os.Stat(path)
			if errors.Is(err, fs.ErrNotExist) {
				continue // gone in the meantime
			}
			if err != nil {
				return err
			}
			access := file
			if info.IsDir() {
				access = folder
			}
			rules = append(rules, landlock.PathAccess(access&all.HandledAccessFS, path)) // what is not handled is not refused
		}
		return nil
	}
	err = errors.Join(add(p.Read, reading, readingFolder), add(p.Write, writing, writingFolder), add(p.Devices, control, controlFolder))
	if err != nil {
		return err
	}
	return all.BestEffort().Restrict(rules...)
}
