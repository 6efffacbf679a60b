package git

import (
	"context"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// ForParts says that git is too old to bring the commits of parts, or of phases, together
// that are done at the same time, or that it does not answer.
func ForParts(ctx context.Context) error {
	out, err := call{Env: takeEnviron().Local(), Args: []string{"version"}}.Do(ctx)
	if err != nil {
		return err
	}
	return tooOld(string(out))
}

// tooOld is ForParts for what git says of its version.
func tooOld(says string) error {
	var major, minor int
	if n, _ := fmt.Sscanf(says, "git version %d.%d", &major, &minor); n == 2 && (major < 2 || major == 2 && minor < 38) {
		return &text.CauseError{Why: text.CauseOf("git_parts_old", "parts at the same time need git 2.38 or newer, and this is {version}", "version", strings.TrimSpace(says))}
	}
	return nil
}
