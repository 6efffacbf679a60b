package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// notice says what the agent of a decision has to know of earlier calls: of a writer, that one
// broke off and where its changes are; of a reviewer, that the writer was cut off. It names the
// newest patch that the tip has, by its path from the top of the tree.
func (e *Engine) notice(ctx context.Context, run metadata.Run, d phases.Decision) (string, error) {
	rec, words := run.Phase(d.Phase), prompts.Words(run.Language)
	if d.Do == phases.DoReview {
		if phases.CutOff(run, rec) {
			return metadata.Because("work_cut_off").In(words), nil
		}
		return "", nil
	}
	broken := brokenOff(run, rec, d.Step())
	if len(broken) == 0 || !phases.AccessOf(e.Plan, d).Writes() {
		return "", nil
	}
	tip, err := e.Tree.Stage(ctx)
	if err != nil {
		return "", err
	}
	for _, a := range broken {
		file := patchFile(run, e.Plan.Phase(d.Phase), a.N)
		switch _, err := tip.Read(ctx, file); {
		case errors.Is(err, fs.ErrNotExist): // it had changed nothing
			continue
		case err != nil:
			return "", err
		}
		why := metadata.Because("patch_kept", "status", whyBroken(a), "file", file)
		if goesOnFrom(run, d, a) {
			why = metadata.Because("patch_kept_of_session", "status", whyBroken(a), "file", file)
		}
		return why.In(words), nil
	}
	if a := broken[0]; a.Status == metadata.Cut && goesOnFrom(run, d, a) { // reprise was killed with it
		return metadata.Because("changes_lost", "status", whyBroken(a)).In(words), nil
	}
	return "", nil
}

// patchFile is where the changes of a call that broke off are kept, by the number of its
// attempt.
func patchFile(run metadata.Run, p *pipelines.Phase, attempt int) string {
	return path.Join(phases.PhaseFolder(run, p), fmt.Sprintf("attempt-%d.patch", attempt))
}

// brokenOff gives the calls for a step of a phase that broke off in its generation since one
// succeeded, the newest first: what they had changed was taken back, and no work has replaced it.
func brokenOff(run metadata.Run, rec *metadata.Phase, step metadata.Step) (broken []metadata.Attempt) {
	for _, a := range slices.Backward(run.Attempts) {
		switch {
		case a.Phase != rec.Name || a.Generation != rec.Generation:
		case a.Status == metadata.Succeeded && a.Step != metadata.Check:
			return broken
		case a.Step == step && (a.Status == metadata.Errored || a.Status == metadata.Cut):
			broken = append(broken, a)
		}
	}
	return broken
}

// goesOnFrom reports whether a decision goes on with the session of an attempt, which
// remembers what it had changed.
func goesOnFrom(run metadata.Run, d phases.Decision, a metadata.Attempt) bool {
	return d.Resume > 0 && a.Session != "" && run.Attempts[d.Resume-1].Session == a.Session
}

// whyBroken says in a word why a call broke off.
func whyBroken(a metadata.Attempt) string {
	if a.Status == metadata.Cut {
		return string(a.Status)
	}
	return string(a.Class)
}
