//go:build e2e

package git

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A lock that was left at the remote is named by the path at which it is.
func TestLockOfTheRemote(t *testing.T) {
	t.Parallel()
	user := newUser(t, nil)
	bare := withRemote(t, user)
	r := openRun(t, user, pushing)
	commit(t, r, "{1}")
	lock := filepath.Join(bare, "refs/heads", branch+".lock")
	write(t, lock, "")
	id, err := r.Commit(t.Context(), Commit{Message: "m", Files: map[string][]byte{record: []byte("{2}")}, Time: noon})
	var push *PushError
	if !errors.As(err, &push) || !strings.Contains(err.Error(), branch+".lock': File exists") || id != r.Tip() {
		t.Fatalf("got %q, %v", id, err)
	}
	must(t, os.Remove(lock))
	if third := commit(t, r, "{3}"); sh(t, bare, "rev-parse", branch) != third {
		t.Error("the commits did not arrive")
	}
}
