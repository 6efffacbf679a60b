package testenv

import (
	"cmp"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// memory is a file system in memory that Linux has. Programs in the sandbox may
// write there if they may change code, so tests of the sandbox stay on the disk.
const memory = "/dev/shm"

// disk is where temporary folders are that are not in memory; "" where all are.
var disk string

// OnDisk gives a temporary folder that is not in memory.
func OnDisk(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp(disk, "reprise-test-")
	Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // a temporary folder
	return dir
}

// InMemory has temporary folders made in memory: tests make and remove many
// thousands of small files, which on a disk takes half of their time. Nothing
// here looks at what a power failure leaves; being killed loses nothing of
// either. Who has set TMPDIR names such a folder by REPRISE_TEST_MEMORY. It is
// called before Isolate.
func InMemory() {
	const enough = 2 << 30 // bytes
	var stat unix.Statfs_t
	folder := os.Getenv("REPRISE_TEST_MEMORY")
	if folder == "" && os.Getenv("TMPDIR") == "" {
		sweep()
		if unix.Statfs(memory, &stat) == nil && stat.Bavail*uint64(stat.Bsize) > enough && starts(memory) {
			folder = held()
		}
	}
	if folder == "" {
		return
	}
	disk = cmp.Or(os.Getenv("TMPDIR"), "/tmp")
	must(os.Setenv("TMPDIR", folder))
}

// Each process of tests has a folder of its own, which it holds a lock on as long as it lives.
const ours = memory + "/reprise-"

// held makes one. It is "" if another process took it for one that was left.
func held() string {
	dir, err := os.MkdirTemp(memory, filepath.Base(ours))
	must(err)
	must(os.Chmod(dir, 0o711)) // some tests are run again as an ordinary user
	if !locked(dir) {
		return ""
	}
	return dir
}

// sweep removes what tests that were killed left there, which would be memory that is
// missing until the machine is started again.
func sweep() {
	left, err := filepath.Glob(ours + "*")
	must(err)
	for _, dir := range left {
		if locked(dir) {
			os.RemoveAll(dir)
		}
	}
}

// locked says whether a lock on a folder was taken. It is never given back.
func locked(dir string) bool {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return false // somebody else's, or gone
	}
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) == nil {
		var stat unix.Stat_t
		if unix.Fstat(fd, &stat) == nil && stat.Nlink > 0 {
			return true
		}
	}
	unix.Close(fd)
	return false
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
