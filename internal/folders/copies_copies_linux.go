package folders

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/text"
)

// fileID tells files apart, whatever their names are: its disk and its number.
type fileID [2]uint64

// nameOf tells which file it is, and whether it has several names.
func nameOf(info fs.FileInfo) (id fileID, several bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false // unreachable: on Linux it always is
	}
	return fileID{uint64(s.Dev), s.Ino}, s.Nlink > 1
}

// share has a file share the bytes of another until one of them changes; an error
// says that the disk cannot.
func share(out, in *os.File) error {
	return unix.IoctlFileClone(int(out.Fd()), int(in.Fd()))
}

// data gives where the next bytes of a file are that are not in a hole; start is
// whole if there are none.
func dataAt(f *os.File, at, whole int64) (start, end int64, err error) {
	start, err = unix.Seek(int(f.Fd()), at, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return whole, whole, nil
	}
	if err == nil {
		end, err = unix.Seek(int(f.Fd()), start, unix.SEEK_HOLE)
	}
	if errors.Is(err, unix.EINVAL) { // this disk knows no holes
		return at, whole, nil
	}
	return start, min(end, whole), err
}

// spaceLeft gives what is left of the disk that a file is on.
func spaceLeft(f *os.File) (left text.Size, known bool) {
	var s unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &s); err != nil {
		return 0, false
	}
	return text.Size(min(s.Bavail, 1<<40) * uint64(s.Frsize)), true
}
