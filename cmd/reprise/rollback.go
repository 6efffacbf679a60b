package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
)

func rollbackCommand(env environ.Env) *cobra.Command {
	var o rollbackRequest
	c := &cobra.Command{
		Use:   "rollback --issue ID (--to-phase PHASE (--reason TEXT | --reason-file FILE | --interactive) | --auto)",
		Short: "Take a run back to a phase, with a reason",
		Long: `Take a run back to a step of a phase. The reason reaches the next agent, first
thing in its prompt; later phases run again. Nothing is deleted: what later
phases wrote is kept under superseded/, and the history of the branch only grows.
Continue afterwards with: reprise run --issue ID

With --auto an agent, the reviewer of the phase that the run is at, reads the
record and the newest reviews and says where to go back to, and why. If it is
sure, the run is taken back; otherwise the command that does it is printed, and
the exit code is 3. With --reason the agent is told what you have seen; then it is
asked even if there is no open finding and no failed check. What the call costs
counts against the budget of the run.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Auto {
				return rollbackByDiagnosis(c.Context(), env, o, c.Flags().Changed)
			}
			for _, flag := range []string{"agent", "stubs", "sandbox"} {
				if c.Flags().Changed(flag) {
					return exit.Usagef("--%s goes with --auto: without it no agent is asked", flag)
				}
			}
			return rollBack(c.Context(), env, o, c.Flags().Changed("reason"))
		},
	}
	f := c.Flags()
	repoFlag(c, &o.Repo)
	issueFlag(c, &o.Id)
	f.StringVar(&o.To, "to-phase", "", "phase to take the run back to")
	f.StringVar(&o.Step, "to-step", string(metadata.Revise), "step to go on with: execute, review or revise")
	f.StringVar(&o.From, "from-phase", "", "phase the run comes from (default: where it is)")
	f.StringVar(&o.Reason, "reason", "", "why, in at most 10,000 characters; with --auto: what you have seen, if anything")
	f.StringVar(&o.ReasonFile, "reason-file", "", "file that says why, at most 100 KB")
	f.BoolVar(&o.Interactive, "interactive", false, "type the reason")
	f.BoolVar(&o.Restore, "restore", false, "also take the code back to what it was when the phase ended")
	f.BoolVar(&o.Force, "force", false, "do not ask")
	f.BoolVar(&o.Dry, "dry-run", false, "show what would change, and change nothing (with --auto: but what the call costs is recorded)")
	f.BoolVar(&o.Auto, "auto", false, "let an agent find out whether to go back, where to, and why")
	f.StringVar(&o.Agent, "agent", "", "with --auto: agent to ask (default: the reviewer of the phase that the run is at)")
	f.StringVar(&o.Stubs, "stubs", "", "with --auto: file of scripted answers, for the rehearsal agent")
	sandboxFlag(f, &o.Sandbox)
	pushFlag(f, &o.Push)
	f.BoolVar(&o.JSON, "json", false, "print what changed as one JSON object")
	return c
}
