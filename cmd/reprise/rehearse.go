package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// showRehearsal prints what a dry run would have left behind: the commits, the
// comment, and the issues. Trigger is the label that starts a run.
func showRehearsal(ctx context.Context, w *workspace.Workspace, out io.Writer, run metadata.Run, trigger string) error {
	log, err := w.Repo.Log(context.WithoutCancel(ctx), run.BaseCommit)
	if err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "\nCommits on %s (oldest first):\n\n", run.BranchName)
	for i := len(log) - 1; i >= 0; i-- {
		lead := fmt.Sprintf("  %.12s  ", log[i].Commit)
		_, _ = fmt.Fprintf(out, "%s%s\n", lead, terminal.Hanging(log[i].Subject, len(lead), terminal.Width(out)))
	}
	_, _ = fmt.Fprintf(out, "\nThe comment on the issue would read:\n\n%s\n", page.WithoutState(page.Comment(w.Plan, run, page.Links{})))
	for _, i := range wouldOpen(w, run, trigger) {
		_, _ = fmt.Fprintf(out, "%s would be opened:\n\n%s\n", text.Join(" ", "An issue", text.Prefixed("with the labels ", strings.Join(text.FlatAll(i.Labels), ", "))), "# "+i.Title+"\n\n"+i.Body)
	}
	return nil
}

// wouldOpen gives the issues that a run would open on GitHub as it stands.
func wouldOpen(w *workspace.Workspace, run metadata.Run, trigger string) []page.ChildIssue {
	var all []page.ChildIssue
	for _, child := range phases.ToOpen(w.Plan, run) {
		all = append(all, page.NewChildIssue(run, child, trigger))
	}
	if left := page.NewFollowUp(run, run.Issue.Labels, trigger); left != nil && run.Status == metadata.Completed {
		all = append(all, *left)
	}
	return all
}
