package store

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// patience is how long one save waits for another. A save takes milliseconds.
const patience = 5 * time.Second

// sweep locks the folder of root, until dir, which is it, is given free, and removes the temporary files
// that saves left when their process was killed. As every save holds the lock,
// a file that is there now belongs to nobody.
func sweep(root *os.Root, dir *os.File) error {
	locked, err := lock(dir, patience)
	if err != nil || !locked {
		return err
	}
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return err
	}
	for _, name := range names {
		digits, ok := strings.CutPrefix(name, "."+metadata.File)
		if ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
			_ = root.Remove(name) // what stays is waste, not harm
		}
	}
	return nil
}

// free closes the folder and gives its lock free at once, also if a child that
// this process is just starting has a copy of the file.
func free(dir *os.File) {
	_ = syscall.Flock(int(dir.Fd()), syscall.LOCK_UN) // where there are no locks
	dir.Close()
}

// lock takes the lock of a folder, which another process may hold for a while.
// It reports false where the file system has no locks: saves are whole without
// one, only nothing can be swept.
func lock(dir *os.File, wait time.Duration) (bool, error) {
	for end := time.Now().Add(wait); ; time.Sleep(2 * time.Millisecond) {
		err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		switch {
		case err == nil:
			return true, nil
		case !errors.Is(err, syscall.EWOULDBLOCK) && !errors.Is(err, syscall.EINTR):
			return false, nil
		case time.Now().After(end):
			return false, fmt.Errorf("another process has been saving into %s for %v", dir.Name(), wait)
		}
	}
}
