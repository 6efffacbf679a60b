package testenv

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// Git runs git in a repository and gives what it printed.
func Git(repo string, args ...string) (string, error) {
	out, err := exec.Command("git", append([]string{"-C", repo}, args...)...).Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		err = fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, exit.Stderr)
	}
	return string(out), err
}

// MustGit is Git in a test that cannot go on without.
func MustGit(t testing.TB, repo string, args ...string) string {
	t.Helper()
	out, err := Git(repo, args...)
	Must(t, err)
	return out
}
