package sandbox

import (
	"io/fs"
	"math"
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
	return space{dir, s.Bavail * uint64(s.Frsize), s.Ffree, s.Files > 0 && s.Files < math.MaxInt64}, nil
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
