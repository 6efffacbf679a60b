package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
)

// steerCommands are the commands that change where a run stands and then end:
// "reprise run" continues the run.
func steerCommands(env environ.Env) []*cobra.Command {
	return steersWith(func(c *cobra.Command, s steerRequest) error { return steerRun(c.Context(), env, s) })
}

// steersWith gives the same commands, each of which calls do.
func steersWith(do func(*cobra.Command, steerRequest) error) []*cobra.Command {
	return []*cobra.Command{
		steerCommand(do, "approve --issue ID [--phase PHASE] [--commit HASH]", "Approve a phase as it stands now",
			`Approve the phase that the run waits at. Any later change of the
phase voids the approval. With --commit it is approved only if it has not changed
since that commit.`, func(c *cobra.Command, s *steerRequest) {
				c.Flags().StringVar(&s.Phase, "phase", "", "phase to approve (default: the one that waits)")
				c.Flags().StringVar(&s.Commit, "commit", "", "the commit that you have looked at")
			}),
		steerCommand(do, "answer --issue ID [--question ID] --text TEXT", "Answer a question that a run has asked",
			`Answer a question. The agent goes on in its session where there is one.`, func(c *cobra.Command, s *steerRequest) {
				c.Flags().StringVar(&s.Question, "question", "", "id of the question, such as q1 (default: the only one that is open)")
				c.Flags().StringVar(&s.Text, "text", "", "the answer")
			}),
		steerCommand(do, "skip --issue ID --phase PHASE --reason TEXT", "Leave a phase out, with a reason",
			`Leave a phase out. A phase that a later one needs cannot be left out.`, func(c *cobra.Command, s *steerRequest) {
				c.Flags().StringVar(&s.Phase, "phase", "", "phase to leave out")
				c.Flags().StringVar(&s.Text, "reason", "", "why, in at most 10,000 characters")
			}),
		steerCommand(do, "finish --issue ID [--squash]", "Take the folder of a completed run off its branch",
			`Take the folder of a completed run off its branch, so that a merge brings the work
alone. With --squash the branch becomes one commit with the title of the pull
request. The record, and all commits that were there, are kept at
refs/reprise/records/issue-ID. What is pushed reaches the pull request: CI starts
again on the new commit. The pull request itself stays as it is, and so a draft
stays a draft: the job on GitHub makes it ready, when the run is completed there.`, func(c *cobra.Command, s *steerRequest) {
				c.Flags().BoolVar(&s.Squash, "squash", false, "make one commit of the branch")
			}),
		steerCommand(do, "pause --issue ID [--reason TEXT]", "Pause a run; `reprise run` continues it",
			`Pause a run, even if another process on this machine is at work on it. The step
under way is ended, and what it had changed is kept as a patch.`, func(c *cobra.Command, s *steerRequest) {
				c.Flags().StringVar(&s.Text, "reason", "", "why")
			}),
		steerCommand(do, "cancel --issue ID [--reason TEXT]", "End a run; what is committed stays",
			`End a run, even if another process on this machine is at work on it. The step
under way is ended, and what it had changed is kept as a patch.`, func(c *cobra.Command, s *steerRequest) {
				c.Flags().StringVar(&s.Text, "reason", "", "why")
			}),
	}
}

func steerCommand(do func(*cobra.Command, steerRequest) error, use, short, long string, flags func(*cobra.Command, *steerRequest)) *cobra.Command {
	s := &steerRequest{}
	c := &cobra.Command{Use: use, Short: short, Long: long}
	s.Name = c.Name()
	c.RunE = func(c *cobra.Command, _ []string) error { return do(c, *s) }
	repoFlag(c, &s.Repo)
	issueFlag(c, &s.Id)
	pushFlag(c.Flags(), &s.Push)
	jsonFlag(c, &s.JSON, "the state that the run is in then")
	flags(c, s)
	return c
}
