package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// Writers of code and of the record push to one branch at once, and the answer
// to one push in four is lost. What Commit says is so: what it took is on the
// branch once, what moved is not there, and the branch is one line.
func TestWritersAnytime(t *testing.T) {
	t.Parallel()
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	user := newUser(t, map[string]string{"a.txt": "a"})
	bare := withRemote(t, user)
	first := openRun(t, user, pushing)
	commit(t, first, "{0}")
	first.Close()
	// receive-pack is the parent of the hook, which runs when the ref has moved.
	hook(t, bare, "reference-transaction", "test $1 != committed || test $(( $(od -An -N1 -tu1 /dev/urandom) % 4 )) -ne 0 || kill -9 $PPID\n")
	w := &writers{t: t, said: map[string]error{}}
	dir := realTemp(t)
	var wg sync.WaitGroup
	var open []*Repo
	for n := range 3 {
		open = append(open, openRun(t, user, pushing, inRoot(filepath.Join(dir, fmt.Sprint(n)))))
	}
	for n, r := range open {
		dice := rand.New(rand.NewPCG(seed, uint64(n)))
		wg.Go(func() {
			for i := range 3 {
				if r = w.write(r, fmt.Sprintf("w%d-%d", n, i), dice.IntN(3) == 0); r == nil {
					return
				}
				time.Sleep(time.Duration(dice.IntN(40)) * time.Millisecond)
			}
		})
	}
	wg.Wait()
	if got := sh(t, bare, "rev-list", "--count", "--min-parents=2", branch); got != "0" {
		t.Errorf("%s commits have two parents", got)
	}
	seen := map[string]int{}
	for _, subject := range strings.Fields(sh(t, bare, "log", "--format=%s", "main.."+branch)) {
		seen[subject]++
	}
	for name, err := range w.said {
		var moved *Moved
		var push *PushError
		switch n := seen[name]; {
		case n > 1, err == nil && n != 1, errors.As(err, &moved) && n != 0:
			t.Errorf("%s is there %d times, and its writer was told: %v", name, n, err)
		case err != nil && moved == nil && !errors.As(err, &push):
			t.Errorf("%s: %v", name, err)
		}
	}
}

// writers notes what Commit has said about each commit.
type writers struct {
	t    *testing.T
	mu   sync.Mutex
	said map[string]error
}

// write makes a commit of the record, or of a file of its own, and gives the run
// to go on with: if it moved, it is opened anew where it went. It is nil where
// that cannot be done.
func (w *writers) write(r *Repo, name string, state bool) *Repo {
	c, paths := Commit{Message: name, Time: noon}, []string{name}
	if state {
		paths, c.Files = nil, map[string][]byte{record: []byte("{" + name + "}")}
	} else if err := os.WriteFile(filepath.Join(r.Tree(), name), []byte(name), 0o644); err != nil {
		w.t.Error(err)
		return nil
	}
	_, err := commitPaths(context.Background(), r, c, paths...)
	w.mu.Lock()
	w.said[name] = err
	w.mu.Unlock()
	if !errors.As(err, new(*Moved)) {
		return r
	}
	o := r.opt
	o.TakeOther = true
	r.Close()
	for {
		if r, err = Open(context.Background(), o); err == nil {
			w.t.Cleanup(func() { r.Close() })
			return r
		}
		if !errors.As(err, new(*PushError)) && !errors.As(err, new(*Moved)) { // an answer that was lost, or it went on once more
			w.t.Errorf("%s, going on from where it went: %v", name, err)
			return nil
		}
	}
}
