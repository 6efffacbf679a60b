package git

import (
	"context"
	"fmt"
	"strings"
)

// Holds reports whether any file of the last commit has a text, which is on one
// line.
func (r *Repo) Holds(ctx context.Context, text string) (bool, error) {
	if text == "" || strings.ContainsAny(text, "\r\n\x00") {
		return false, fmt.Errorf("look for a text in the last commit: it is not one line")
	}
	// On standard input, so that no list of processes shows the text.
	_, err := r.gitStdin(ctx, []byte(text+"\n"), "grep", "--quiet", "--text", "--fixed-strings", "--no-recurse-submodules", "-f", "-", r.tip, "--")
	switch exitCode(err) {
	case 1:
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for a text in the last commit: %w", err)
	}
	return true, nil
}
