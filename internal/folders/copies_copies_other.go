//go:build !linux

package folders

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"github.com/reprise-ci/reprise/internal/text"
)

type fileID [2]uint64

func nameOf(info fs.FileInfo) (id fileID, several bool) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return id, false
	}
	return fileID{uint64(s.Dev), s.Ino}, s.Nlink > 1
}

func share(_, _ *os.File) error { return errors.ErrUnsupported }

func dataAt(_ *os.File, at, whole int64) (start, end int64, err error) { return at, whole, nil }

func spaceLeft(f *os.File) (left text.Size, known bool) {
	var s syscall.Statfs_t
	if err := syscall.Fstatfs(int(f.Fd()), &s); err != nil {
		return 0, false
	}
	return text.Size(min(s.Bavail, 1<<40) * uint64(s.Bsize)), true
}
