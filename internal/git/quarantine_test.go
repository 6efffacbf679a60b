package git

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// What is staged and not committed is never in the user's repository, and gone
// when the run is closed.
func TestStagedIsInQuarantine(t *testing.T) {
	user := newUser(t, nil)
	r := openRun(t, user)
	key := filepath.Join(r.Tree(), "key.txt")
	stored := func(id string) bool {
		_, err := os.Lstat(filepath.Join(user, ".git", "objects", id[:2], id[2:]))
		return err == nil
	}
	write(t, key, "not to be seen\n")
	refused, err := r.Stage(t.Context(), []string{"key.txt"})
	must(t, err)
	id := refused.ops[0].id
	if stored(id) {
		t.Errorf("the user's repository has %s, which was only staged", id)
	}
	write(t, key, "to be seen\n")
	s, err := r.Stage(t.Context(), []string{"key.txt"})
	must(t, err)
	if _, err := os.Lstat(filepath.Join(r.staged.Dir, id[:2], id[2:])); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("what was staged before is still there (%v)", err)
	}
	commitStage(t, r, "m", s)
	if !stored(s.ops[0].id) || stored(id) {
		t.Errorf("the user's repository has what is committed: %v, what was refused: %v", stored(s.ops[0].id), stored(id))
	}
	must(t, r.Close())
	if _, err := os.Lstat(r.staged.Dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("something staged outlives the run (%v)", err)
	}
}
