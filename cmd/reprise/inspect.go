package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

func statusCommand(env environ.Env) *cobra.Command {
	var repo, id, open string
	var s runs.Sought
	var watch bool
	c := &cobra.Command{
		Use: "status [--issue ID] [--watch | --open[=WHAT]]", Short: "Show where a run is, and what it waits for",
		Long: `Show where a run is, and what it waits for. Without --issue it is the run whose
branch is checked out, or the only one there is; if there are several, they are
listed.

With --watch, follow a run that another process or another machine works on, until it
ends or waits for a person: the status, drawn anew whenever something has changed, or,
where the output is no terminal, a line for each change. A run that is pushed is followed
on origin, too. The exit code is that of reprise run.

With --open, print the path or the address of a part of a run: its pull request, or its
report if there is no pull request yet; or what is named: its newest artifact, or that of
a phase; its branch; its issue; its pull request; or its report, which is then written. On a
terminal, reprise also opens it with the program of the desktop, if it is a web page,
Markdown, JSON or plain text.`,
		Example: `  reprise status
  reprise status --issue 7 --watch
  reprise status --issue 7 --watch --json | jq -r .phase
  reprise status --issue 7 --open
  less "$(reprise status --issue 7 --open=artifact --phase design)"`,
		RunE: func(c *cobra.Command, _ []string) error {
			opens := c.Flags().Changed("open")
			switch {
			case watch && opens:
				return exit.Usagef("--watch and --open each show a run in their own way: give one of them")
			case s.Phase != "" && !opens:
				return exit.Usagef("--phase names the artifact that --open=artifact opens")
			case watch:
				return runs.Follow(c.Context(), env, repo, id, s.JSON)
			}
			r, err := workspace.Look(c.Context(), env, repo, id)
			if several, are := errors.AsType[workspace.AmbiguousRun](err); are && !opens {
				return runs.ShowSeveral(c.Context(), env, several, s.JSON)
			}
			if err != nil {
				return err
			}
			if opens {
				if open != "page" {
					s.What = open
				}
				return runs.Open(c.Context(), r, s)
			}
			return showStatus(c.Context(), r, s.JSON)
		},
	}
	anyIssueFlag(c, &repo, &id)
	jsonFlag(c, &s.JSON, "the state, or with --watch each state on a line, or with --open what it is and where it is")
	c.Flags().BoolVar(&watch, "watch", false, "follow the run until it ends or waits for a person")
	c.Flags().StringVar(&open, "open", "", "print where a part of the run is, and open it: `WHAT` is page, which is the pull request or else the report, or "+strings.Join(runs.Places(), ", "))
	c.Flags().Lookup("open").NoOptDefVal = "page"
	c.Flags().StringVar(&s.Phase, "phase", "", "with --open=artifact: the phase whose artifact it is")
	return c
}

func showStatus(ctx context.Context, r *workspace.Recorded, asJSON bool) error {
	standing, near := bot.BaseStanding(ctx, r.Source, r.Run), workspace.SameFiles(ctx, r.Env, r.Source, r.Run)
	if asJSON {
		result := view.Result(phases.On(r.Plan, r.Run))
		if result.Base = standing.In(prompts.Words("en")); result.Base != "" && r.Run.Status == metadata.Completed {
			result.Next = append(result.Next, view.UpdateCommand(r.Run))
		}
		result.Near = near.In(prompts.Words("en"))
		return text.PrintJSON(r.Env.Stdout, result)
	}
	o := terminal.ShowOptions(r.Env)
	o.Standing, o.Near, o.Worker = standing, near, r.AtWork()
	o.Merged = r.Gone || r.Source.Merged(ctx, r.Run.BranchName)
	terminal.ShowStatus(r.Env.Stdout, phases.On(r.Plan, r.Run), o)
	return nil
}

