package testenv

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
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
