package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
)

// Tidy makes the playground anew, see ResetPlayground, and removes files that
// the tip does not have and that match names, whether or not a .gitignore
// hides them: what hides is written by the same hands as what is hidden. The
// state folder is left alone. It returns what was removed.
func (r *Repo) Tidy(ctx context.Context, match func(path string) bool) ([]string, error) {
	var out []byte
	var err error
	var wg sync.WaitGroup
	wg.Go(func() { out, err = r.git(ctx, "ls-files", "-z", "-o") }) // only looks, so it may run beside
	reset := r.ResetPlayground(ctx)
	wg.Wait()
	if err := errors.Join(err, reset); err != nil {
		return nil, fmt.Errorf("make the work tree ready: %w", err)
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
