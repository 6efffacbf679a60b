package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"
)

// held sums up the files on these disks without a name that a process of the call has open. One that may not be looked
// into has hidden what it has open.
func (r *DiskWatch) held() (sum uint64, hidden bool) {
	if r.members == nil {
		return 0, false
	}
	disks, seen := map[uint64]bool{}, map[fileID]bool{}
	for _, dir := range r.folders {
		if info, err := os.Stat(dir); err == nil {
			_, _, id := diskUse(info)
			disks[id[0]] = true
		}
	}
	for _, pid := range r.members() {
		dir := fmt.Sprintf("/proc/%d/fd/", pid)
		open, err := os.ReadDir(dir)
		hidden = hidden || errors.Is(err, fs.ErrPermission)
		for _, e := range open {
			name := dir + e.Name()
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
