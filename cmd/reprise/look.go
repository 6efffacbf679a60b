package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
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

// fetches are the lines of an example that fetch all runs: a clone has their branches and
// not the records that are kept of those whose branch is gone.
const fetches = "  git fetch origin\n  git fetch origin '+refs/reprise/records/*:refs/reprise/records/*'\n"

func listCommand(env environ.Env) *cobra.Command {
	return ofAllRuns(env, &cobra.Command{
		Use: "list", Short: "List all runs, here and on origin",
		Long: `List all runs that have a branch in this repository or on origin, as it was fetched
last, and those whose branch is gone and whose record is kept here; the one that moved
last first: where it stands, its phase, its cost, and how long ago it moved. To see what
is new on origin, fetch first.`,
		Example: fetches + "  reprise list\n  reprise list --json",
	}, "the runs", func(all []runs.Run, asJSON bool) error {
		if asJSON {
			return text.PrintJSON(env.Stdout, map[string]any{"runs": text.List(all)})
		}
		runs.ShowList(env, all)
		return nil
	})
}

func statsCommand(env environ.Env) *cobra.Command {
	return ofAllRuns(env, &cobra.Command{
		Use: "stats", Short: "Show figures of all runs",
		Long: `Show figures of all runs, here and on origin as it was fetched last: which phases fail,
which gates never fail, which mistakes people found after a review had passed, and what
the runs cost.`,
		Example: fetches + "  reprise stats\n  reprise stats --json | jq .missed",
	}, "all figures", func(all []runs.Run, asJSON bool) error {
		t := runs.TallyOf(all)
		if asJSON {
			return text.PrintJSON(env.Stdout, t)
		}
		runs.ShowStats(env, t)
		return nil
	})
}

// ofAllRuns completes a command that shows all runs. If some cannot be read, it shows the others and fails.
func ofAllRuns(env environ.Env, c *cobra.Command, what string, show func(all []runs.Run, asJSON bool) error) *cobra.Command {
	var repo string
	var asJSON bool
	c.RunE = func(c *cobra.Command, _ []string) error {
		src, err := git.Find(c.Context(), repo)
		if err != nil {
			return err
		}
		all, broken := runs.List(c.Context(), env, src, git.KeptRefs)
		if broken != nil && len(all) == 0 {
			return broken
		}
		err = cmp.Or(broken, show(all, asJSON))
		if src.RemoteURL != "" && !asJSON {
			_, _ = fmt.Fprintln(env.Stderr, "reprise: origin is shown as it was fetched last; git fetch origin brings what is new there")
		}
		return err
	}
	repoFlag(c.Flags(), &repo)
	jsonFlag(c, &asJSON, what)
	return c
}

func diffCommand(env environ.Env) *cobra.Command {
	var repo, id string
	var part runs.Part
	c := &cobra.Command{
		Use: "diff [--issue ID] [--phase PHASE | --attempt N]", Short: "Show what a run has changed",
		Long: `Show what a run has changed in the repository, besides its own folder. With --phase
or --attempt it is what the commits of that phase or attempt have changed, with its
artifacts.`,
		Example: "  reprise diff --issue 7\n  reprise diff --issue 7 --phase implementation | git apply --stat\n  reprise diff --issue 7 | git apply",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := workspace.Look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			patches, err := runs.Change(c.Context(), r, part)
			if err != nil {
				return err
			}
			if !slices.ContainsFunc(patches, func(p git.CommitPatch) bool { return p.Text != "" }) {
				_, _ = fmt.Fprintln(env.Stderr, "reprise: nothing was changed, besides the run's own folder")
			}
			runs.ShowChange(terminal.NewReport(env.Stdout, terminal.ShowOptions(env)), patches)
			return nil
		},
	}
	anyIssueFlag(c, &repo, &id)
	c.Flags().StringVar(&part.Phase, "phase", "", "only what the commits of this phase have changed")
	c.Flags().IntVar(&part.Attempt, "attempt", 0, "only what the commit of the attempt with this number has changed")
	return c
}

