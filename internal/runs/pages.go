package runs

import (
	"bytes"
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
	name := cmp.Or(src.GitHub, filepath.Base(src.Dir))
	index, failed := report.Index{Repository: name, At: env.Now()}, []error{broken}
	write := func(name string, page []byte) error { return SavePage(filepath.Join(dir, name), page) }
	for _, r := range all {
		page, err := pageOf(ctx, env, src, r)
		if err == nil {
			err = write("issue-"+r.Issue+".html", page)
		}
		one := report.Indexed{Run: r.Record}
		if err == nil {
			one.Page = "issue-" + r.Issue + ".html"
			out.Pages = append(out.Pages, one.Page)
		} else {
			failed = append(failed, fmt.Errorf("issue %s: %w", r.Issue, err))
		}
		index.Runs = append(index.Runs, one)
	}
	var page bytes.Buffer
	err = report.WriteIndex(&page, index)
	if err == nil {
		err = write("index.html", page.Bytes())
	}
	if err == nil {
		out.File, out.Bytes = filepath.Join(dir, "index.html"), page.Len()
	}
	return out, errors.Join(append(failed, err)...)
}

// pageOf gives the page of a run in a list.
func pageOf(ctx context.Context, env environ.Env, src *git.Source, listed Run) ([]byte, error) {
	r := &workspace.Recorded{Env: env, Source: src, Issue: issue.Issue{ID: listed.Issue}, Run: listed.Record}
	at := listed.Branch
	if len(listed.Where) == 0 {
		at = workspace.KeptRef(listed.Issue)
	}
	course, err := phases.Read(listed.Issue, at, workspace.RecordReader(ctx, src, at, listed.Issue))
	if err != nil {
		return nil, err
	}
	r.Plan = course.Plan
	return pageWith(ctx, r, nil)
}

// pageWith gives the page of a run with transcripts, by the numbers of their attempts.
func pageWith(ctx context.Context, r *workspace.Recorded, transcripts map[int][]agents.Entry) ([]byte, error) {
	facts, err := factsOf(ctx, r)
	if err != nil {
		return nil, err
	}
	facts.Transcripts = transcripts
	var page bytes.Buffer
	err = report.Write(&page, facts)
	return page.Bytes(), err
}

// factsOf reads what the page of a run tells besides transcripts.
func factsOf(ctx context.Context, r *workspace.Recorded) (report.Facts, error) {
	facts := report.Facts{Plan: r.Plan, Run: r.Run, Issue: r.Issue.Body, At: r.Env.Now()}
	patches, err := r.Patches(ctx, workspace.AttemptTrailer)
	if errors.Is(err, fs.ErrNotExist) {
		facts.NoChanges = true
		return facts, nil
	}
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
	return facts, err
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
		read += sizeOf(entries)
		all[n] = entries
	}
	return all
}

// sizeOf is how much text a transcript has, in bytes.
func sizeOf(entries []agents.Entry) (n int) {
	for _, e := range entries {
		n += len(e.Text)
	}
	return n
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
