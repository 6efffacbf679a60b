package sandbox

import (
	"crypto/sha256"
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

// Group is a control group for the processes of one call. Nobody leaves
// it who may not write to /sys. A nil one is none.
type Group struct{ dir string }

// groupName begins the names of our control groups.
const groupName = "reprise-"

// nameOf is the name of a new group for a call in a work tree, by which a later
// reprise finds it.
func nameOf(tree string) string { return namesOf(tree) + uuid.NewString() }

// namesOf is how the names of all groups for a work tree begin.
func namesOf(tree string) string {
	sum := sha256.Sum256([]byte(tree))
	return fmt.Sprintf("%s%x-", groupName, sum[:8])
}

// Counting makes a control group that has at most so many processes. Only root
// may, and only where the control groups of the machine can be written.
func CountingGroup(most uint64, tree string) (*Group, error) {
	above, err := groupsAbove()
	if err != nil {
		return nil, err
	}
	clearGroups(above)
	g := &Group{filepath.Join(above, nameOf(tree))}
	if err := os.Mkdir(g.dir, 0o755); err != nil {
		return nil, fmt.Errorf("root needs a control group for that, and none can be made here (%w)", err)
	}
	if err := os.WriteFile(filepath.Join(g.dir, "pids.max"), []byte(strconv.FormatUint(most, 10)), 0); err != nil {
		g.Remove()
		return nil, fmt.Errorf("root needs a control group for that, and this machine's count no processes (%w)", err)
	}
	return g, nil
}

// Make makes a control group for a call in a work tree. Root's limits the
// number of processes. Anybody else's, which is there to end all that is in it,
// lies in their own, where that was given to them.
func MakeGroup(most uint64, tree string) (*Group, error) {
	if os.Geteuid() == 0 {
		return CountingGroup(most, tree)
	}
	own, err := ownGroup()
	if err != nil {
		return nil, err
	}
	clearGroups(own)
	g := &Group{filepath.Join(own, nameOf(tree))}
	return g, os.Mkdir(g.dir, 0o755)
}

// ownGroup is the folder of this process's own control group, of version 2.
func ownGroup() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(string(own)) {
		path, is := strings.CutPrefix(strings.TrimSpace(line), "0::")
		for _, root := range []string{"/sys/fs/cgroup/unified", "/sys/fs/cgroup"} { // the first where version 1 is there as well
			if dir := filepath.Join(root, path); is && isThere(filepath.Join(dir, "cgroup.procs")) && isThere(filepath.Join(root, "cgroup.controllers")) {
				return dir, nil
			}
		}
	}
	return "", errors.New("there are no control groups of version 2")
}

// EndAll ends what is in the control groups of calls in a work tree, which a
// reprise has left that was killed, and says how many processes those were.
func EndGroups(tree string) (ended int) {
	for _, dir := range LeftGroups(tree) {
		g := &Group{dir}
		ended += len(g.processes())
		g.Remove()
	}
	return ended
}

// Left lists the control groups of calls in a work tree, as folders.
func LeftGroups(tree string) (dirs []string) {
	counting, err1 := groupsAbove()
	own, err2 := ownGroup()
	for above, err := range map[string]error{counting: err1, own: err2} {
		if err == nil {
			left, _ := filepath.Glob(filepath.Join(above, namesOf(tree)+"*")) // the pattern is well formed
			dirs = append(dirs, left...)
		}
	}
	return dirs
}

// Enter puts this process into the control group of its call, if it has one.
func EnterGroup(file string) error {
	if file == "" {
		return nil
	}
	if err := os.WriteFile(file, []byte("0"), 0); err != nil { // 0 is who writes
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
			if dir := filepath.Join(root, parts[2]); isThere(dir) {
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

// File is the file by which a process enters the group. In version 1 the thread that starts the
// program enters it alone: for a whole process, the system first waits until no process
// is being started or ended on any processor, which takes up to some 15 ms.
func (g *Group) File() string {
	if g == nil {
		return ""
	}
	if alone := filepath.Join(g.dir, "tasks"); isThere(alone) {
		return alone
	}
	return filepath.Join(g.dir, "cgroup.procs")
}

// Remove ends what is still in the group, whatever it has done to get away, and
// removes the group. One that stays nevertheless is removed by a later call.
func (g *Group) Remove() {
	if g == nil {
		return
	}
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(time.Millisecond) {
		if err := unix.Rmdir(g.dir); err == nil || errors.Is(err, unix.ENOENT) {
			return
		}
		// Version 2 ends all at once, however fast there are more of them.
		if os.WriteFile(filepath.Join(g.dir, "cgroup.kill"), []byte("1"), 0) == nil {
			continue
		}
		for _, pid := range g.processes() {
			_ = unix.Kill(pid, unix.SIGKILL) // it may have gone meanwhile
		}
	}
}

// processes are those that are in the group.
func (g *Group) processes() (out []int) {
	list, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs")) // the group is gone
	for line := range strings.Lines(string(list)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 {
			out = append(out, pid)
		}
	}
	return out
}

func isThere(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
