package eval

import (
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
)

// Command is reprise eval.
func Command(env environ.Env) *cobra.Command {
	var o options
	var asJSON bool
	var junit string
	c := &cobra.Command{
		Use: "eval SUITE", Short: "Find out how well pipelines, prompts and agents work",
		Long: `Run every case of a suite (a folder) with each of its variants. The report says how many
were solved, the confidence interval of that share, what they cost, and whether one variant
is measurably better. A case is judged by what it expects, and by checks and files that no
agent sees before it has ended.

Each run is one of reprise run in a repository of its own. Finished runs are kept, so the
same command continues where it was stopped; --budget-usd counts the finished runs, too. A
case whose checks pass before the work proves nothing, and is refused.

With --review the cases that are a review of accepted work are run as they are and with
each of their mutations planted. A defect counts as found if the review refuses the work and
names the file, and the line if it names any. Refusing the unchanged work is a false alarm.

The exit code is 0 if every run is solved, 1 if not, 2 for a mistake in the suite, and 4 if
the budget ended first.`,
		Example: "  reprise eval examples/eval --variants scripted\n  reprise eval SUITE --variants a,b --runs 5 --jobs 4 --budget-usd 20\n  reprise eval SUITE --case add-flag --fresh --json",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("which suite? Give one folder with a %s: reprise eval SUITE", suiteFile)
			}
			return nil
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return nil, cobra.ShellCompDirectiveFilterDirs
		},
		RunE: func(c *cobra.Command, args []string) error {
			if o.Runs < 0 || o.Runs > 1000 || o.Jobs < 1 || o.Jobs > 64 {
				return exit.Usagef("--runs is from 1 to 1000, and --jobs from 1 to 64")
			}
			if o.Review && junit != "" {
				return exit.Usagef("what reviews are worth has no JUnit; --json has all of it")
			}
			env, flush := env.Masked()
			defer flush()
			report, err := evaluate(c.Context(), env, args[0], o)
			if report == nil {
				if err == nil {
					_, _ = fmt.Fprintln(env.Stdout, "The suite has no mistakes, and each case proves something.")
				}
				return err
			}
			if err := tell(env, *report, asJSON, junit); err != nil {
				return err
			}
			return errors.Join(err, ending(*report, err))
		},
	}
	f := c.Flags()
	f.SortFlags = false // they are in groups, see flagTitles of the command line
	f.StringSliceVar(&o.Cases, "case", nil, "cases of the suite, separated by commas (default: all)")
	f.StringSliceVar(&o.Variants, "variants", nil, "variants of the suite, separated by commas (default: all)")
	f.IntVar(&o.Runs, "runs", 0, "runs of each case with each variant (default: as the suite says, or 1)")
	f.IntVar(&o.Jobs, "jobs", 1, "runs at once")
	f.Func("budget-usd", "money in `USD` that all runs together may spend, those of earlier starts among them (default: no limit but each run's own)", func(text string) (err error) {
		o.USD, err = command.Dollars(text)
		return err
	})
	f.StringVar(&o.Sandbox, "sandbox", string(sandbox.BestEffort), "sandbox around agents and checks: required, best-effort or off")
	f.BoolVar(&o.Vet, "vet", false, "only check the suite, and look at its cases as they are before the work")
	f.BoolVar(&o.Review, "review", false, "plant defects in accepted work, and say which reviews find them")
	f.StringVar(&o.Results, "results", "", "folder where results are kept (default: one for this suite, beside the runs on this machine)")
	f.BoolVar(&o.Fresh, "fresh", false, "forget earlier results")
	f.BoolVar(&asJSON, "json", false, "print the results as JSON")
	f.StringVar(&junit, "junit", "", "file to write the results to as JUnit does")
	return c
}

// tell prints a report.
func tell(env environ.Env, r report, asJSON bool, junit string) error {
	if junit != "" {
		if err := os.WriteFile(junit, []byte(r.junit()), 0o600); err != nil {
			return exit.AsUsage(err)
		}
	}
	if asJSON {
		return text.PrintJSON(env.Stdout, r)
	}
	r.show(terminal.NewReport(env.Stdout, terminal.ShowOptions(env)))
	return nil
}

// ending is the exit code that a report comes to, unless an error has one.
func ending(r report, err error) error {
	good := r.allSolved()
	if r.Reviews != nil {
		good = r.Missing == 0 && !slices.ContainsFunc(r.Reviews, func(w worth) bool { return len(w.Silent) > 0 })
	}
	switch {
	case err != nil:
		return nil
	case r.Short:
		return exit.Code(exit.Budget)
	case !good:
		return exit.Code(exit.Failed)
	}
	return nil
}
