package agents

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sys/unix"
)

// processGroup is a control group for the processes of one call. Nobody leaves
// it who may not write to /sys. A nil one is none.
type processGroup struct{ dir string }

// groupName begins the names of our control groups.
const groupName = "reprise-"

// newGroup makes a control group that has at most so many processes. Only root
// may, and only where the control groups of the machine can be written.
func newGroup(most uint64) (*processGroup, error) {
	above, err := groupsAbove()
	if err != nil {
		return nil, err
	}
	clearGroups(above)
	g := &processGroup{filepath.Join(above, groupName+uuid.NewString())}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("root needs a control group for that, and none can be made here (%w)", err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "pids.max"), []byte(strconv.FormatUint(most, 10)), 0); err != nil {
		g.remove()
		return nil, fmt.Errorf("root needs a control group for that, and this machine's count no processes (%w)", err)
	}
	return g, nil
}

// group makes the control group of a call. Only root needs one, and where none
// can be made there is none, as Held says.
func (s Sandbox) group() *processGroup {
	if os.Geteuid() != 0 {
		return nil
	}
	g, err := newGroup(s.Limits.Processes)
	if err != nil {
		return nil
	}
	return g
}

// enterGroup puts this process into the control group of its call.
func (p policy) enterGroup() error {
	if p.Group == "" {
		return nil
	}
	if err := os.WriteFile(p.Group, []byte("0"), 0); err != nil { // 0 is who writes
		return fmt.Errorf("entering the control group: %w", err)
	}
	return nil
}

// groupsAbove finds the folder for a control group that counts processes, as
// near to this process's own as there is one.
func groupsAbove() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", fmt.Errorf("root needs a control group for that, and this machine has none (%w)", err)
	}
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		switch {
		case slices.Contains(strings.Split(parts[1], ","), "pids"): // version 1
			root := filepath.Join("/sys/fs/cgroup", parts[1])
			if dir := filepath.Join(root, parts[2]); exists(dir) {
				return dir, nil
			}
			return root, nil // a container sees its own group as the root
		case parts[1] == "": // version 2, where a group with processes has no groups that count
			for dir := parts[2]; ; dir = filepath.Dir(dir) {
				here := filepath.Join("/sys/fs/cgroup", dir)
				shared, _ := os.ReadFile(filepath.Join(here, "cgroup.subtree_control")) // there may be none
				if slices.Contains(strings.Fields(string(shared)), "pids") {
					return here, nil
				}
				if dir == "/" || dir == "." {
					break
				}
			}
		}
	}
	return "", errors.New("root needs a control group for that, and none of this machine count processes")
}

// clearGroups removes the empty groups that a reprise has left which was
// killed. A group that is not empty cannot be removed, and one that was only
// just made is not old.
func clearGroups(above string) {
	left, _ := filepath.Glob(filepath.Join(above, groupName+"*")) // the pattern is well formed
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = unix.Rmdir(dir)
		}
	}
}

// path is where a process enters the group.
func (g *processGroup) path() string {
	if g == nil {
		return ""
	}
	return filepath.Join(g.dir, "cgroup.procs")
}

// remove ends what is still in the group, whatever it has done to get away, and
// removes the group. One that stays nevertheless is removed by a later call.
func (g *processGroup) remove() {
	if g == nil {
		return
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := unix.Rmdir(g.dir); err == nil || errors.Is(err, unix.ENOENT) {
			return
		}
		list, err := os.ReadFile(g.path())
		if err != nil {
			return
		}
		for s := bufio.NewScanner(bytes.NewReader(list)); s.Scan(); {
			if pid, err := strconv.Atoi(s.Text()); err == nil && pid > 1 {
				_ = unix.Kill(pid, unix.SIGKILL) // it may have gone meanwhile
			}
		}
	}
}
