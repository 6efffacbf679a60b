package engine

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// prove gives what the tests of the work prove, as one more check. None of a phase that asks for no proof, or whose
// checks do not all pass.
func (e *Engine) prove(ctx context.Context, run metadata.Run, p *pipelines.Phase, checks []metadata.CheckResult) ([]metadata.CheckResult, error) {
	if p.Proves == "" || len(checks) == 0 || phases.RulingOf(checks) != metadata.Pass {
		return nil, nil
	}
	start := e.Now()
	pass, why, err := e.proof(ctx, run, p, checks)
	var lost []string
	if err == nil && pass && p.Proves != pipelines.ProvesSame {
		lost, err = e.lost(ctx, run, p, checks)
	}
	if err != nil {
		return nil, err
	}
	if len(lost) > 0 {
		why = metadata.All(why, metadata.Because("proof_lost", "tests", lost))
	}
	return []metadata.CheckResult{{
		Name: pipelines.ProofCheck, Run: "proves: " + string(p.Proves), Pass: pass, ExitCode: map[bool]int{false: 1}[pass],
		Output: e.Mask(why.In(prompts.Words(run.Language))), DurationMS: e.Now().Sub(start).Milliseconds(),
		FailedTests: lost, FailsBefore: why.Code() == "proof_none_runs", // which is no fault of the work
	}}, nil
}

// lost names the tests of the base that the work changes, renames, skips or deletes, and that fail with the work as they
// were. A change may need that, so it is for a reviewer to judge.
func (e *Engine) lost(ctx context.Context, run metadata.Run, p *pipelines.Phase, checks []metadata.CheckResult) ([]string, error) {
	patch, _, err := e.Tree.Diff(ctx, run.BaseCommit)
	if err != nil {
		return nil, err
	}
	changed, _ := phases.ChangedInPatch(patch)
	before, err := e.read(ctx, run.BaseCommit, phases.TestsAmong(p, changed)) // without the new ones, which may have their names
	if err != nil || !slices.ContainsFunc(slices.Collect(maps.Keys(before)), func(name string) bool { return before[name] != nil || phases.ForAllTests(name) }) {
		return nil, err
	}
	ended, err := e.with(ctx, p, "", before)
	if err != nil {
		return nil, err
	}
	tests, others := phases.Lost(ended, checks)
	lost := append(tests, others...)
	return lost[:min(len(lost), mostLost)], nil
}

// mostLost is how many names of lost tests are recorded.
const mostLost = 50

// proof gives whether the work is proven, and what to say of it. The checks of its phase run on the base with the tests
// of the work, or on the work with the tests of the base. Where the work changes what a check runs, they also run on
// the work with that as it is on the base.
func (e *Engine) proof(ctx context.Context, run metadata.Run, p *pipelines.Phase, checks []metadata.CheckResult) (bool, metadata.Reason, error) {
	patch, stat, err := e.Tree.Diff(ctx, run.BaseCommit)
	if err != nil {
		return false, "", err
	}
	changed, files := phases.ChangedInPatch(patch)
	tests := phases.TestsAmong(p, changed)
	switch {
	case files != stat.Files: // which are tests among the others is not known
		return false, metadata.Because("proof_too_large", "n", stat.Files, "named", files), nil
	case phases.OnlyDocuments(changed):
		return true, metadata.Because("proof_documents"), nil
	}
	defining, err := e.read(ctx, run.BaseCommit, phases.DefiningChecks(p, changed))
	if err != nil {
		return false, "", err
	}
	maps.DeleteFunc(defining, func(name string, data []byte) bool { // a new one in a new folder says nothing of what was there
		dir := phases.Beneath(name)
		if data != nil || dir == "" {
			return false
		}
		_, err := e.Tree.ReadFile(ctx, run.BaseCommit, dir)
		return errors.Is(err, fs.ErrNotExist)
	})
	if len(defining) > 0 {
		ended, err := e.with(ctx, p, "", defining)
		if err != nil {
			return false, "", err
		}
		if lost, _ := phases.Lost(ended, checks); len(lost) > 0 {
			return false, metadata.Because("proof_not_held", "files", slices.Sorted(maps.Keys(defining)), "tests", lost), nil
		}
	}
	commit, from := run.BaseCommit, e.Tree.Tip()
	switch {
	case p.Proves == pipelines.ProvesSame && len(tests) == 0: // all of them have just passed
		return true, metadata.Because("proof_same"), nil
	case p.Proves == pipelines.ProvesSame:
		commit, from = "", run.BaseCommit
	case len(tests) == 0:
		return false, metadata.Because("proof_no_test"), nil
	}
	laid, err := e.read(ctx, from, tests)
	if err != nil {
		return false, "", err
	}
	ended, err := e.with(ctx, p, commit, laid)
	if err != nil {
		return false, "", err
	}
	pass, why := phases.Proves(p.Proves, ended, checks)
	return pass, why, nil
}

// read gives some files as a commit has them, nil where it has none.
func (e *Engine) read(ctx context.Context, commit string, names []string) (map[string][]byte, error) {
	files := map[string][]byte{}
	for _, name := range names {
		data, err := e.Tree.ReadFile(ctx, commit, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		files[name] = data
	}
	return files, nil
}

// with runs the checks of a phase on a commit, or the work if that is "", where some files have other content, or are
// gone if that is nil.
func (e *Engine) with(ctx context.Context, p *pipelines.Phase, commit string, files map[string][]byte) ([]metadata.CheckResult, error) {
	c := e.round(commit)
	c.Lay = func(dir string) error { return lay(dir, e.Tree.Dir(), files) }
	return c.all(ctx, p.Checks)
}

// lay writes files into a folder, such as a copy of a tree, and removes those without content. What is a program in the
// tree is one there. No link leads out of it.
func lay(dir, tree string, files map[string][]byte) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // what was written is closed
	for name, data := range files {
		mode := fs.FileMode(0o644)
		if info, err := os.Lstat(filepath.Join(tree, filepath.FromSlash(name))); err == nil && info.Mode().IsRegular() {
			mode = info.Mode().Perm()
		}
		if data == nil {
			err = folders.RemoveWithin(root, name)
		} else {
			err = folders.WriteFile(root, name, data, mode)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
