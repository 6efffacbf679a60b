package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"time"

	"golang.org/x/mod/semver"

	"github.com/reprise-ci/reprise/internal/environ"
)

var versionNumber = regexp.MustCompile(`[0-9]+\.[0-9]+(\.[0-9]+)?`)

// programTime is the longest that a program may take to say its version.
const programTime = 5 * time.Second

// saysVersion asks a program for its version. It sees no key and no token, and
// not the repository.
func saysVersion(ctx context.Context, env environ.Env, program string) (string, error) {
	ctx, stop := context.WithTimeout(ctx, programTime)
	defer stop()
	c := exec.CommandContext(ctx, program, "--version")
	c.Dir, c.Env, c.WaitDelay = os.TempDir(), plainEnv(env), time.Second
	out, err := c.Output()
	switch v := versionNumber.FindString(string(out)); {
	case ctx.Err() != nil:
		return "", fmt.Errorf("it did not say its version within %s", programTime)
	case v != "":
		return v, nil
	case err != nil:
		return "", err
	}
	return "", errors.New("it says no version")
}

// olderThan compares versions such as 2.39.5 by their first two numbers.
func olderThan(v, least string) bool {
	return semver.Compare(series(v), series(least)) < 0
}

// series gives the first two numbers of a version, as v2.39; nothing for what is
// no version.
func series(v string) string { return semver.MajorMinor("v" + v) }
