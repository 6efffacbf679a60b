package eval

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
)

// initCommand is reprise eval init.
func initCommand(env environ.Env) *cobra.Command {
	var h harvester
	var asJSON bool
	c := &cobra.Command{
		Use: "init SUITE --from-run ISSUE", Short: "Make a case of a run that has happened in a repository",
		Long: `Make a case of a run: it begins with the commit that the run began with, and its hidden
files are the tests that its pull request changed, as the default branch has them now or,
if they are not there, as the pull request left them. What only origin has of the run is
fetched. Look at what was made: an issue that tells the solution makes an easy case.`,
		Example: "  reprise eval init cases --from-run 7\n  reprise eval init cases --from-run 7 --step implementation/review",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return exit.Usagef("which suite? Give one folder: reprise eval init SUITE")
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error {
			if h.Run == "" {
				return exit.Usagef("of what? Give --from-run ISSUE")
			}
			if h.Step != "" && h.Attempt != 0 || h.Attempt < 0 {
				return exit.Usagef("--step and --attempt each name a call of the run: give one of them, an attempt by its number")
			}
			made, err := h.make(c.Context(), env, args[0])
			if err != nil {
				return err
			}
			if asJSON {
				return text.PrintJSON(env.Stdout, map[string]any{"suite": args[0], "cases": []string{made}})
			}
			_, err = fmt.Fprintf(env.Stdout, "%s\nBefore you pay for runs, see whether it proves something: reprise eval %s --vet\n", made, text.QuoteShell(args[0]))
			return err
		},
	}
	f := c.Flags()
	f.StringVar(&h.Repo, "repo", ".", "any folder of the git repository")
	f.StringVar(&h.Run, "from-run", "", "id of the issue of a run")
	f.StringVar(&h.Step, "step", "", "with --from-run: only the last call of `PHASE/STEP`, with the record as it was before")
	f.IntVar(&h.Attempt, "attempt", 0, "with --from-run: only the call with this number; of a review in which a person found something missing, that is expected")
	f.StringVar(&h.Check, "check", "", "command that runs the tests (default: as the run's pipeline or the repository has it)")
	f.BoolVar(&asJSON, "json", false, "print the folders of the cases as JSON")
	return c
}
