package main

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

func runCommand(env environ.Env) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run (--issue-file FILE | --issue URL | --issue ID)",
		Short: "Start or continue the run of an issue",
		Long: `Start the run of an issue, or continue it where it is.

The work happens in a tree of its own on the branch reprise/issue-ID; your
checkout, index and stash are never touched. Every step is one commit that has
the work and the record of the run.

An issue comes from a file, or from GitHub: by its address, or by its number if
origin is there. What is private needs a token in GITHUB_TOKEN. A run of an issue
on GitHub pushes its branch to origin unless --push=false says otherwise.

With --dry-run the whole pipeline runs with the built-in rehearsal agent on a
scratch copy: no model, no push, and nothing is left behind. It runs the setup and
the checks of the pipeline, which may need the network.`,
		Example: `  reprise run --dry-run --issue-file issue.md
  reprise run --issue-file issue.md --push
  reprise run --issue https://github.com/OWNER/REPO/issues/7
  reprise run --issue 7`,
		RunE: func(c *cobra.Command, _ []string) error {
			ctx, end := telemetry.Begin(c.Context(), env)
			defer end()
			return runRun(ctx, env, o)
		},
	}
	f := c.Flags()
	o.origin(f)
	f.StringVar(&o.File, "issue-file", "", "Markdown file with the issue; its first heading is the title")
	f.StringVar(&o.Pipeline, "pipeline", "", "pipeline: a name, NAME/PRESET, or a file (default: chosen by the issue)")
	f.Func("phases", "`PHASES` to run: one, as design; some, as design..testing or ..testing; and those to leave out, as -report", func(text string) error {
		part, err := pipelines.ReadPhases(text)
		part.NoSplit, o.Part = o.Part.NoSplit, part
		return err
	})
	f.StringArrayVar(&o.Docs, "doc", nil, "`PHASE=PATH`: a file of the repository that people have written as the artifact of a phase; the phase begins with its review")
	f.Func("agent", "`NAME[:MODEL]` of the agent that does every step, and of its model: claude, codex, gemini, rehearsal, or one the pipeline names; :MODEL is that of all agents", func(text string) error {
		o.Agent, o.Model, _ = strings.Cut(text, ":")
		return nil
	})
	f.StringVar(&o.Language, "language", "", "language of artifacts and comments: en or ja (default: the pipeline's)")
	f.Func("jobs", "`N`: how many parts of a phase, and checks, run side by side; off: one agent does each phase, also where the pipeline would split one into tasks (default: as many parts as the pipeline says; checks on half the processors, at most 4)", o.readJobs)
	f.Var(anew{&o.Refresh, &o.RefreshIssue}, "refresh", "go on with the pipeline and prompts as they are defined now; =issue: with the issue as it reads now, in the file that is named, or on GitHub; =all: with both")
	f.Lookup("refresh").NoOptDefVal = "definition"
	f.BoolVar(&o.Pause, "stop-at-gates", false, "stop after every phase that passed its gates; run again to go on")
	f.Func("take", "`WHAT`: theirs: if the branch went on elsewhere and cannot be joined, go on from there; over: take the run also while another machine holds it, such as a job that is gone", o.readTake)
	f.BoolVar(&o.TrustBranch, "trust-branch", false, "go on with the pipeline that is on the branch, also where others could have written it")
	f.BoolVar(&o.dry, "dry-run", false, "rehearse on a scratch copy: no model, no push, nothing left behind")
	f.StringVar(&o.Stubs, "stubs", "", "file of scripted answers for the rehearsal agent")
	o.progress(f)
	return c
}

// runRun starts or continues a run and tells how it ended.
func runRun(ctx context.Context, env environ.Env, o runOptions) (err error) {
	env, flush := env.Masked()
	defer flush()
	if o.json {
		defer func() { err = alwaysJSON(env, err) }()
	}
	if err := o.check(); err != nil {
		return err
	}
	o.Online, o.Hear = o.File == "", inbox.DiscussionOn(env)
	w, err := workspace.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := w.Busy(env.Now()); err != nil && !o.TakeOver && !o.Scratch {
		return err
	}
	if !w.Fresh {
		if err := o.Keep(w); err != nil {
			return err
		}
		if err := bot.FoldAbandonedParts(ctx, w, env, o.Options); err != nil {
			return err
		}
		takeUp(w, env, o)
		if o.Refresh || o.RefreshIssue {
			if err := w.Refresh(ctx, env, o.Options); err != nil {
				return err
			}
		}
	}
	return finish(ctx, w, env, o)
}

// takeUp makes a run that has stopped go on. One that would only come to wait
// for the same person again is left as it is.
func takeUp(w *workspace.Workspace, env environ.Env, o runOptions) {
	next := phases.TakeUp(w.Run, phases.Start{At: env.Now(), More: o.More, Refresh: o.Refresh, Issue: o.RefreshIssue})
	d := phases.Decide(w.Plan, next)
	spent := w.Run.Status == metadata.Waiting && d.Do == phases.DoWait && d.Code == w.Run.Stop.Code && d.Code != metadata.AwaitingPerson
	if (spent && o.More == (phases.Allowance{}) || command.WaitsFor(w.Run, d)) && !o.Refresh {
		return
	}
	w.Run = next
}