func logsCommand(env environ.Env) *cobra.Command {
	var repo, id string
	var o runs.LogOptions
	c := &cobra.Command{
		Use: "logs [ISSUE]", Short: "Show what agents have said and done",
		Long: `Show what agents have said and done: what was said, which tool was used on what, and
what came back, in one line. Without a choice it is the newest call of an agent.
Transcripts are kept on the machine that worked on the run, for 14 days or
as long as the pipeline says, with secrets
masked; they are never on the branch. Jobs on GitHub with the input upload have them
in their artifacts: download one, and name its folder transcripts with --from. Jobs that
did parts at the same time each counted attempts for themselves.`,
		Example: "  reprise logs 7 --follow\n  reprise logs 7 --phase design\n  reprise logs 7 --attempt 3 --raw | jq .\n  gh run download 123 --name NAME && reprise logs --from transcripts --all",
		RunE: func(c *cobra.Command, _ []string) (err error) {
			var r *workspace.Recorded
			if id != "" || o.From == "" {
				if r, err = workspace.Look(c.Context(), env, repo, id); err != nil {
					return err
				}
			}
			env, flush := env.Masked()
			defer flush()
			return runs.Logs(c.Context(), env, r, o)
		},
	}
	anyIssueFlag(c, &repo, &id)
	f := c.Flags()
	f.IntVar(&o.Attempt, "attempt", 0, "the attempt with this number (default: the newest)")
	f.StringVar(&o.Phase, "phase", "", "all attempts of this phase")
	f.BoolVar(&o.All, "all", false, "all attempts")
	f.StringVar(&o.From, "from", "", "folder transcripts of a job's artifact that was downloaded (default: what is on this machine)")
	f.BoolVar(&o.Follow, "follow", false, "go on with what comes, until the run ends or waits for a person")
	f.BoolVar(&o.Raw, "raw", false, "as the agent's program has printed it")
	f.BoolVar(&o.Prompts, "prompts", false, "show prompts in full")
	jsonFlag(c, &o.JSON, "each entry on one line")
	return c
}

func verifyCommand(env environ.Env) *cobra.Command {
	var repo, id string
	var asJSON bool
	c := &cobra.Command{
		Use: "verify [REF] [--issue ID]", Short: "Check what is recorded of a run against its statement",
		Long: `Check what is recorded of a run, and the work of REF, a branch, a tag or a commit, against
the statement from the end of the run and the history in git. It needs no network and no
key, names each commit, verdict, check and file that is not as it was, and ends with 0 only
if all holds. Whoever rewrites all of it in the same way is not found.`,
		Example: "  reprise verify --issue 7\n  reprise verify reprise/issue-7 --json | jq .holds\n  reprise verify main --issue 7",
		Args:    func(c *cobra.Command, args []string) error { return oneIssue(c, args[min(1, len(args)):]) },
		RunE: func(c *cobra.Command, args []string) error {
			src, err := git.Find(c.Context(), repo)
			if err != nil {
				return err
			}
			return runs.Verify(c.Context(), env, src, strings.Join(args[:min(1, len(args))], ""), id, asJSON)
		},
	}
	repoFlag(c.Flags(), &repo)
	c.Flags().StringVar(&id, "issue", "", "id of the issue of the run (default: what REF or the checked-out branch says, or the only one)")
	jsonFlag(c, &asJSON, "what was found")
	return c
}

func cleanCommand(env environ.Env) *cobra.Command {
	var repo string
	var o runs.Cleaning
	c := &cobra.Command{
		Use: "clean [--issue ID]", Short: "Remove what runs that are over have left on this machine",
		Long: `Remove the work trees, homes of agents, transcripts and temporary folders of runs that are
completed or cancelled, or whose branch is gone. It lists what would be removed, with sizes,
before it asks. Branches and records stay, so a run that is taken back later finds everything
it needs there, except the sessions of its agents.`,
		Example: "  reprise clean\n  reprise clean --yes",
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Issue != "" && metadata.CheckID(o.Issue) != nil {
				return exit.Usagef("%q is no id of an issue", o.Issue)
			}
			src, err := git.Find(c.Context(), repo)
			if err != nil {
				return err
			}
			return runs.Clean(c.Context(), env, src, o)
		},
	}
	repoFlag(c.Flags(), &repo)
	c.Flags().StringVar(&o.Issue, "issue", "", "only what the run of this issue has left")
	c.Flags().BoolVar(&o.Yes, "yes", false, "remove it without asking")
	jsonFlag(c, &o.JSON, "what there is to remove, and what was removed,")
	return c
}

// jsonFlag adds the flag that has a command speak to programs.
func jsonFlag(c *cobra.Command, to *bool, what string) {
	c.Flags().BoolVar(to, "json", false, "print "+what+" as JSON")
}

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
		out.Line("%s", terminal.Fold(o.says+":", terminal.Width(env.Stdout)))
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
		case (&workspace.Recorded{Env: env, Source: src, Run: r.Record}).AtWork() > 0:
			says, commands = "at work", []string{"reprise status" + of + " --watch"}
		case r.Record.Stop != nil:
			says, commands = text.Words(r.Status)+": "+text.JoinLines(r.Record.Stop.Why.In(prompts.Words("en"))), r.Next[:min(1, len(r.Next))]
		}
		offers = append(offers, offer{fmt.Sprintf("Issue %s, %s: %s", text.Flat(r.Issue), text.Cut(text.Flat(r.Title), 40), says), commands})
	}
	return offers
}
