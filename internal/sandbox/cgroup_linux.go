//go:build amd64 || arm64

package sandbox

import (
	"cmp"
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

// group is a control group for the processes of one call, which nobody leaves who may not write to /sys; nil is none.
type group struct{ dir string }

// groupName begins the names of our control groups.
const groupName = "reprise-"

// namesOf is how the names of all groups for a work tree begin.
func namesOf(tree string) string {
	return fmt.Sprintf("%s%.8x-", groupName, sha256.Sum256([]byte(tree)))
}

// makeGroup makes a control group for a call in a work tree, as near to this process's own as one can be made. Root's
// has a limit of processes; anybody else's is there to end all that is in it.
func makeGroup(most uint64, tree string) (*group, error) {
	why := errors.New("this machine has none")
	for _, above := range groupFolders() {
		clearGroups(above)
		g := &group{filepath.Join(above, namesOf(tree)+uuid.NewString())}
		if why = os.Mkdir(g.dir, 0o755); why != nil {
			continue
		}
		// In version 2, it can be limited only where the groups above share this out.
		why = os.WriteFile(filepath.Join(g.dir, "pids.max"), []byte(strconv.FormatUint(most, 10)), 0)
		if why == nil || os.Geteuid() != 0 {
			return g, nil
		}
		g.Remove()
	}
	return nil, fmt.Errorf("root needs a control group for that, and none that counts processes can be made here (%w)", why)
}

// groupFolders lists where control groups may be made: this process's own one and those above it, of versions 1 and 2.
func groupFolders() (dirs []string) {
	own, _ := os.ReadFile("/proc/self/cgroup") // a system without it has no groups
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 || parts[1] != "" && !slices.Contains(strings.Split(parts[1], ","), "pids") {
			continue
		}
		for dir := filepath.Join("/", parts[2]); ; dir = filepath.Dir(dir) {
			for _, root := range []string{cmp.Or(parts[1], "unified"), ""} { // version 2 lies in a folder of its own beside version 1
				if at := filepath.Join("/sys/fs/cgroup", root, dir); exists(filepath.Join(at, "cgroup.procs")) {
					dirs = append(dirs, at)
				}
			}
			if dir == "/" {
				break
			}
		}
	}
	return dirs
}

// endGroups ends what is in the control groups of calls in a work tree, which a
// reprise has left that was killed, and says how many processes those were.
func endGroups(tree string) (ended int) {
	for _, dir := range leftGroups(tree) {
		g := &group{dir}
		ended += len(g.processes())
		g.Remove()
	}
	return ended
}

// leftGroups lists the control groups of calls in a work tree, as folders.
func leftGroups(tree string) (dirs []string) {
	for _, above := range groupFolders() {
		left, _ := filepath.Glob(filepath.Join(above, namesOf(tree)+"*")) // the pattern is well formed
		dirs = append(dirs, left...)
	}
	return dirs
}

// enterGroup puts this process into the control group of its call, if it has one.
func enterGroup(file string) error {
	if file == "" {
		return nil
	}
	if err := os.WriteFile(file, []byte("0"), 0); err != nil { // 0 is who writes
		return fmt.Errorf("entering the control group: %w", err)
	}
	return nil
}

// clearGroups removes the empty groups that a killed reprise has left; one that was only just made is not old.
func clearGroups(above string) {
	left, _ := filepath.Glob(filepath.Join(above, groupName+"*")) // the pattern is well formed
	for _, dir := range left {
		if info, err := os.Stat(dir); err == nil && time.Since(info.ModTime()) > time.Minute {
			_ = unix.Rmdir(dir)
		}
	}
}

// file is the file by which a process enters the group. In version 1 the thread that starts the program enters it
// alone, which is sooner done.
func (g *group) file() string {
	if g == nil {
		return ""
	}
	if alone := filepath.Join(g.dir, "tasks"); exists(alone) {
		return alone
	}
	return filepath.Join(g.dir, "cgroup.procs")
}

// Remove ends what is still in the group and removes it. One that stays is removed by a later call.
func (g *group) Remove() {
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
func (g *group) processes() (out []int) {
	list, _ := os.ReadFile(filepath.Join(g.dir, "cgroup.procs")) // the group is gone
	for line := range strings.Lines(string(list)) {
		if pid, err := strconv.Atoi(strings.TrimSpace(line)); err == nil && pid > 1 {
			out = append(out, pid)
		}
	}
	return out
}
