package engine

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Guard keeps secrets out of commits and texts. The zero value hides nothing.
type LeakGuard struct {
	Secrets SecretFinder // nil: nothing is a secret
}

// maxLeaks is how many leaks an agent is told of at once.
const maxLeaks = 10

// CheckStaged holds what is staged to the rules of the boundary once more, as something
// that still runs may have changed it since the files were looked at, and says
// where secrets stand in it; "" if there are none. At paths that match allow, what
// merely looks like a secret is none.
func (g LeakGuard) CheckStaged(ctx context.Context, b phases.Boundary, allow []string, staged StagedTree) (metadata.Reason, error) {
	var found []metadata.Reason
	sizes := map[string]phases.Change{}
	err := staged.Each(ctx, func(c phases.Change, data []byte) error {
		if _, why := b.Rule(c); why != "" {
			return g.ChangedSince(c.Path, why)
		}
		if c.Size >= sizes[c.Path].Size { // of a file of Git LFS there is a pointer, too
			sizes[c.Path] = c
		}
		if !c.Gone {
			found = append(found, g.inChange(ctx, c, allow, data)...)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if why := b.TooMuch(slices.Collect(maps.Values(sizes))); why != "" {
		return "", g.ChangedSince("the work", why)
	}
	if len(found) > maxLeaks {
		found = append(found[:maxLeaks], metadata.Because("more_secrets"))
	}
	if len(found) == 0 {
		return "", nil
	}
	return metadata.Because("secrets_found", "found", metadata.All(found...)), nil
}

// ChangedSince is the error of a commit that would have had something else than what
// was looked at.
func (g LeakGuard) ChangedSince(what string, why metadata.Reason) error {
	return fmt.Errorf("%s was changed after it had been looked at, so nothing was committed: %s", g.Mask(phases.Printable(what)), why.In(prompts.Words("en")))
}

// inChange says where secrets stand in a staged file or its new name.
func (g LeakGuard) inChange(ctx context.Context, c phases.Change, allow []string, data []byte) (found []metadata.Reason) {
	allowed := pipelines.MatchesPath(c.Path, allow)
	if shown := g.Mask(c.Path); shown != c.Path && c.New && !(allowed && g.MaskKnown(c.Path) == c.Path) {
		found = append(found, metadata.Because("secret_in_name", "file", shown))
	}
	return append(found, g.InFile(ctx, c.Path, allow, data)...)
}

// InFile says where secrets stand in a file that is about to be committed.
func (g LeakGuard) InFile(ctx context.Context, p string, allow []string, data []byte) (found []metadata.Reason) {
	if g.Secrets == nil {
		return nil
	}
	leaks, err := g.Secrets.Leaks(ctx, p, data)
	if err != nil {
		found = append(found, metadata.Because("not_searched", "file", g.Mask(p), "error", err))
	}
	allowed := pipelines.MatchesPath(p, allow)
	for _, l := range leaks {
		if l.Known || !allowed {
			found = append(found, l.in(g.Mask(p)))
		}
	}
	return found
}
