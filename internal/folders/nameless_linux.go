package folders

import (
	"os"

	"golang.org/x/sys/unix"
)

// Nameless says that the system has files in memory without a name, to be opened several times by their descriptor.
const Nameless = true

// NamelessFile makes one with a text in it.
func NamelessFile(text string) (*os.File, error) {
	fd, err := unix.MemfdCreate("git", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	file := os.NewFile(uintptr(fd), "memory")
	if _, err := file.WriteString(text); err != nil {
		_ = file.Close()
		return nil, err
	}
	return file, nil
}
