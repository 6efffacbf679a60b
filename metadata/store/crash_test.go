package store

import (
	"bufio"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// helper is the variable that makes the test binary something else: a process
// that a test may kill or starve.
const helper = "METADATA_TEST_HELPER"

func TestMain(m *testing.M) {
	switch dir := os.Getenv("METADATA_TEST_DIR"); os.Getenv(helper) {
	case "":
		os.Exit(m.Run())
	case "save for ever":
		saveForEver(in(dir))
	case "save in a small space":
		saveInSmallSpace(in(dir))
	}
	os.Exit(3)
}

func help(t *testing.T, what, dir string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), helper+"="+what, "METADATA_TEST_DIR="+dir, "GORACE=atexit_sleep_ms=0")
	cmd.Stderr = os.Stderr
	return cmd
}

// saveForEver saves one revision after another, from the one that is there,
// and tells each before and after.
func saveForEver(s Folder) {
	r, err := s.Load()
	for err == nil {
		r.Revision++
		fmt.Println("before", r.Revision)
		if err = s.Save(r); err == nil {
			fmt.Println("after", r.Revision)
		}
	}
	fmt.Fprintln(os.Stderr, err)
}

// Whenever a process is killed, the record is whole, and is the newest one
// whose Save returned or the one that was being saved.
func TestKilledSavesLeaveAWholeRecord(t *testing.T) {
	s := in(t.TempDir())
	first := long(sample(t), 200) // long enough to be torn
	testenv.Must(t, s.Save(first))
	const kills = 30
	left := 0
	for range kills {
		before, after := saveAndKill(t, s.Dir)
		r, err := s.Load()
		if err != nil {
			t.Fatalf("killed while saving revision %d: %v", before, err)
		}
		if r.Revision != before && r.Revision != after {
			t.Errorf("revision %d is there; %d was being saved, %d had been saved", r.Revision, before, after)
		}
		if entries, err := os.ReadDir(s.Dir); err != nil {
			t.Fatal(err)
		} else if len(entries) > 1 {
			left++
		}
	}
	t.Logf("%d of %d kills left a temporary file", left, kills)
	r, err := s.Load()
	testenv.Must(t, err)
	if r.Revision < first.Revision+kills {
		t.Errorf("only %d saves in %d processes: this test tried nothing", r.Revision-first.Revision, kills)
	}
	testenv.Must(t, s.Save(r))
	wantFiles(t, s.Dir, metadata.File)
}

// saveAndKill lets a process save for some milliseconds and kills it. It
// returns the revision it began to save last, and the one it had saved last.
func saveAndKill(t *testing.T, dir string) (before, after int) {
	t.Helper()
	cmd := help(t, "save for ever", dir)
	out, err := cmd.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, cmd.Start())
	lines := bufio.NewScanner(out)
	kill := sync.OnceFunc(func() {
		time.AfterFunc(time.Duration(rand.IntN(15000))*time.Microsecond, func() { cmd.Process.Kill() })
	})
	for lines.Scan() {
		if _, err := fmt.Sscanf(lines.Text(), "before %d", &before); err != nil {
			if _, err := fmt.Sscanf(lines.Text(), "after %d", &after); err != nil {
				t.Fatalf("the process said %q", lines.Text())
			}
			kill()
		}
	}
	if state := cmd.Wait(); state == nil || !strings.Contains(state.Error(), "killed") {
		t.Fatalf("the process ended by itself: %v", state)
	}
	return before, after
}

// saveInSmallSpace saves a large record where files may have 20,000 bytes, as
// on a disk that fills up in the middle of the write.
func saveInSmallSpace(s Folder) {
	limit := syscall.Rlimit{Cur: 20000, Max: 20000}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		fmt.Println(err)
		return
	}
	r, err := s.Load()
	if err != nil {
		fmt.Println(err)
		return
	}
	r = long(r, 1000)
	r.Revision = 10
	fmt.Println(s.Save(r))
}

func TestFullDiskLeavesTheOldRecord(t *testing.T) {
	s := in(t.TempDir())
	testenv.Must(t, s.Save(sample(t)))
	out, _ := help(t, "save in a small space", s.Dir).Output()
	file := filepath.Join(s.Dir, metadata.File)
	if got := string(out); !strings.HasPrefix(got, "save "+file+": ") || !strings.Contains(got, "file too large") {
		t.Errorf("the process said %q", got)
	}
	r, err := s.Load()
	if err != nil || r.Revision != sample(t).Revision {
		t.Errorf("revision %d, %v", r.Revision, err)
	}
	wantFiles(t, s.Dir, metadata.File)
}
