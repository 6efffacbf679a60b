package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// held sums up the files on these disks that have no name any more and are
// still open in a process of the call: they take room until it closes them. A
// process that may not be looked into has hidden what it has open.
func (r *DiskWatch) held() (sum uint64, hidden bool) {
	if r.members == nil {
		return 0, false
	}
	disks, seen := r.disks(), map[fileID]bool{}
	for _, pid := range r.members() {
		open, err := openFiles(pid)
		hidden = hidden || errors.Is(err, fs.ErrPermission)
		for _, name := range open {
			if link, err := os.Readlink(name); err != nil || !strings.HasSuffix(link, " (deleted)") {
				continue // closed, or it has a name
			}
			info, err := os.Stat(name)
			if err != nil || !info.Mode().IsRegular() {
				continue
			}
			changed, n, id := diskUse(info)
			if disks[id[0]] && !seen[id] && !changed.Before(r.since.Add(-time.Second)) {
				seen[id] = true
				sum += n
			}
		}
	}
	return sum, hidden
}

// openFiles lists what leads to the open files of a process.
func openFiles(pid int) ([]string, error) {
	dir := fmt.Sprintf("/proc/%d/fd/", pid)
	open, err := os.ReadDir(dir)
	names := make([]string, 0, len(open))
	for _, e := range open {
		names = append(names, dir+e.Name())
	}
	return names, err
}

// disks are those that the folders are on, by their numbers.
func (r *DiskWatch) disks() map[uint64]bool {
	out := map[uint64]bool{}
	for _, dir := range r.folders {
		if info, err := os.Stat(dir); err == nil {
			_, _, id := diskUse(info)
			out[id[0]] = true
		}
	}
	return out
}
