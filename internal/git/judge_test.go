package git

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var errEvil = errors.New("that is evil")

// noEvil lets through what it has seen every byte of to be good.
func noEvil(s Staged) error {
	if s.Type != File && s.Type != None || strings.Contains(string(s.Data), "evil") {
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
				_ = os.WriteFile(temp, fmt.Append(nil, strings.Repeat("good\n", n%7)), 0o644)
			}
			_ = os.Rename(temp, name)
		}
	}
}

// Whatever somebody does to the tree meanwhile, what is committed is what was
// staged: that was judged, read and counted.
func TestCommittedIsWhatWasJudged(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"code.txt": "good\n"}))
	base := commit(t, r, "{1}")
	must(t, os.WriteFile(r.Tree()+"/"+state+"/plan.md", []byte("good\n"), 0o644))
	paths := []string{"code.txt", state + "/plan.md"}
	made, refused := 0, 0
	try := func(n int) {
		s, err := r.Stage(t.Context(), paths)
		if err == nil {
			err = r.EachStaged(t.Context(), s, noEvil)
		}
		if err != nil {
			refused++
			return
		}
		plan, _ := r.ReadStaged(t.Context(), s, paths[1]) // "" if it is not there
		_, stat, err := r.Diff(t.Context(), base, s)
		must(t, err)
		id := commitStage(t, r, fmt.Sprintf("{%d}", n), s)
		made++
		for _, line := range strings.Split(sh(t, r.src.Dir, "ls-tree", "-r", id, "--", paths[0], paths[1]), "\n") {
			if line != "" && !strings.HasPrefix(line, "100644 ") {
				t.Errorf("commit %d has %s", n, line)
			}
		}
		for _, name := range paths {
			data, _ := r.ReadFile(t.Context(), id, name) // "" if it is not there
			if strings.Contains(string(data), "evil") {
				t.Errorf("commit %d has %s in %s", n, data, name)
			}
			if name == paths[1] && string(data) != string(plan) {
				t.Errorf("commit %d has %q, read was %q", n, data, plan)
			}
		}
		_, now, err := r.Diff(t.Context(), base, nil)
		must(t, err)
		if diff := cmp.Diff(stat, now); diff != "" {
			t.Errorf("commit %d was counted otherwise (-before +after):\n%s", n, diff)
		}
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() { swap(r.Tree(), stop) })
	for n := range 25 {
		try(n)
	}
	close(stop)
	wg.Wait()
	if made == 0 && refused == 0 {
		t.Error("nothing was tried")
	}
	must(t, os.RemoveAll(r.Tree()+"/code.txt")) // it may be a link
	write(t, r.Tree()+"/code.txt", "evil\n")
	before := r.Tip()
	try(100)
	if r.Tip() != before {
		t.Error("evil was committed")
	}
	must(t, r.RestoreAll(t.Context()))
	clean(t, r)
}

// What happens to the files after they were staged changes nothing of the commit,
// also when the tree was looked at in between. Without staging it would: the
// files are no more what they were.
func TestStageHolds(t *testing.T) {
	t.Parallel()
	r := openRun(t, newUser(t, map[string]string{"code.txt": "old\n", "gone.txt": "x\n"}))
	base := commit(t, r, "{1}")
	plan := state + "/plan.md"
	write(t, r.Tree()+"/code.txt", "good\n")
	write(t, r.Tree()+"/"+plan, "good plan\n")
	must(t, os.Remove(r.Tree()+"/gone.txt"))
	s, err := r.Stage(t.Context(), allPaths(t, r))
	must(t, err)
	write(t, r.Tree()+"/code.txt", "evil\nand longer\n")
	write(t, r.Tree()+"/"+plan, "evil plan\n")
	write(t, r.Tree()+"/gone.txt", "evil\n")
	if got := changed(t, r); len(got) != 3 { // which brings the index back to the tip
		t.Errorf("changes %q", got)
	}
	var seen []string
	must(t, r.EachStaged(t.Context(), s, func(s Staged) error {
		seen = append(seen, fmt.Sprintf("%s %s from %s: %s", s.Path, s.Type, s.Was, s.Data))
		return nil
	}))
	want := []string{plan + " file from : good plan\n", "gone.txt  from file: ", "code.txt file from file: good\n"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("staged (-want +got):\n%s", diff)
	}
	if data, err := r.ReadStaged(t.Context(), s, plan); err != nil || string(data) != "good plan\n" {
		t.Errorf("read %q, %v", data, err)
	}
	text, stat, err := r.Diff(t.Context(), base, s)
	if diff := cmp.Diff(DiffStat{Files: 2, Added: 1, Deleted: 2}, stat); err != nil || diff != "" || strings.Contains(text, "evil") {
		t.Errorf("it differs by %+v, %v\n%s", stat, err, text)
	}
	id := commitStage(t, r, "{2}", s)
	for name, want := range map[string]string{"code.txt": "good\n", plan: "good plan\n", "gone.txt": ""} {
		if data, _ := r.ReadFile(t.Context(), id, name); string(data) != want { // "" if it is not there
			t.Errorf("%s was committed as %q", name, data)
		}
	}
	if _, err := r.Commit(t.Context(), Commit{Message: "m", Stage: s, Time: noon}); err == nil || !strings.Contains(err.Error(), "stage it anew") {
		t.Errorf("what was staged on an older commit: %v", err)
	}
	must(t, r.RestoreAll(t.Context()))
	clean(t, r)
}
