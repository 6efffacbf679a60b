package workspace

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/phases/engine"
)

// leakGuard is what keeps secrets off a branch.
type leakGuard struct {
	*secrets.Finder
	repo Checkout
}

// maxLeaks is how many values, and how many shapes, are found in one file: each
// is looked for in the last commit, and an agent can write any number.
const maxLeaks = 20

// Leaks finds the secrets in a file, but for those that the last commit has.
// The first values and the first shapes are enough to refuse it.
func (g leakGuard) Leaks(ctx context.Context, path string, data []byte) ([]engine.Leak, error) {
	hits, err := g.Find(data)
	if err != nil || len(hits) == 0 {
		return nil, err
	}
	before, err := g.repo.ReadFile(ctx, g.repo.Tip(), path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var out []engine.Leak
	had, found := map[string]bool{}, map[bool]int{}
	for _, h := range hits {
		if found[h.Known] == maxLeaks {
			continue
		}
		text := h.Value(data)
		was, asked := had[text]
		if !asked {
			if was, err = g.had(ctx, before, text); err != nil {
				return nil, err
			}
			had[text] = was
		}
		if !was {
			found[h.Known]++
			out = append(out, engine.Leak{Line: h.Line(data), Name: h.Name, Known: h.Known})
		}
	}
	return out, nil
}

// had reports whether the last commit has a text: in that file, or in any.
func (g leakGuard) had(ctx context.Context, before []byte, text string) (bool, error) {
	if bytes.Contains(before, []byte(text)) {
		return true, nil
	}
	repo, ok := g.repo.(*git.Repo)
	if !ok || strings.Contains(text, "\x00") || strings.Trim(text, "\r\n") == "" {
		return false, nil
	}
	return repo.Holds(ctx, text)
}
