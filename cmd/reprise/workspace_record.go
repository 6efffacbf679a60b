package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// saved gives the record that a process before this one kept beside the work,
// or nil. What cannot be read was not worth keeping: the branch has the truth.
func saved(root, id string) *metadata.Run {
	run, err := store(filepath.Join(root, "tree"), id).Load()
	if err != nil {
		return nil
	}
	return &run
}

// parse reads the record of a run on its branch, given what reading its file
// gave.
func (w *workspace) parse(data []byte, err error) (metadata.Run, error) {
	name := recordFile(w.issue.ID)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return metadata.Run{}, fmt.Errorf("branch %s exists but holds no run (%s is missing): rename or delete that branch, or give the issue another id", w.branch, name)
	case err != nil:
		return metadata.Run{}, err
	}
	run, err := metadata.Parse(data, w.branch+":"+name)
	if err != nil {
		where := "on the branch"
		if w.push {
			where = "on the branch, here or on origin, wherever it was broken"
		}
		err = fmt.Errorf("%w; nothing was moved or changed: repair the file %s (git revert takes a commit back), and start again", err, where)
	}
	return run, err
}

// absorb takes in the attempts that were begun on this machine and never
// committed.
func (w *workspace) absorb(at time.Time) {
	if w.local == nil || w.local.Execution.ID != w.run.Execution.ID || len(w.local.Attempts) <= len(w.run.Attempts) {
		return
	}
	before := len(w.run.Attempts)
	w.run = phases.Absorb(w.run, w.local.Attempts[before:], at)
	if n := len(w.run.Attempts); n > before {
		w.left = &w.run.Attempts[n-1]
	}
}

// touched takes note of what somebody else has put on the branch behind the
// newest commit of the run: what was approved is not what is there any more.
func (w *workspace) touched(ctx context.Context, at time.Time) error {
	log, err := w.repo.Log(ctx, w.run.BaseCommit)
	if err != nil {
		return err
	}
	ours := slices.IndexFunc(log, func(c git.LogEntry) bool {
		return slices.ContainsFunc(c.Trailers, func(t git.Trailer) bool { return t.Key == "Reprise-Issue" })
	})
	if ours <= 0 {
		return nil // the newest commit is one of the run
	}
	_, code, err := tree{repo: w.repo}.Diff(ctx, log[ours].Commit)
	if err != nil {
		return err
	}
	for _, rec := range w.run.Phases {
		p := w.plan.Phase(rec.Name)
		if p == nil || rec.Status == metadata.PhasePending || rec.Status == metadata.PhaseSkipped || rec.Digest == "" {
			continue
		}
		data, err := w.repo.ReadFile(ctx, w.repo.Tip(), path.Join(phases.Folder(w.issue.ID), p.Folder, p.Writes))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		sum := sha256.Sum256(data)
		digest := hex.EncodeToString(sum[:])
		if digest != rec.Digest || code.Files > 0 && p.Access == pipelines.AccessTree && rec.Status == metadata.PhaseCompleted {
			w.run = phases.Changed(w.run, rec.Name, digest, at)
		}
	}
	return nil
}

// recordAt gives the record as a commit of the run has it, and the full hash of
// the commit, which may be named by its first digits.
func (w *workspace) recordAt(ctx context.Context, commit string) (string, metadata.Run, error) {
	log, err := w.repo.Log(ctx, w.run.BaseCommit)
	if err != nil {
		return "", metadata.Run{}, err
	}
	for _, c := range log {
		if !strings.HasPrefix(c.Commit, commit) {
			continue
		}
		data, err := w.repo.ReadFile(ctx, c.Commit, recordFile(w.issue.ID))
		if err != nil {
			return "", metadata.Run{}, err
		}
		run, err := metadata.Parse(data, commit)
		return c.Commit, run, err
	}
	return "", metadata.Run{}, fmt.Errorf("no commit %s is on %s", commit, w.run.BranchName)
}

// busy says that another machine works on the run, or nothing: what is done here
// meanwhile could not be pushed.
func (w *workspace) busy(at time.Time) error {
	lease := w.run.Execution.Lease
	if lease == nil || !at.Before(lease.Expires) || !w.push {
		return nil
	}
	return fmt.Errorf("%s works on issue %s: wait for it, or end it with /cancel on the issue; if it is gone, the run is free at %s, or now with --take-over",
		lease.Owner, w.issue.ID, lease.Expires.UTC().Format("15:04 UTC"))
}
