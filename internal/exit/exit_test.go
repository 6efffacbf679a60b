package exit

import (
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
)

// What fails on this machine or at origin is no mistake of whoever gave the command.
func TestUsage(t *testing.T) {
	failed := func(said string) error {
		return fmt.Errorf("squash b: %w", &git.Error{Args: []string{"-c", "user.name=x", "commit-tree", "y"}, Stderr: said, Err: errors.New("exit status 128")})
	}
	for _, tt := range []struct {
		err    error
		usage  bool
		reason metadata.Code
	}{
		{errors.New("there is no phase x"), true, metadata.ConfigInvalid},
		{failed("fatal: bad object x\n"), false, metadata.GitFailed},
		{failed("error: unable to write file a: No space left on device\n"), false, metadata.DiskFailed},
		{failed("fatal: unable to read: Input/output error\n"), false, metadata.DiskFailed},
		{failed("remote: write error: No space left on device\nfatal: the remote end hung up unexpectedly\n"), false, metadata.GitFailed},
		{&git.PushError{Branch: "b", Remote: "origin", Err: failed("remote: fatal: write error: No space left on device\n")}, false, metadata.PushFailed},
		{&git.Moved{Branch: "b", Local: "1", Other: "2", Where: "origin", Cause: metadata.Because("moved_apart")}, false, metadata.RefChanged},
		{&fs.PathError{Op: "write", Path: "a", Err: syscall.EDQUOT}, false, metadata.DiskFailed},
		{&fs.PathError{Op: "open", Path: "a", Err: syscall.ENOENT}, true, metadata.ConfigInvalid},
	} {
		err := AsUsage(tt.err)
		if got := errors.As(err, new(UsageError)); got != tt.usage || err.Error() != tt.err.Error() {
			t.Errorf("usage %t: %v", got, err)
		}
		if got := ReasonFor(err); got != tt.reason {
			t.Errorf("%v has the reason %s, want %s", err, got, tt.reason)
		}
	}
	if err := AsUsage(nil); err != nil {
		t.Errorf("nothing is %v", err)
	}
	if got := failed("").Error(); got != "squash b: git commit-tree: exit status 128" {
		t.Errorf("it is %q", got)
	}
}
