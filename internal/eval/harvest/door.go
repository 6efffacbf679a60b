package harvest

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
)

// Command is reprise eval init.
func Command(env environ.Env) *cobra.Command {
	var h Harvest
	var asJSON bool
	c := &cobra.Command{
		Use: "init SUITE (--from-run ISSUE | --from-commits N)", Short: "Make cases of what has happened in a repository",
		Long: `Make a case of a run: it begins with the commit that the run began with, and its hidden
files are the tests that its pull request changed, as the default branch has them now or,
if they are not there, as the pull request left them. What only origin has of the run is
fetched. Or make cases of the newest commits that change code and tests: the tests are
hidden, and the message is the issue. Look at what was made; a message that tells the
solution makes an easy case.`,
		Example: "  reprise eval init cases --from-run 7\n  reprise eval init cases --from-commits 20 --check \"go test ./...\"",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("which suite? Give one folder: reprise eval init SUITE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if (h.Run == "") == (h.Commits == 0) || h.Commits < 0 || h.Commits > 1000 {
				return exit.Usagef("of what? Give --from-run ISSUE, or --from-commits N with N from 1 to 1000")
			}
			if h.oneCall() && h.Run == "" {
				return exit.Usagef("--step and --attempt are of a run: give --from-run ISSUE, too")
			}
			if h.Step != "" && h.Attempt != 0 || h.Attempt < 0 {
				return exit.Usagef("--step and --attempt each name a call of the run: give one of them, an attempt by its number")
			}
			h.Suite = args[0]
			made, err := Init(c.Context(), env, h)
			if asJSON {
				return errors.Join(err, text.PrintJSON(env.Stdout, map[string]any{"suite": h.Suite, "cases": text.List(made)}))
			}
			for _, dir := range made {
				_, _ = fmt.Fprintln(env.Stdout, dir)
			}
			if err == nil {
				_, _ = fmt.Fprintf(env.Stdout, "Before you pay for runs, see whether they prove something: reprise eval %s --vet\n", text.QuoteShell(args[0]))
			}
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&h.Repo, "repo", ".", "any folder of the git repository")
	f.StringVar(&h.Run, "from-run", "", "id of the issue of a run")
	f.StringVar(&h.Step, "step", "", "with --from-run: only the last call of `PHASE/STEP`, with the record as it was before")
	f.IntVar(&h.Attempt, "attempt", 0, "with --from-run: only the call with this number; of a review in which a person found something missing, that is expected")
	f.IntVar(&h.Commits, "from-commits", 0, "how many cases to make of the newest commits")
	f.StringVar(&h.Check, "check", "", "command that runs the tests (default: as the run's pipeline or the repository has it)")
	f.BoolVar(&asJSON, "json", false, "print the folders of the cases as JSON")
	return c
}
