package testenv

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// memory is a file system in memory that Linux has. Programs in the sandbox may
// write there if they may change code, so tests of the sandbox stay on the disk.
const memory = "/dev/shm"

// InMemory has temporary folders made in memory: tests make and remove many
// thousands of small files, which on a disk takes half of their time. Nothing
// here looks at what a power failure leaves; being killed loses nothing of
// either. Who has set TMPDIR names such a folder by REPRISE_TEST_MEMORY. It is
// called before Isolate, and gives the folder for what is to be on the disk, or ""
// if nothing has changed.
func InMemory() (disk string) {
	const enough = 2 << 30 // bytes
	var stat unix.Statfs_t
	folder := os.Getenv("REPRISE_TEST_MEMORY")
	if folder == "" && os.Getenv("TMPDIR") == "" && unix.Statfs(memory, &stat) == nil && stat.Bavail*uint64(stat.Bsize) > enough && starts(memory) {
		folder = memory
	}
	if folder == "" {
		return ""
	}
	disk = cmp.Or(os.Getenv("TMPDIR"), "/tmp")
	must(os.Setenv("TMPDIR", folder))
	return disk
}

// starts says whether programs can be started from a folder: containers often have theirs in
// memory without.
func starts(folder string) bool {
	dir, err := os.MkdirTemp(folder, "reprise-starts-")
	if err != nil {
		return false
	}
	defer os.RemoveAll(dir)
	program := filepath.Join(dir, "program")
	return os.WriteFile(program, []byte("#!/bin/sh\n"), 0o700) == nil && exec.Command(program).Run() == nil
}
