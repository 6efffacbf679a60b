package git

import (
	"errors"
	"os"
	"testing"
)

// Killed between any two of its writes and started again, the same is there in the
// end: the record is kept, and then the folder leaves the branch here and there.
func TestShelveKilledBetween(t *testing.T) {
	t.Parallel()
	for _, after := range []string{"the record was kept at the remote", "the commit was made here"} {
		user := newUser(t, map[string]string{"a.txt": "a\n"})
		bare := withRemote(t, user)
		r := openRun(t, user, pushing, keeping)
		kept := commit(t, r, "one")
		switch after {
		case "the record was kept at the remote":
			_, err := r.keepRecord(t.Context())
			must(t, err)
			sh(t, user, "update-ref", "-d", "refs/reprise/records/issue-7")
		default:
			hook := bare + "/hooks/update"
			write(t, hook, "#!/bin/sh\ncase $1 in refs/heads/*) exit 1;; esac\n")
			must(t, os.Chmod(hook, 0o755))
			var refused *PushError
			if _, err := r.Commit(t.Context(), Commit{Message: "finish\n\nReprise-Issue: 7", Shelve: true, Time: noon}); !errors.As(err, &refused) {
				t.Errorf("a push that was refused: %v", err)
			}
			must(t, os.Remove(hook))
		}
		r.Close()

		again := openRun(t, user, pushing, keeping)
		_, err := again.Commit(t.Context(), Commit{Message: "finish\n\nReprise-Issue: 7", Shelve: true, Time: noon})
		must(t, err)
		again.Close()
		for _, where := range []string{bare, user} {
			if got := sh(t, where, "rev-parse", "refs/reprise/records/issue-7", "refs/heads/"+branch+"~1"); got != kept+"\n"+kept {
				t.Errorf("killed after %s: in %s the record and the commit before the tip are %s, want %s", after, where, got, kept)
			}
			if got := sh(t, where, "ls-tree", "-r", "--name-only", "refs/heads/"+branch); got != "a.txt" {
				t.Errorf("killed after %s: in %s the branch has %q", after, where, got)
			}
		}
	}
}
