package git

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
)

// Holds reports whether any file of the last commit has a text. Both ways to
// end a line are the same.
func (r *Repo) Holds(ctx context.Context, text string) (bool, error) {
	found, err := r.holds(ctx, unixLines([]byte(text)))
	if err != nil {
		return false, fmt.Errorf("look for a text in the last commit: %w", err)
	}
	return found, nil
}

func (r *Repo) holds(ctx context.Context, text []byte) (bool, error) {
	lines := strings.FieldsFunc(string(text), func(c rune) bool { return c == '\n' })
	if len(lines) == 0 || bytes.IndexByte(text, 0) >= 0 {
		return false, errors.New("it is empty, or has a zero byte")
	}
	show := "--files-with-matches"
	if len(lines) == 1 {
		show = "--quiet" // the first is enough
	}
	// On standard input, so that no list of processes shows the text.
	asked := []byte(strings.Join(lines, "\n") + "\n")
	out, err := r.gitStdin(ctx, asked, "grep", show, "-z", "--text", "--fixed-strings", "--all-match", "--no-recurse-submodules", "-f", "-", r.tip, "--")
	if exitCode(err) == 1 {
		return false, nil
	}
	if err != nil || len(lines) == 1 {
		return err == nil, err
	}
	for _, name := range records(out) { // which have all the lines, in whatever order
		data, err := r.ReadFile(ctx, r.tip, strings.TrimPrefix(name, r.tip+":"))
		if err != nil {
			return false, err
		}
		if bytes.Contains(unixLines(data), text) {
			return true, nil
		}
	}
	return false, nil
}

func unixLines(text []byte) []byte { return bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n")) }
