package main

import (
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/runs"
	"github.com/reprise-ci/reprise/internal/telemetry"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

func runCommand(env environ.Env) *cobra.Command {
	var o runOptions
	c := &cobra.Command{
		Use:   "run (--issue-file FILE | --issue URL | --issue ID | --all)",
		Short: "Start or continue the run of an issue", SuggestFor: []string{"resume"},
		Long: `Start the run of an issue, or continue it where it is.

The work happens in a tree of its own on the branch reprise/issue-ID; your
checkout is never touched. Every step is one commit, with the record of the run.

An issue comes from a file, or from GitHub: by its address, or by its number if
origin is there. What is private needs a token in GITHUB_TOKEN.

With --dry-run a built-in agent rehearses the run. It runs the setup and
the checks of the pipeline, which may need the network.`,
		Example: `  reprise run --dry-run --issue-file issue.md
  reprise run --issue-file issue.md
  reprise run --issue https://github.com/OWNER/REPO/issues/7`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.all {
				return runAll(c, env, o)
			}
			return runRun(c.Context(), env, o)
		},
	}
	f := c.Flags()
	f.SortFlags = false // they are in groups, see flagTitles
	f.BoolVar(&o.all, "all", false, "go on with all runs that were interrupted, killed or not pushed, --jobs of them at a time")
	f.StringVar(&o.File, "issue-file", "", "Markdown `FILE`; its first heading is the title")
	o.origin(f)
	f.Func("agent", "`NAME[:MODEL]` for all steps: claude, codex, gemini, opencode, qwen, copilot, rehearsal, or one of the pipeline (default: the pipeline's)", func(text string) error {
		o.Agent, o.Model, _ = strings.Cut(text, ":")
		return nil
	})
	f.BoolVar(&o.fanOut, "fan-out", false, "leave parts that can be done at the same time to tasks on any machines (it pushes)")
	f.Func("jobs", "`N` parts of a phase, or checks, side by side; off: no phase is split (default: as the pipeline says; checks on half the processors, at most 4)", func(text string) (err error) {
		if o.Part.NoSplit = text == "off"; o.Part.NoSplit {
			return nil
		}
		if o.Jobs, err = strconv.Atoi(text); err != nil || o.Jobs < 1 || o.Jobs > 32 {
			return errors.New("it is 1 to 32, or off")
		}
		return nil
	})
	f.StringVar(&o.Pipeline, "pipeline", "", "`NAME` of the pipeline, NAME/PRESET, or a file (default: chosen by the issue)")
	f.Func("phases", "`PHASES` to run, as design, design..testing or ..testing, or to leave out, as -report (default: all)", func(text string) error {
		part, err := pipelines.ReadPhases(text)
		part.NoSplit, o.Part = o.Part.NoSplit, part
		return err
	})
	f.StringArrayVar(&o.Docs, "doc", nil, "`PHASE=PATH`: a file that people have written, for the phase to begin with its review")
	f.StringVar(&o.Language, "language", "", "`en|ja`, for artifacts and comments (default: the pipeline's)")
	f.BoolVar(&o.dry, "dry-run", false, "rehearse on a scratch copy, without a model")
	f.StringVar(&o.Stubs, "stubs", "", "`FILE` of scripted answers for the rehearsal")
	f.Func("refresh", "go on with `WHAT` of today: the pipeline and prompts; =issue: the issue; =all: both (default: as the run began)", func(text string) error {
		read, err := command.ReadAnew(text)
		o.Refresh, o.RefreshIssue = o.Refresh || read.Definition, o.RefreshIssue || read.Issue
		return err
	})
	f.Lookup("refresh").NoOptDefVal = "definition"
	f.Func("take", "`WHAT`: theirs, to go on from where the branch went elsewhere; over, from a machine that is gone", func(text string) error {
		if text != "theirs" && text != "over" {
			return errors.New("it is theirs or over")
		}
		o.TakeTheirs, o.TakeOver = o.TakeTheirs || text == "theirs", o.TakeOver || text == "over"
		return nil
	})
	f.BoolVar(&o.Pause, "stop-at-gates", false, "stop after each phase; run again to go on")
	o.progress(f)
	f.StringVar(&o.worker, "worker", "", "who takes the run, for reprise work itself: the end of standard input stops it")
	_ = f.MarkHidden("worker") // the flag is there
	return c
}

