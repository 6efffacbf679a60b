package git

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
)

var errEvil = errors.New("that is evil")

// noEvil lets files through whose every byte it has seen to be good.
func noEvil(_ context.Context, s Staged) error {
	if s.Type != File || strings.Contains(string(s.Data), "evil") {
		return errEvil
	}
	return nil
}

// swap changes code and artifact for ever, as what an agent left at work could.
func swap(tree string, stop <-chan struct{}) {
	for n := 0; ; n++ {
		select {
		case <-stop:
			return
		default:
		}
		for _, name := range []string{tree + "/code.txt", tree + "/" + state + "/plan.md"} {
			temp := name + ".swap"
			switch n % 4 {
			case 0:
				_ = os.Symlink("/etc/evil", temp) // each may fail while others are at it
			case 1:
				_ = os.WriteFile(temp, fmt.Appendf(nil, "evil %d\n", n), 0o755)
			default:
				_ = os.WriteFile(temp, fmt.Appendf(nil, "good %d\n", n), 0o644)
			}
			_ = os.Rename(temp, name)
		}
	}
}

// Whatever somebody does to the tree meanwhile, what is committed is what was
// judged.
func TestCommittedIsWhatWasJudged(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"code.txt": "good\n"}))
	commit(t, r, "{1}")
	must(t, os.WriteFile(r.Tree()+"/"+state+"/plan.md", []byte("good\n"), 0o644))
	paths := []string{"code.txt", state + "/plan.md"}
	made, refused, evil := 0, 0, 0
	try := func(n int, judge func(context.Context, Staged) error) {
		id, err := r.Commit(t.Context(), Commit{Message: "step", Files: map[string][]byte{record: fmt.Appendf(nil, "{%d}", n)}, Paths: paths, Time: noon, Judge: judge})
		if id == "" {
			refused++
			return
		}
		must(t, err)
		made++
		for _, name := range paths {
			entry := sh(t, r.src.Dir, "ls-tree", id, name)
			data, err := r.ReadFile(t.Context(), id, name)
			if err != nil || !strings.HasPrefix(entry, "100644 ") || strings.Contains(string(data), "evil") {
				evil++
			}
		}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { swap(r.Tree(), stop) })
	for n := range 25 {
		try(n, noEvil)
	}
	if evil > 0 {
		t.Errorf("%d commits have what was never judged", evil)
	}
	close(stop)
	wg.Wait()
	if made == 0 && refused == 0 {
		t.Error("nothing was tried")
	}
	must(t, os.RemoveAll(r.Tree()+"/code.txt")) // it may be a link
	write(t, r.Tree()+"/code.txt", "evil\n")
	must(t, os.Chmod(r.Tree()+"/code.txt", 0o644))
	before := r.Tip()
	try(100, noEvil)
	if r.Tip() != before {
		t.Error("evil was committed")
	}
	must(t, r.RestoreAll(t.Context()))
	clean(t, r)
}

// Without a judge the same gets into commits: the test above is not for nothing.
func TestSwappedFilesAreCommittedUnjudged(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"code.txt": "good\n"}))
	commit(t, r, "{1}")
	write(t, r.Tree()+"/code.txt", "changed and good\n")
	if got := changed(t, r); len(got) != 1 {
		t.Fatalf("changes %q", got)
	}
	write(t, r.Tree()+"/code.txt", "evil\n") // after it was looked at
	id := commit(t, r, "{2}", "code.txt")
	if data, err := r.ReadFile(t.Context(), id, "code.txt"); err != nil || string(data) != "evil\n" {
		t.Errorf("it reads %q (%v)", data, err)
	}
}
