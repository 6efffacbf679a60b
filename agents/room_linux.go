package agents

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
	return space{dir, s.Bavail * uint64(s.Bsize), s.Ffree, s.Files > 0 && s.Files < math.MaxInt64}, nil
}

// taken says when a file was changed last, and how many bytes of the disk it
// takes.
func taken(info fs.FileInfo) (changed time.Time, bytes uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0 // unreachable: on Linux it always is
	}
	return time.Unix(s.Ctim.Unix()), uint64(s.Blocks) * 512
}