// runRun starts or continues a run and tells how it ended.
func runRun(ctx context.Context, env environ.Env, o runOptions) (err error) {
	if o.Beside = o.worker != ""; o.Beside {
		var stop context.CancelCauseFunc
		ctx, stop = context.WithCancelCause(ctx)
		defer stop(nil)
		go func() {
			_, _ = io.Copy(io.Discard, env.Stdin) // whoever started it is there until that ends
			stop(engine.ErrInterrupted)
		}()
	}
	ctx, end := telemetry.Begin(ctx, env)
	defer end()
	env, flush := env.Masked()
	defer flush()
	if o.json {
		defer func() { err = alwaysJSON(env, err) }()
	}
	begun := o.retry || o.join || o.Only != ""
	if begun {
		if err := issue.CheckID(o.Id); err != nil {
			return err
		}
	}
	if err := o.check(); err != nil {
		return err
	}
	o.Online, o.Hear = o.File == "" && !begun, bot.DiscussionOn(env)
	o.Here = env.Getenv("CI") == "" // jobs go by the default branch
	w, err := workspace.Open(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	s := runSession{w, o}
	if o.Only != "" {
		return s.doTask(ctx)
	}
	if err := w.Busy(env.Now()); err != nil && !o.TakeOver && !o.Scratch && w.Run.Execution.Lease.Owner != o.worker && !(o.join && phases.LeftToTasks(w.Run)) {
		return err
	}
	if room, comes := runs.RoomAt(w.Run); o.Beside && w.Run.Status == metadata.Failed && !runs.Unpushed(w.Run) && !(comes && room.Before(env.Now())) {
		return exit.Held{Err: errors.New("another machine has worked on it meanwhile, and it failed")} // no worker begins such a run again
	}
	before := metadata.Run{}
	if !w.Fresh {
		before = w.Run
		if err := o.Keep(w); err != nil {
			return err
		}
		if err := bot.JoinParts(ctx, w, o.Options, o.join); err != nil {
			return err
		}
		if o.retry {
			if err := s.tryAgain(ctx); err != nil {
				return err
			}
		} else {
			s.takeUp()
		}
		if o.Refresh || o.RefreshIssue {
			if err := w.Refresh(ctx, o.Options); err != nil {
				return err
			}
		}
	}
	if err := w.Allows(ctx, o.Options, before, w.Run); err != nil {
		return exit.AsUsage(err)
	}
	return s.finish(ctx)
}

// takeUp makes a run that has stopped go on. One that would only come to wait
// for the same person again is left as it is.
func (s runSession) takeUp() {
	w, o := s.Workspace, s.o
	next := phases.TakeUp(w.Run, phases.Start{At: s.Env.Now(), More: o.More, Refresh: o.Refresh, Issue: o.RefreshIssue})
	d := phases.Decide(phases.On(w.Plan, next))
	spent := w.Run.Status == metadata.Waiting && d.Do == phases.DoWait && d.Code == w.Run.Stop.Code && d.Code != metadata.AwaitingPerson
	if (spent && o.More == (phases.Allowance{}) || command.WaitsFor(w.Run, d)) && !o.Refresh {
		return
	}
	w.Run = next
}

func retryCommand(env environ.Env) *cobra.Command {
	o := runOptions{retry: true}
	c := &cobra.Command{
		Use:   "retry --issue ID [--phase PHASE]",
		Short: "Try a stopped run again, with all its revisions",
		Long: `Continue a run that failed or waits for a person: the counters of revisions and
tries start again, so its phase has all its revisions, and calls that failed no longer
count. To change what was decided in an earlier phase, take the run back with rollback.`,
		Example: "  reprise retry --issue 7",
		RunE:    func(c *cobra.Command, _ []string) error { return runRun(c.Context(), env, o) },
	}
	o.origin(c.Flags())
	c.Flags().StringVar(&o.phase, "phase", "", "phase to try again (default: the one the run stopped at)")
	o.progress(c.Flags())
	return c
}

// tryAgain lets the counters of revisions and tries start again, and commits that.
func (s runSession) tryAgain(ctx context.Context) error {
	run, err := phases.Retry(phases.On(s.Plan, s.Run), s.o.phase, phases.Start{At: s.Env.Now(), More: s.o.More})
	if err != nil {
		return exit.AsUsage(command.WithNearest(err))
	}
	if err := s.Allows(ctx, s.o.Options, s.Run, run); err != nil {
		return exit.AsUsage(err)
	}
	if err := s.Ready(s.o.Options); err != nil {
		return err
	}
	e, err := s.Engine(s.o.Options, engine.Quiet{})
	if err == nil {
		err = e.Amend(ctx, run, run.CurrentPhase+": retry")
	}
	s.Run = run
	return err
}

func taskCommand(env environ.Env) *cobra.Command {
	o := runOptions{log: "text"}
	c := &cobra.Command{
		Use:   "task --issue ID PART",
		Short: "Do one part of a run, beside others on any machines",
		Long: `Do one part of a run that was left to tasks by run --fan-out, and push it to a ref of
its own at origin. It works in any clone that may push, and needs no account at a forge.
A task that was killed is started again, there or elsewhere: it goes on from what it
has pushed. The run itself goes on with join.`,
		Example: "  reprise task --issue 7 build.t2",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 || metadata.CheckID(args[0]) != nil {
				return exit.Usagef("which part? Give one that run --fan-out has named, as in: reprise task --issue 7 build.t2")
			}
			o.Push, o.Only, o.Jobs = new(true), args[0], 1
			return nil
		},
		ValidArgsFunction: completes(func(c *cobra.Command) []string { return phasesOf(env, c) }),
		RunE:              func(c *cobra.Command, _ []string) error { return runRun(c.Context(), env, o) },
	}
	o.place(c.Flags())
	return c
}

