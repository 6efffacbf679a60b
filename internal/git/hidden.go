package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Hidden is a path of the work tree that the repository ignores: a file, or a
// folder with a slash at its end that is ignored as a whole.
type Hidden struct {
	Path    string
	File    string // that has the rule, such as .gitignore, and the line
	Line    int
	Pattern string
}

// Hidden lists what is ignored in the work tree and was written since a time,
// in the order of the paths. The state folder is left out: there nothing is
// ignored.
func (r *Repo) Hidden(ctx context.Context, since time.Time) ([]Hidden, error) {
	out, err := r.git(ctx, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
	if err != nil {
		return nil, fmt.Errorf("look for ignored files: %w", err)
	}
	var ask strings.Builder
	for _, name := range records(out) {
		if p := strings.TrimSuffix(name, "/"); !Under(p, r.opt.State) && !Under(r.opt.State, p) && r.writtenSince(p, since) {
			ask.WriteString(name + "\x00")
		}
	}
	if ask.Len() == 0 {
		return nil, nil
	}
	if out, err = r.gitStdin(ctx, []byte(ask.String()), "check-ignore", "--verbose", "-z", "--stdin"); err != nil {
		return nil, fmt.Errorf("look for the rules that ignore files: %w", err)
	}
	var all []Hidden
	for f := records(out); len(f) >= 4; f = f[4:] { // file, line, pattern, path
		line, _ := strconv.Atoi(f[1]) // git counts
		all = append(all, Hidden{Path: f[3], File: f[0], Line: line, Pattern: f[2]})
	}
	return all, nil
}

var errFound = errors.New("found")

// writtenSince reports whether a file, or one in a folder, was written since a
// time. It follows no symbolic link. File times may be some milliseconds behind
// the clock.
func (r *Repo) writtenSince(p string, since time.Time) bool {
	since = since.Add(-10 * time.Millisecond)
	return errors.Is(folders.Walk(r.top, p, func(_ string, d fs.DirEntry, err error) error {
		if err != nil {
			return nil // gone, or not to be looked into
		}
		if info, err := d.Info(); err == nil && !d.IsDir() && !info.ModTime().Before(since) {
			return errFound
		}
		return nil
	}), errFound)
}
