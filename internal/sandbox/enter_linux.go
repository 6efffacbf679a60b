//go:build amd64 || arm64

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"github.com/landlock-lsm/go-landlock/landlock"
	ll "github.com/landlock-lsm/go-landlock/landlock/syscall"
	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/process"
)

// truncateABI is the first version of Landlock that also guards a file against being cut to nothing. Before it, the
// filter of system calls does.
const truncateABI = 3

// landlocked says why this system has no sandbox, or nothing.
func landlocked() error {
	v, err := landlockABI()
	switch {
	case err != nil:
		return fmt.Errorf("this kernel has no Landlock, or it is switched off: %w", err)
	case v < 1:
		return fmt.Errorf("the Landlock of this kernel is too old (version %d)", v)
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
	join := func() error { return enterGroup(p.Control) }
	steps := []func() error{landlocked, p.dieWithParent, p.enterNamespaces}
	if p.Trial {
		steps = []func() error{p.enterNamespaces, join, p.furnishNamespaces, p.filterCalls}
	}
	if err := each(steps); err != nil || p.Trial {
		return err
	}
	bound := func() error { return limit(p.Limits, p.User != 0) }
	if err := each([]func() error{join, p.furnishNamespaces, bound, dropRights, p.restrict, p.filterCalls}); err != nil {
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
	all.HandledAccessNet = p.Network.handled(all)
	var rules []landlock.Rule
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

// limit puts the limits on this process, for good. counted says that only the processes of its user namespace count.
func limit(l Limits, counted bool) error {
	limits := map[int]uint64{unix.RLIMIT_FSIZE: l.File, unix.RLIMIT_CORE: 0}
	switch {
	case os.Geteuid() == 0: // is not held to it
	case counted:
		limits[unix.RLIMIT_NPROC] = l.Processes
	default:
		n, err := threads()
		if err != nil {
			return fmt.Errorf("counting the processes of the machine: %w", err)
		}
		limits[unix.RLIMIT_NPROC] = n + l.Processes
	}
	for which, most := range limits {
		var now unix.Rlimit
		if err := unix.Getrlimit(which, &now); err != nil {
			return fmt.Errorf("reading limit %d: %w", which, err)
		}
		most = min(most, now.Max)
		if err := unix.Setrlimit(which, &unix.Rlimit{Cur: most, Max: most}); err != nil {
			return fmt.Errorf("setting limit %d to %d: %w", which, most, err)
		}
	}
	// When memory runs out, the program ends before reprise does. A system
	// that does not let it say so decides by itself.
	_ = sooner("/proc/self/oom_score_adj")
	return nil
}

// sooner has a process end sooner than the one that started it when memory runs
// out. Runners and clusters have their jobs' scores raised already.
func sooner(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	now, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil {
		return err
	}
	return os.WriteFile(file, []byte(strconv.Itoa(min(now+500, 1000))), 0)
}

// threads gives how many there are on the machine, whoever they belong to.
func threads() (uint64, error) {
	data, err := os.ReadFile("/proc/loadavg") // such as: 0.10 0.20 0.30 1/234 5678
	if err != nil {
		return 0, err
	}
	for _, word := range strings.Fields(string(data)) {
		if _, all, ok := strings.Cut(word, "/"); ok {
			return strconv.ParseUint(all, 10, 64)
		}
	}
	return 0, errors.New("/proc/loadavg does not tell")
}

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

// heldHere says what holds on this machine.
func heldHere(s Sandbox) Held {
	v, _ := landlockABI() // without Landlock there is no sandbox to ask about
	bond, noGate := s.holder(v >= socketABI)
	h := Held{
		Landlock: v, Signals: v >= 6 || s.together.namespaced, Sockets: v >= socketABI || !s.Sockets,
		Own: v >= socketABI || s.Sockets, Limits: s.Limits.withDefaults(),
		Together: s.together.word(), Apart: s.together.why,
		Closed: s.Closed, Network: bond, NoNet: s.together.noNet, NoGate: noGate,
	}
	if os.Geteuid() == 0 {
		group, err := makeGroup(h.Limits.Processes, "trial")
		if err != nil {
			h.Open = err.Error()
		}
		group.Remove()
	}
	return h
}
