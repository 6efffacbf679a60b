package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/google/renameio/v2"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/report"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
)

// WritePages writes a page of all runs, index.html, and one of each, into a folder. These pages are for many
// people, so they have no transcripts. A run that cannot be read is in the error.
func WritePages(ctx context.Context, env environ.Env, src *git.Source, dir string) (out Written, err error) {
	all, broken := List(ctx, env, src, git.KeptRefs)
	if broken != nil && len(all) == 0 {
		return out, broken
	}
	if err := os.Mkdir(dir, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return out, exit.Usagef("make the folder for the pages: %w", err)
	}
	index, failed := report.Index{Repository: cmp.Or(src.GitHub, filepath.Base(src.Dir)), At: env.Now()}, []error{broken}
	for _, r := range all {
		one := report.Indexed{Run: r.Record, Page: "issue-" + r.Issue + ".html"}
		page, err := pageOf(ctx, env, src, r)
		if err == nil {
			err = SavePage(filepath.Join(dir, one.Page), page)
		}
		if err == nil {
			out.Pages = append(out.Pages, one.Page)
		} else {
			one.Page, failed = "", append(failed, fmt.Errorf("issue %s: %w", r.Issue, err))
		}
		index.Runs = append(index.Runs, one)
	}
	page, err := report.IndexPage(index)
	file := filepath.Join(dir, "index.html")
	if err == nil {
		err = SavePage(file, page)
	}
	if err == nil {
		out.File, out.Bytes = file, len(page)
	}
	return out, errors.Join(append(failed, err)...)
}

// pageOf gives the page of a run in a list.
func pageOf(ctx context.Context, env environ.Env, src *git.Source, listed Run) ([]byte, error) {
	r := &workspace.Recorded{Env: env, Source: src, Issue: issue.Issue{ID: listed.Issue}, Run: listed.Record, Gone: len(listed.Where) == 0}
	course, err := phases.Read(listed.Issue, r.Ref(), workspace.RecordReader(ctx, src, r.Ref(), listed.Issue))
	if err != nil {
		return nil, err
	}
	r.Plan = course.Plan
	return pageWith(ctx, r, nil)
}

// pageWith gives the page of a run with transcripts, by the numbers of their attempts.
func pageWith(ctx context.Context, r *workspace.Recorded, transcripts map[int][]agents.Entry) ([]byte, error) {
	facts := report.Facts{Plan: r.Plan, Run: r.Run, Issue: r.Issue.Body, At: r.Env.Now(), Transcripts: transcripts}
	patches, err := r.Patches(ctx, workspace.AttemptTrailer)
	for _, p := range patches {
		if n, err := strconv.Atoi(p.Trailer); err == nil { // what others write into a message is not ours
			facts.Changes = append(facts.Changes, report.Change{Attempt: n, Commit: p.Commit, Patch: p.Text, Cut: p.Cut})
		}
	}
	if err == nil {
		var all git.CommitPatch
		all, err = r.Change(ctx)
		facts.Whole = []report.Change{{Commit: all.Commit, Patch: all.Text, Cut: all.Cut}}
	}
	if facts.NoChanges = errors.Is(err, fs.ErrNotExist); err != nil && !facts.NoChanges {
		return nil, err
	}
	return report.Page(facts)
}

// mostOfTalk is how much of transcripts is read for a page, in bytes: more than it shows.
const mostOfTalk = 1 << 20

// transcriptsOf reads the newest transcripts of a run that are on this machine.
func transcriptsOf(r *workspace.Recorded) map[int][]agents.Entry {
	all, read := map[int][]agents.Entry{}, 0
	root, err := workspace.HomeFolder(r.Env, r.Source, r.Issue.ID)
	if err != nil {
		return all // then there is nothing of the run here
	}
	dir := agents.TranscriptsFolder(root)
	attempts, err := agents.KeptAttempts(dir)
	if err != nil {
		return all // the page is whole without them
	}
	for _, n := range slices.Backward(attempts) {
		entries, err := agents.ReadTranscript(dir, n)
		if err != nil || read > mostOfTalk {
			break
		}
		all[n] = entries
		for _, e := range entries {
			read += len(e.Text)
		}
	}
	return all
}

// Written is what a program is told of pages that were written.
type Written struct {
	Issue string   `json:"issue,omitempty"` // of one run
	File  string   `json:"file"`            // the page to begin with
	Bytes int      `json:"bytes"`           // of that one
	Pages []string `json:"pages,omitempty"` // of each run, in the same folder
}

// SavePage writes a page to a file, whole or not at all. A new one is for its user alone: it has what agents said.
func SavePage(file string, page []byte) error {
	info, err := os.Stat(file)
	switch {
	case err == nil && info.IsDir():
		return exit.Usagef("%s is a folder: name a file in it with -o", file)
	case err == nil && !info.Mode().IsRegular():
		return exit.Usagef("%s is no file that could be replaced: name another one with -o, or - for standard output", file)
	}
	folder := filepath.Dir(file)
	if info, err := os.Stat(folder); err != nil || !info.IsDir() {
		return exit.Usagef("write the page to %s: there is no folder %s: make it first, or name another file with -o", file, folder)
	}
	if err := renameio.WriteFile(file, page, 0o600, renameio.WithTempDir(folder), renameio.WithExistingPermissions()); err != nil {
		return exit.Usagef("write the page to %s: %w: name another file with -o", file, err)
	}
	return nil
}

// Page gives the page of a run, with the transcripts that this machine has.
func Page(ctx context.Context, r *workspace.Recorded) ([]byte, error) {
	return pageWith(ctx, r, transcriptsOf(r))
}
