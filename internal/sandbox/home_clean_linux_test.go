//go:build amd64 || arm64

package sandbox

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// No change of a file is overlooked, on a disk and in memory.
func TestStateOf(t *testing.T) {
	for where, dir := range map[string]string{"on a disk": t.TempDir(), "in memory": inMemory(t)} {
		file := filepath.Join(dir, "main.go")
		for change, by := range map[string]func() error{
			"by a mapping that was read before": func() error { return mapped(file) },
			"and the time of that": func() error {
				was, err := os.Stat(file)
				if err == nil {
					err = os.WriteFile(file, []byte("evil"), 0o600)
				}
				if err == nil {
					err = os.Chtimes(file, was.ModTime(), was.ModTime())
				}
				return err
			},
			"and changed back": func() error {
				if err := os.WriteFile(file, []byte("evil"), 0o600); err != nil {
					return err
				}
				return os.WriteFile(file, []byte("good"), 0o600)
			},
			"by a second name": func() error {
				if err := os.Link(file, file+"2"); err != nil {
					return err
				}
				return os.Remove(file + "2")
			},
		} {
			testenv.Must(t, os.WriteFile(file, []byte("good"), 0o600))
			before, err := StateOf(dir)
			if same, err2 := StateOf(dir); err != nil || err2 != nil || same != before {
				t.Errorf("%s: two states of what nobody has changed: %v, %v", where, err, err2)
			}
			time.Sleep(20 * time.Millisecond)
			testenv.Must(t, by())
			if after, err := StateOf(dir); err != nil || after == before {
				t.Errorf("%s: a file changed %s has left no trace: %v", where, change, err)
			}
		}
	}
}

// What code under test changes in its home is gone after it also where no time tells of the change.
func TestCleanHomeInMemory(t *testing.T) {
	dir := inMemory(t)
	box := &Sandbox{State: dir, homes: &homesInUse{calls: map[string]int{}}}
	var found string
	for i, call := range []Home{{Program: "check", Clean: true}, {Program: "check"}, {Program: "check"}} {
		h, leave, err := box.home(t.Context(), call, pipelines.AccessTree)
		testenv.Must(t, err)
		file := filepath.Join(h.dir, "tool")
		if i == 0 {
			err = os.WriteFile(file, []byte("good"), 0o700)
		} else if data, _ := os.ReadFile(file); true {
			found = string(data)
			err = mapped(file)
		}
		testenv.Must(t, err)
		h.close()
		leave(false)
	}
	if found != "good" {
		t.Errorf("the second check finds %q", found)
	}
}

// inMemory is a folder that lies in memory.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp(memory, "reprise-test-")
	testenv.Must(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// mapped makes "evil" of a file with "good" by a mapping of it that was read before.
func mapped(file string) error {
	f, err := os.OpenFile(file, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	defer f.Close()
	data, err := unix.Mmap(int(f.Fd()), 0, 4, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return err
	}
	if string(data) == "good" { // which has the page there
		copy(data, "evil")
	}
	return unix.Munmap(data)
}
