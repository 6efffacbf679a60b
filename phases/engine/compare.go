package engine

import (
	"context"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// differ is what can be compared with a commit: the tip, or what is staged on it.
type differ interface {
	Diff(ctx context.Context, from string) (string, metadata.Diff, error)
}

// since gives what changed in the code since the phase began. A phase that
// cannot change code is not compared: looking would cost more than its record.
func (e *Engine) since(ctx context.Context, now differ, run metadata.Run, p *pipelines.Phase, rec *metadata.Phase) (text string, d metadata.Diff, err error) {
	if p.Access != pipelines.AccessTree || rec.Base == "" {
		return "", metadata.Diff{}, nil
	}
	from := rec.Base
	switch {
	case rec.Lane != nil && rec.Lane.Conflict != nil:
		from = rec.Lane.Base // what was merged before is the work of others
	case rec.Lane == nil && rec.Upstream != "":
		from, err = e.Tree.WithBase(ctx, from, rec.Upstream, run.BaseCommit)
	}
	if err != nil {
		return "", metadata.Diff{}, err
	}
	return now.Diff(ctx, from)
}

// differs reports whether a phase that has to change the code did so: in its
// first generation since it began, later since the run began, because code is
// kept over a rollback.
func differs(ctx context.Context, now differ, run metadata.Run, rec *metadata.Phase, since metadata.Diff) bool {
	if since.Files > 0 || rec.Generation == 0 {
		return since.Files > 0
	}
	_, all, err := now.Diff(ctx, run.BaseCommit)
	return err == nil && all.Files > 0
}