// doTask does one part of the run and says how that stands then.
func (s runSession) doTask(ctx context.Context) error {
	screen := s.view()
	run, no, err := bot.Task{Workspace: s.Workspace, Options: s.o.Options, Report: screen}.Do(ctx)
	screen.Close()
	switch {
	case err != nil:
		return err
	case no != "":
		s.say(no)
	case ctx.Err() != nil:
		return exit.Code(exit.Cancelled)
	default:
		_, shown := bot.PartShown(run, s.o.Only)
		terminal.Tell(s.Env.Stdout, "\n"+s.o.Only+": "+shown)
	}
	return nil
}

func joinCommand(env environ.Env) *cobra.Command {
	o := runOptions{join: true}
	c := &cobra.Command{
		Use:   "join --issue ID",
		Short: "Take in what tasks have done of a run, and go on with it",
		Long: `Take in what tasks have pushed of a run that was left to them, do the rest here, and
go on as reprise run does. Tasks that are still at work end at their next push.`,
		Example: "  reprise join --issue 7",
		RunE:    func(c *cobra.Command, _ []string) error { return runRun(c.Context(), env, o) },
	}
	o.origin(c.Flags())
	o.progress(c.Flags())
	return c
}

// runOptions are the flags of run, task, join and retry.
type runOptions struct {
	workspace.Options
	dry     bool
	json    bool
	prompts bool // every prompt is printed
	noInput bool
	log     logForm
	fanOut  bool   // parts are left to other machines
	join    bool   // what those have done is taken in
	retry   bool   // the run is tried again
	phase   string // that is tried again; empty: the one the run stopped at
	all     bool   // all runs go on that stopped in the middle
	worker  string // who takes the run, see runs.Worker; empty: a person
}

// logForm is how progress is printed: text, verbose, json or verbose-json.
type logForm string

// json reports whether each event is one object of JSON.
func (l logForm) json() bool { return strings.HasSuffix(string(l), "json") }

// place adds the flags that say which run it is, and where.
func (o *runOptions) place(f *pflag.FlagSet) {
	f.StringVar(&o.Id, "issue", "", "`ID` of the issue: its number, the name of its file, or its address on GitHub")
	repoFlag(f, &o.Repo)
	f.BoolVar(&o.TrustBranch, "trust-branch", false, "go on with the pipeline on the branch, also where others could have written it")
	sandboxFlag(f, &o.Sandbox)
}

// origin adds those, and the flags that say what it may spend and reach.
func (o *runOptions) origin(f *pflag.FlagSet) {
	o.place(f)
	f.Func("more", "`AMOUNTS` to spend from here on, such as usd=5,time=90m; also tokens and attempts (default: what is left)", func(text string) error { return command.More(text, &o.More) })
	pushFlag(f, &o.Push)
}

// progress adds the flags that say what is printed, and whether somebody is asked.
func (o *runOptions) progress(f *pflag.FlagSet) {
	f.BoolVar(&o.json, "json", false, "print the result as one JSON object on standard output")
	f.BoolVar(&o.noInput, "no-input", false, "end where the run waits for a person, in place of asking on the terminal")
	f.StringVar((*string)(&o.log), "log", "text", "`FORM` of the progress: text, json, or with what agents do: verbose, verbose-json")
}

// check refuses flags that do not go together.
func (o *runOptions) check() error {
	if strings.Contains(o.Id, "/") {
		o.Id, o.Url = "", o.Id
	}
	switch {
	case o.File == "" && o.Url == "" && o.Id == "":
		return exit.Usagef("which issue? Give --issue-file FILE or --issue URL to start, or --issue ID to continue")
	case o.File != "" && o.Url+o.Id != "":
		return exit.Usagef("--issue-file and --issue each name an issue: give one of them")
	case o.dry && o.Push != nil && *o.Push:
		return exit.Usagef("--dry-run never pushes: leave --push out")
	case o.fanOut && (o.dry || o.Push != nil && !*o.Push):
		return exit.Usagef("--fan-out reaches other machines by origin: leave --dry-run and --push=false out")
	case o.dry && o.Agent != "" && o.Agent != agents.Rehearsal:
		return exit.Usagef("--dry-run calls no model, so it takes no --agent %s", o.Agent)
	case !slices.Contains([]logForm{"text", "verbose", "json", "verbose-json"}, o.log):
		return exit.Usagef("--log %q is not one of text, verbose, json, verbose-json", o.log)
	case o.Language != "" && !slices.Contains(metadata.Languages(), o.Language):
		return exit.Usagef("--language %q is not one of %s", o.Language, strings.Join(metadata.Languages(), ", "))
	}
	if o.fanOut || o.join {
		o.Push = new(true)
	}
	if o.dry {
		o.Agent, o.Scratch = agents.Rehearsal, true
	}
	return nil
}

// log gives where progress is printed: not among the result for programs.
func (s runSession) log() io.Writer {
	if s.o.json {
		return s.Env.Stderr
	}
	return s.Env.Stdout
}
