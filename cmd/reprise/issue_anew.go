package main

import (
	"context"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// issueNow reads the issue of a run that has begun from where the command line
// says it is.
func (w *workspace) issueNow(ctx context.Context, env environment, o opening) (issue, error) {
	switch {
	case o.file != "":
		return w.given, nil
	case o.url == "" && w.run.IssueURL == "":
		return issue{}, usagef("--refresh-issue: the run did not begin with an issue on GitHub: give the file with --issue-file FILE")
	case w.there == nil:
		return issue{}, usagef("--refresh-issue: issue %s cannot be read from GitHub: %s", w.issue.ID, w.nowhere)
	}
	now, err := w.there.read(ctx, env)
	if err == nil {
		now.hide(env)
		w.removed = now.clean()
	}
	return now, err
}

// takeIssue makes the run go on with an issue as it reads now. The next commit
// takes it along.
func (w *workspace) takeIssue(env environment, now issue, by string) error {
	changed := w.issue.differs(now)
	if changed == "" {
		return usagef("the issue reads as it did when the run took it: edit it first, or leave --refresh-issue out")
	}
	w.notes = append(w.notes, "the issue is taken as it reads now: "+phases.Say("en", changed)+"; what is done stays done, and rollback takes a phase back")
	w.issue.Title, w.issue.Body, w.issue.Labels = now.Title, now.Body, now.Labels
	w.run = phases.TakeIssue(w.run, metadata.Issue{
		Title: now.Title, Labels: now.Labels, Author: w.issue.Author, Digest: now.digest(),
	}, changed, by, env.now())
	w.frozen = map[string][]byte{path.Join(phases.Folder(w.issue.ID), phases.IssueFile): w.issue.markdown()}
	return nil
}

// differs says in a few words what of an issue reads otherwise now, or "".
func (i issue) differs(now issue) metadata.Reason {
	old, new := strings.Split(i.Body, "\n"), strings.Split(now.Body, "\n")
	var all []metadata.Reason
	if i.Title != now.Title {
		all = append(all, metadata.Because("title_changed", "new", now.Title, "old", i.Title))
	}
	if i.Body != now.Body {
		all = append(all, metadata.Because("text_changed", "new", missing(new, old), "gone", missing(old, new)))
	}
	return metadata.All(all...)
}

// missing counts the lines of a text that another has not.
func missing(of, in []string) int {
	has := map[string]int{}
	for _, line := range in {
		has[line]++
	}
	n := 0
	for _, line := range of {
		if has[line]--; has[line] < 0 {
			n++
		}
	}
	return n
}