func historyCommand(env environ.Env) *cobra.Command {
	var repo, id string
	var asJSON bool
	c := &cobra.Command{
		Use: "history [--issue ID]", Short: "Show every attempt, decision and rollback of a run",
		Example: "  reprise history --issue 7\n  reprise history --issue 7 --json | jq .rollbacks",
		RunE: func(c *cobra.Command, _ []string) error {
			r, err := workspace.Look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			if asJSON {
				return text.PrintJSON(env.Stdout, runs.History(r.Run))
			}
			terminal.ShowHistory(env.Stdout, r.Run, terminal.ShowOptions(env))
			return nil
		},
	}
	anyIssueFlag(c, &repo, &id)
	c.Flags().BoolVar(&asJSON, "json", false, "print the history as one JSON object")
	return c
}

func reportCommand(env environ.Env) *cobra.Command {
	var repo, id, file string
	var all, asJSON bool
	c := &cobra.Command{
		Use: "report [--issue ID] [-o FILE]", Short: "Write a page about a run as one HTML file",
		Long: `Write a page about a run as one HTML file: where it is and what to do next, a
timeline, every attempt with its diff, findings, checks, rollbacks, decisions of
people, what agents have said and done, and what it cost. The page needs no script
and loads nothing, so it can be opened, kept and sent anywhere.

With --all it is a page of all runs here and on origin, with their costs, times and
rollbacks by phase, and a page of each without transcripts, in a folder.

What was said in jobs on GitHub is in their artifacts, which logs --from shows.

A file that is there is replaced, whole or not at all.`,
		Example: `  reprise report --issue 7
  reprise report --issue 7 -o run.html
  reprise report -o - >run.html
  git fetch origin
  git fetch origin '+refs/reprise/records/*:refs/reprise/records/*'
  reprise report --all -o site`,
		RunE: func(c *cobra.Command, _ []string) error {
			if all {
				return reportAll(c.Context(), env, repo, id, file, asJSON)
			}
			if asJSON && file == "-" {
				return exit.Usagef("-o - writes the page to standard output, where --json says what was written: name a file")
			}
			r, err := workspace.Look(c.Context(), env, repo, id)
			if err != nil {
				return err
			}
			page, err := runs.Page(c.Context(), r)
			if err != nil {
				return err
			}
			if file == "-" {
				_, err = env.Stdout.Write(page)
				return text.Unread(err)
			}
			file = cmp.Or(file, "reprise-issue-"+r.Issue.ID+".html")
			if err := runs.SavePage(file, page); err != nil {
				return err
			}
			if asJSON {
				return text.PrintJSON(env.Stdout, runs.Written{Issue: r.Issue.ID, File: file, Bytes: len(page)})
			}
			_, err = fmt.Fprintf(env.Stdout, "Wrote %s (%d kB)\n", file, (len(page)+999)/1000)
			return err
		},
	}
	anyIssueFlag(c, &repo, &id)
	c.Flags().StringVarP(&file, "output", "o", "", "file to write; - is standard output (default: reprise-issue-ID.html in this folder)")
	c.Flags().BoolVar(&all, "all", false, "write pages of all runs into the folder that -o names (default: reprise-runs)")
	jsonFlag(c, &asJSON, "which files were written")
	return c
}

func reportAll(ctx context.Context, env environ.Env, repo, id, dir string, asJSON bool) error {
	if id != "" || dir == "-" {
		return exit.Usagef("--all writes the pages of all runs into a folder: leave --issue out, and name a folder with -o")
	}
	src, err := git.Find(ctx, repo)
	if err != nil {
		return err
	}
	written, err := runs.WritePages(ctx, env, src, cmp.Or(dir, "reprise-runs"))
	switch {
	case written.File == "":
		return err
	case asJSON:
		return errors.Join(err, text.PrintJSON(env.Stdout, written))
	}
	_, said := fmt.Fprintf(env.Stdout, "Wrote %s, and the pages of %s\n", written.File, text.Plural(len(written.Pages), "run"))
	return errors.Join(err, said)
}
