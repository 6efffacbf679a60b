package main

import (
	"context"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/runs"
)

func workCommand(env environ.Env) *cobra.Command {
	var labels []string
	var search, until string
	var push *bool
	w := runs.Worker{Env: env, Jobs: max(1, min(4, runtime.NumCPU()/2))}
	c := &cobra.Command{
		Use: "work (FOLDER | --label LABEL | --query QUERY) [-- FLAGS OF RUN]", Short: "Work on many issues, several at a time",
		Long: `Take issues from a folder of issue files, or from GitHub, and start or continue the run
of each, several at a time, until there is nothing left to do. What waits for a person
stays; reprise list shows it.

There is no state besides the records of the runs: it may be killed and started again
anywhere. Where runs are pushed, several machines share the work.

An issue with the label P1 or "priority: high", or with priority: 1 in its front matter,
comes first. One that is blocked by others on GitHub, or has depends_on: [ID] in its front
matter, waits until those are closed or merged.`,
		Example: "  reprise work issues --jobs 4\n  reprise work --label ready --watch --usd 50 --until 07:00\n  reprise work issues -- --pipeline fix --agent claude",
		RunE: func(c *cobra.Command, args []string) (err error) {
			named, given := args, []string(nil)
			if at := c.ArgsLenAtDash(); at >= 0 {
				named, given = args[:at], args[at:]
			}
			run := runCommand(env)
			if w.Args = given; run.ParseFlags(given) != nil || run.Flags().NArg() > 0 {
				return exit.Usagef("after -- are flags of reprise run, and not: %s", strings.Join(given, " "))
			}
			for _, name := range []string{"all", "dry-run", "issue", "issue-file", "repo"} {
				if run.Flags().Changed(name) {
					return exit.Usagef("after -- are flags for the run of each issue, and --%s is for a command of its own: reprise run --%[1]s", name)
				}
			}
			if w.Until, err = untilTime(until, env.Now()); err != nil {
				return err
			}
			switch {
			case w.Jobs < 1 || w.Jobs > 32:
				return exit.Usagef("--jobs %d is not 1 to 32", w.Jobs)
			case c.Flags().Changed("usd") && !(w.USD > 0 && w.USD < 1e9):
				return exit.Usagef("--usd %g is no amount of money", w.USD)
			}
			switch online := len(labels) > 0 || search != ""; {
			case len(named) > 1, len(named) == 1 && online, len(labels) > 0 && search != "":
				return exit.Usagef("which issues? Give one folder, or --label, or --query")
			case len(named) == 1:
				w.Queue, w.Pushes = runs.FolderQueue(env, named[0]), push != nil && *push
			case !online:
				return exit.Usagef("which issues? Give a folder of issue files, --label LABEL or --query QUERY; runs that were interrupted go on with: reprise run --all")
			default:
				src, err := git.Find(c.Context(), w.Repo)
				if err != nil {
					return err
				}
				w.Pushes = push == nil || *push
				if w.Queue, err = runs.ForgeQueue(env, src, labels, search); err != nil {
					return err
				}
			}
			if push != nil {
				w.Args = append(w.Args, map[bool]string{true: "--push", false: "--push=false"}[*push])
			}
			return work(c.Context(), &w)
		},
		Args: cobra.ArbitraryArgs,
	}
	f := c.Flags()
	f.StringArrayVar(&labels, "label", nil, "open issues with this `LABEL`; of several an issue has to have all")
	f.StringVar(&search, "query", "", "open issues that GitHub finds by `QUERY`, such as \"label:bug no:assignee\"")
	f.BoolVar(&w.Watch, "watch", false, "go on as long as it is not stopped, with issues that come")
	f.StringVar(&until, "until", "", "stop all runs at the `TIME` of the clock, such as 07:00")
	repoFlag(f, &w.Repo)
	pushFlag(f, &push)
	f.IntVar(&w.Jobs, "jobs", w.Jobs, "`N` runs at a time")
	f.Float64Var(&w.USD, "usd", 0, "stop when all runs together have cost this much, in US `DOLLARS`; what calls under way cost comes on top")
	f.BoolVar(&w.JSON, "json", false, "print each change of an issue as one line of JSON, and what came of all")
	return c
}

// runAll goes on with the runs that stopped in the middle.
func runAll(c *cobra.Command, env environ.Env, o runOptions) error {
	w := runs.Worker{Env: env, Repo: o.Repo, Jobs: max(1, o.Jobs), JSON: o.json, Pushes: true, Queue: runs.BegunQueue(env, o.Repo)}
	c.Flags().Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "all", "repo", "jobs", "json", "no-input":
		case "sandbox", "trust-branch":
			w.Args = append(w.Args, "--"+f.Name+"="+f.Value.String())
		default:
			w.Queue = nil
		}
	})
	if w.Queue == nil {
		return exit.Usagef("--all takes each run as it was begun: of the other flags it takes --repo, --jobs, --json, --sandbox and --trust-branch")
	}
	return work(c.Context(), &w)
}

// work has a worker work. What it prints is masked.
func work(ctx context.Context, w *runs.Worker) error {
	var flush func()
	w.Env, flush = w.Env.Masked()
	defer flush()
	return w.Work(ctx)
}

// untilTime gives when a time of the clock comes next.
func untilTime(said string, now time.Time) (time.Time, error) {
	if said == "" {
		return time.Time{}, nil
	}
	at, err := time.Parse("15:04", said)
	if err != nil {
		return at, exit.Usagef("--until %q is no time such as 07:00", said)
	}
	now = now.Local()
	next := time.Date(now.Year(), now.Month(), now.Day(), at.Hour(), at.Minute(), 0, 0, time.Local)
	if !next.After(now) {
		next = next.AddDate(0, 0, 1)
	}
	return next, nil
}
