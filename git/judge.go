package git

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// maxJudged is the size of the largest file that can be judged, in bytes.
const maxJudged = maxState

// judge has everything judged that ops take from the work tree.
func (r *Repo) judge(ctx context.Context, c Commit, ops []op) error {
	for _, o := range ops {
		if _, given := c.Files[o.path]; given || o.kind != 'M' {
			continue
		}
		s := Staged{Path: o.path, Type: typeOfMode(o.mode), Data: o.data}
		if strings.Trim(o.was, "0") != "" {
			s.Was = typeOfMode(o.was)
		}
		if !o.inline {
			staged, err := r.store.one(ctx, o.id, maxJudged)
			if large := (*tooLarge)(nil); errors.As(err, &large) {
				return fmt.Errorf("%s has %d bytes, at most %d can be looked through", o.path, large.size, maxJudged)
			}
			if err != nil {
				return err
			}
			s.Data = staged.data
		}
		if err := c.Judge(ctx, s); err != nil {
			return err
		}
	}
	return nil
}
