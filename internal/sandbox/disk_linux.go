//go:build amd64 || arm64

package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// spaceOf gives what is left of the disk that a folder is on.
func spaceOf(dir string) (space, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(dir, &s); err != nil {
		return space{}, err
	}
	kind := uint32(s.Type)
	return space{dir, s.Bavail * uint64(s.Frsize), s.Ffree, s.Files > 0 && s.Files < math.MaxInt64, kind == unix.TMPFS_MAGIC || kind == unix.RAMFS_MAGIC}, nil
}

// diskUse says when a file was changed last, how many bytes of the disk it takes,
// and which one it is.
func diskUse(info fs.FileInfo) (changed time.Time, bytes uint64, id fileID) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0, fileID{} // unreachable: on Linux it always is
	}
	return time.Unix(s.Ctim.Unix()), uint64(s.Blocks) * 512, fileID{uint64(s.Dev), s.Ino}
}

// held sums up the files on these disks without a name that a process of the call has open. One that may not be looked
// into has hidden what it has open.
func (r *diskWatch) held() (sum uint64, hidden bool) {
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
