package agents

import (
	"errors"
	"syscall"

	"github.com/reprise-ci/reprise/metadata"
)

// classOf tells a disk that is full or closed from other trouble.
func classOf(err error) metadata.Class {
	for _, disk := range []error{syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, syscall.EIO} {
		if errors.Is(err, disk) {
			return metadata.Disk
		}
	}
	return metadata.Crash
}
