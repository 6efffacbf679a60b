package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/legacy"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases/engine"
)

func importCommand(env environ.Env) *cobra.Command {
	var o legacy.Options
	var push bool
	c := &cobra.Command{
		Use:   "import --issue ID [--from BRANCH]",
		Short: "Take over a run of ai-workflow-agent, to go on with it here",
		Long: `Take over a run of ai-workflow-agent, which has its record in
.ai-workflow/issue-N/metadata.json, as a run of the pipeline full on the branch reprise/issue-N. That branch starts where
the older one ends, so the work is there; the older branch stays as it is. What is
completed stays so if its artifact is there, with times, verdicts, cost, and the comment
and pull request on GitHub. Other phases are done anew, and told why they were sent back.

Without --from, the run is looked for on ai-workflow/issue-N. The older
record has no text of the issue: it is read from GitHub, or from --issue-file.`,
		Example: `  reprise import --issue 7 --dry-run
  reprise import --issue 10 --from feature/cheese --issue-file issue.md`,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("push") {
				o.Push = &push
			}
			return runImport(c.Context(), env, o)
		},
	}
	f := c.Flags()
	issueFlag(c, &o.Repo, &o.Id)
	f.StringVar(&o.Branch, "from", "", "branch that has the older run, here or on origin (default: ai-workflow/issue-N)")
	f.StringVar(&o.Text, "issue-file", "", "Markdown file with the issue, as run takes it")
	f.StringVar(&o.Language, "language", "", "language of artifacts and comments: en or ja (default: the older run's, else the pipeline's)")
	f.BoolVar(&push, "push", false, "push the new branch, and every later commit, to origin (default: it stays here)")
	f.BoolVar(&o.Dry, "dry-run", false, "show what would be taken over, and change nothing")
	f.BoolVar(&o.Json, "json", false, "print what was taken over as one JSON object")
	return c
}

// runImport takes a run over and tells what became of it.
func runImport(ctx context.Context, env environ.Env, o legacy.Options) (err error) {
	if err := o.Check(); err != nil {
		return err
	}
	src, err := git.Find(ctx, o.Repo)
	if err != nil {
		return err
	}
	old, err := o.Find(ctx, env, src)
	if err != nil {
		return err
	}
	is, err := o.IssueOf(ctx, env, src, old)
	if err != nil {
		return err
	}
	o.Given, o.Pipeline, o.Scratch = &is, "full", o.Dry
	if o.Base = old.Base; o.Language == "" {
		o.Language = old.Language
	}
	w, err := workspace.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if !w.Fresh {
		return legacy.Already(is.ID, w.Branch)
	}
	if err := old.TakeOver(w); err != nil {
		return err
	}
	if !o.Dry {
		e, err := w.Engine(o.Options, engine.Quiet{})
		if err != nil {
			return err
		}
		if err := e.Begin(ctx, w.Run); err != nil {
			return err
		}
	}
	runSession{w, runOptions{Options: o.Options}}.introduce()
	warnOfSteering(w)
	return legacy.Tell(old, o, w)
}
