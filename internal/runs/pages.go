package runs

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

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
	all, broken := Every(ctx, env, src)
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
	r := &workspace.Recorded{Source: src, Issue: issue.Issue{ID: listed.Issue}, Run: listed.Record}
	var err error
	at := listed.Branch
	if len(listed.Where) == 0 {
		at = workspace.KeptRef(listed.Issue)
	}
	r.Plan, _, err = phases.Read(listed.Issue, at, workspace.RecordReader(ctx, src, at, listed.Issue))
	if err != nil {
		return nil, err
	}
	facts, err := Facts(ctx, env, r)
	if err != nil {
		return nil, err
	}
	facts.Transcripts = nil
	var page bytes.Buffer
	err = report.Write(&page, facts)
	return page.Bytes(), err
}
