package folders

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Held says who holds the folder of a run.
type Held struct {
	Root string
	PID  int // 0 if unknown
}

// Error names the process.
func (e *Held) Error() string {
	return fmt.Sprintf("%s: another process works on this run (process %d): wait for it, or end it", e.Root, e.PID)
}

// TakeLock takes the folder for this process, until the file is closed or the process ends. Git commands that write
// to the run's own directory inherit the lock, so it waits for one that has outlived its process.
func TakeLock(ctx context.Context, root string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := 0; ; wait++ {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		text, _ := os.ReadFile(f.Name())
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		atWork := pid > 0 && syscall.Kill(pid, 0) != syscall.ESRCH
		if atWork || wait >= lockTries || ctx.Err() != nil {
			f.Close()
			return nil, &Held{Root: root, PID: pid}
		}
		time.Sleep(lockPause)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", root, err)
	}
	return f, nil
}

// Holder gives the process that holds the folder; 0: none does, or there is no such folder.
func Holder(root string) int {
	f, err := os.Open(filepath.Join(root, "lock"))
	if err != nil {
		return 0
	}
	defer func() { _ = f.Close() }() // which frees it, too
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return 0
	}
	text, _ := os.ReadFile(f.Name())
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// FreeLock releases the folder at once, even if a child that is just being started has a copy of the file.
func FreeLock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// How long a dead process's command may go on, and one that took the lock may take to write its number: ten seconds.
const (
	lockTries = 500
	lockPause = 20 * time.Millisecond
)
