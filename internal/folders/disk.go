package folders

import (
	"errors"
	"slices"
	"syscall"
)

// NoDisk reports whether an error says that the disk is full, closed or broken.
func NoDisk(err error) bool {
	return slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, syscall.EIO}, func(disk error) bool { return errors.Is(err, disk) })
}
