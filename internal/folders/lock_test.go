package folders

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// Between taking the lock and writing its number a process is not yet known,
// but it soon will be.
func TestTakenJustNow(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	f, err := os.Create(filepath.Join(root, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	written := make(chan error)
	go func() {
		time.Sleep(50 * time.Millisecond)
		_, err := f.WriteString(strconv.Itoa(os.Getpid()) + "\n")
		written <- err
	}()
	_, err = TakeLock(t.Context(), root)
	var locked *Held
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("got %v", err)
	}
	if err := <-written; err != nil {
		t.Fatal(err)
	}
}
