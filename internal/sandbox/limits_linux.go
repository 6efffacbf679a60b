package sandbox

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

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
