package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// offer is something that can be done in a repository, with the commands for it.
type offer struct {
	says     string
	commands []string
}

// mostOffered is how many lines of offers fit below a command without hiding it.
const mostOffered = 9

// showHere says what can be done in the repository of the current folder; outside of one it is the help.
func showHere(c *cobra.Command, env environ.Env) error {
	src, err := git.Find(c.Context(), ".")
	var unborn *git.NoCommits
	var offers []offer
	switch {
	case errors.As(err, new(*git.NotARepository)):
		return c.Help()
	case errors.As(err, &unborn):
		src, err = &git.Source{Dir: unborn.Dir}, nil
		offers = []offer{{"A run begins from a commit, and there is none yet", []string{"git add --all && git commit"}}}
	case err != nil:
		return err
	default:
		var all []runs.Run
		all, err = runs.List(c.Context(), env, src)
		offers = ofRuns(c.Context(), env, src, all)
	}
	if len(offers) == 0 {
		if _, none := os.Stat(filepath.Join(src.Dir, setup.PipelinesDir)); none != nil {
			offers = []offer{{"There are no pipelines of this repository. Write them, with the checks that are found", []string{"reprise init --local"}}}
		}
		offers = append(offers, offer{"No run is under way. Rehearse one, with an issue in issue.md", []string{"reprise run --dry-run --issue-file issue.md"}})
	}
	out, left := terminal.NewReport(env.Stdout, terminal.ShowOptions(env)), mostOffered
	for i, o := range offers {
		if left -= 1 + len(o.commands); left < 0 {
			out.Line("There are %d more: reprise list", len(offers)-i)
			break
		}
		out.Line("%s:", text.Cut(o.says, max(0, terminal.Width(env.Stdout)-1)))
		for _, command := range o.commands {
			out.Line("  %s", command)
		}
	}
	out.Line("\nAll commands: reprise help")
	return err
}

// ofRuns gives what can be done about runs: first where a person is waited for, last what is completed and not merged.
func ofRuns(ctx context.Context, env environ.Env, src *git.Source, all []runs.Run) (offers []offer) {
	order := []metadata.Status{metadata.Waiting, metadata.Failed, metadata.Interrupted, metadata.Running, metadata.Completed}
	slices.SortStableFunc(all, func(a, b runs.Run) int {
		return cmp.Compare(slices.Index(order, a.Status), slices.Index(order, b.Status))
	})
	for _, r := range all {
		of := " --issue " + text.Flat(r.Issue)
		says, commands := "begun, and no process here works on it", []string{"reprise run" + of}
		switch {
		case r.Status == metadata.Cancelled, r.Status == metadata.Completed && src.Merged(ctx, r.Branch):
			continue
		case r.Status == metadata.Completed:
			says, commands = "completed", view.EndCommands(r.Record)[:2]
		case (&workspace.Recorded{Source: src, Run: r.Record}).AtWork(env) > 0:
			says, commands = "at work", []string{"reprise status" + of + " --watch"}
		case r.Record.Stop != nil:
			says, commands = text.Words(r.Status)+": "+text.JoinLines(r.Record.Stop.Why.In(prompts.Words("en"))), r.Next[:min(1, len(r.Next))]
		}
		offers = append(offers, offer{fmt.Sprintf("Issue %s, %s: %s", text.Flat(r.Issue), text.Cut(text.Flat(r.Title), 40), says), commands})
	}
	return offers
}
