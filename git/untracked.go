package git

import (
	"context"
	"fmt"
	"strings"
)

// RemoveUntracked removes files that the tip does not have and that match
// names, whether or not a .gitignore hides them: what hides is written by the
// same hands as what is hidden. The state folder is left alone. It returns
// what was removed.
func (r *Repo) RemoveUntracked(ctx context.Context, match func(path string) bool) ([]string, error) {
	out, err := r.git(ctx, "ls-files", "-z", "-o")
	if err != nil {
		return nil, fmt.Errorf("look for files that nobody tracks: %w", err)
	}
	var removed []string
	for _, name := range records(out) {
		name = strings.TrimSuffix(name, "/")
		if under(name, r.opt.State) || !match(name) {
			continue
		}
		if err := removeAll(r.top, name); err != nil {
			return removed, fmt.Errorf("remove %s: %w", name, err)
		}
		removed = append(removed, name)
	}
	return removed, nil
}
