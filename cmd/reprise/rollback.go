package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

func rollbackCommand(env environ.Env) *cobra.Command {
	var o rollbackRequest
	c := &cobra.Command{
		Use:   "rollback --issue ID (--to-phase PHASE (--reason TEXT | --reason-file FILE | --interactive) | --auto)",
		Short: "Take a run back to a phase, with a reason", SuggestFor: []string{"reject"},
		Long: `Take a run back to a step of a phase. The reason reaches the next agent, first
thing in its prompt; later phases run again. Nothing is deleted: what later
phases wrote is kept under superseded/, and the history of the branch only grows.
Continue afterwards with: reprise run --issue ID

With --auto an agent, the reviewer of the phase that the run is at, reads the
record and the newest reviews and says where to go back to, and why. If it is
sure, the run is taken back; otherwise the command that does it is printed, and
the exit code is 3. If the issue is on GitHub and there is a token, the command
is proposed in a comment on it, too. With --reason the agent is told what you
have seen; then it is asked even if there is no open finding and no failed check.
What the call costs counts against the budget of the run.`,
		Example: "  reprise rollback --issue 7 --to-phase design --reason \"keep the API REST\"\n  reprise rollback --issue 7 --to-phase design --reason-file why.md --dry-run",
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
	f.SortFlags = false // they are in groups, see flagTitles
	issueFlag(c, &o.Repo, &o.Id)
	f.StringVar(&o.To, "to-phase", "", "phase to take the run back to")
	f.StringVar(&o.Step, "to-step", string(metadata.Revise), "step to go on with: execute, review or revise")
	f.StringVar(&o.From, "from-phase", "", "phase the run comes from (default: where it is)")
	f.StringVar(&o.Reason, "reason", "", "why, in at most 10,000 characters; with --auto: what you have seen, if anything")
	f.StringVar(&o.ReasonFile, "reason-file", "", "file that says why, at most 100 KB, or - for standard input")
	f.BoolVar(&o.Interactive, "interactive", false, "type the reason")
	f.BoolVar(&o.Restore, "restore", false, "also take the code back to what it was when the phase ended")
	f.IntVar(&o.Attempt, "attempt", 0, "also take code and artifact back to what this attempt of the phase left (see history)")
	f.BoolVar(&o.Auto, "auto", false, "let an agent find out whether to go back, where to, and why")
	f.StringVar(&o.Agent, "agent", "", "with --auto: agent to ask (default: the reviewer of the phase that the run is at)")
	f.StringVar(&o.Stubs, "stubs", "", "with --auto: file of scripted answers, for the rehearsal agent")
	sandboxFlag(f, &o.Sandbox)
	f.BoolVar(&o.Force, "force", false, "do not ask")
	f.BoolVar(&o.Dry, "dry-run", false, "show what would change, and change nothing (with --auto: but what the call costs is recorded)")
	pushFlag(f, &o.Push)
	f.BoolVar(&o.JSON, "json", false, "print what changed as one JSON object")
	return c
}

// rollBack takes a run back to where o says. Reasoned is whether a reason was given as text, be it empty.
func rollBack(ctx context.Context, env environ.Env, o rollbackRequest, reasoned bool) (err error) {
	switch {
	case issue.CheckID(o.Id) != nil:
		return issue.CheckID(o.Id)
	case o.To == "":
		return exit.Usagef("back to which phase? Give --to-phase PHASE")
	case text.Count(reasoned, o.ReasonFile != "", o.Interactive) != 1:
		return exit.Usagef("a rollback needs one reason, it is what the next agent is told: give --reason TEXT, --reason-file FILE or --interactive")
	}
	o.Restore = o.Restore || o.Attempt > 0
	r, w, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	if w != nil {
		defer func() { err = errors.Join(err, w.Close()) }()
	}
	reason, review, err := o.readReason(r)
	if err != nil {
		return err
	}
	if reason = env.Finder().MaskKnown(reason); !o.Dry { // reading the rules would take longer than all the rest
		reason = env.Finder().Mask(reason)
	}
	back, err := phases.PlanRollback(phases.On(r.Plan, r.Run), phases.Rollback{
		To: o.To, Step: metadata.Step(o.Step), From: cmp.Or(o.From, command.StandsAt(phases.On(r.Plan, r.Run), o.To)), Reason: reason, ReviewResult: review,
		By: r.Source.UserName, Trigger: metadata.Manual, Restore: o.Restore, Attempt: o.Attempt, At: env.Now(),
	})
	if err != nil {
		return exit.AsUsage(command.WithNearest(err))
	}
	if o.Dry && o.Restore {
		if _, err := w.Restore(ctx, &back); err != nil {
			return err
		}
	}
	if o.JSON {
		defer func() {
			if err == nil {
				err = text.PrintJSON(env.Stdout, map[string]any{"dry_run": o.Dry, "entry": back.Entry, "moves": back.Moves, "restored": text.List(back.Paths)})
			}
		}()
	} else {
		terminal.ShowRollback(env.Stdout, r.Plan, back, o.Dry || o.asks(env), terminal.ShowOptions(env))
	}
	if o.Dry {
		_, _ = fmt.Fprintln(env.Stderr, r.Catalogue().Shown("dry"))
		return nil
	}
	if ok, err := o.confirmed(env, r.Catalogue()); err != nil || !ok {
		return err
	}
	return commitRollback(ctx, w, o, &back)
}

// open takes the run, or for a dry run only looks at it: then there is no
// workspace, but a scratch one where the code has to be gone back with.
func (o rollbackRequest) open(ctx context.Context, env environ.Env) (*workspace.Recorded, *workspace.Workspace, error) {
	if o.Dry && !o.Restore {
		r, err := workspace.Look(ctx, env, o.Repo, o.Id)
		return r, nil, err
	}
	o.Scratch, o.Still = o.Dry, true
	opens := openClaimed
	if o.Dry {
		opens = workspace.Open
	}
	w, err := opens(ctx, env, o.Options)
	if err != nil {
		return nil, nil, err
	}
	return &w.Recorded, w, nil
}

// asks reports whether somebody is asked first: on a terminal, unless told not to. Nobody is asked in CI.
func (o rollbackRequest) asks(env environ.Env) bool {
	return !o.Force && env.Getenv("CI") == "" && environ.IsTerminal(env.Stdin)
}

// confirmed has whoever is asked agree.
func (o rollbackRequest) confirmed(env environ.Env, c prompts.Catalogue) (bool, error) {
	if !o.asks(env) {
		return true, nil
	}
	yes, err := env.Agrees(env.Stderr, c.Shown("ask"))
	if err == nil && !yes {
		_, _ = fmt.Fprintln(env.Stderr, c.Shown("unchanged"))
		err = exit.Code(exit.Cancelled)
	}
	return yes, err
}

// rollbackRequest is what is asked of a rollback: the flags of the command.
type rollbackRequest struct {
	workspace.Options
	To, Step, From     string
	Reason, ReasonFile string
	Interactive        bool // the reason is typed
	Restore            bool // the code goes back, too
	Attempt            int  // to what this attempt has left; 0: to the end of the phase
	Force              bool // nobody is asked
	Dry                bool
	JSON               bool
	Auto               bool // an agent finds out where to
}

// commitRollback commits the rollback, and after it the restored code where asked.
func commitRollback(ctx context.Context, w *workspace.Workspace, o rollbackRequest, r *phases.RollbackPlan) error {
	e, err := w.Engine(o.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	var code engine.StagedTree
	if o.Restore {
		if code, err = w.Restore(ctx, r); err != nil {
			return err
		}
	}
	if err := e.Rollback(ctx, *r, code); err != nil {
		return err
	}
	warnOfSteering(w)
	if len(r.Paths) > 0 {
		terminal.Tell(w.Env.Stderr, w.Shown("restored")+": "+text.Flat(strings.Join(r.Paths, ", ")))
	}
	terminal.Tell(w.Env.Stderr, w.Shown("taken back", "phase", r.Entry.ToPhase, "step", terminal.WordFor(w.Catalogue(), "steps", string(r.Entry.ToStep)),
		"commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", goOnCommand(ctx, w, r.Run)))
	return nil
}

const maxReasonFile = 100 * 1024 // bytes, from a file

const mostTyped = 1 << 20 // bytes that are read to say how long a typed one is

// readReason gives the reason, and the path of the review it came from if it came from one.
func (o rollbackRequest) readReason(r *workspace.Recorded) (reason, review string, err error) {
	switch {
	case o.ReasonFile != "":
		reason, review, err = o.readReasonFile(r)
		reason = strings.TrimSpace(reason)
		return reason, review, cmp.Or(err, command.CheckReason(reason))
	case o.Interactive:
		_, _ = fmt.Fprintln(r.Env.Stderr, r.Catalogue().Shown("ask why"))
		data, err := io.ReadAll(io.LimitReader(r.Env.Stdin, mostTyped+1))
		if err != nil {
			return "", "", err
		}
		if len(data) > mostTyped {
			return "", "", exit.Usagef("the reason has more than %d bytes; the limit is %d characters (put a longer one into a file: --reason-file)", mostTyped, command.MaxReason)
		}
		o.Reason = string(data)
	}
	reason = strings.TrimSpace(o.Reason)
	if n := utf8.RuneCountInString(reason); n > command.MaxReason {
		return "", "", exit.Usagef("the reason has %d characters; the limit is %d (put a longer one into a file: --reason-file)", n, command.MaxReason)
	}
	return reason, "", command.CheckReason(reason)
}

// readReasonFile reads a reason from a regular file, or from a pipe of the shell. A file inside the repository, or inside the work tree of the run,
// must not be reached through a symbolic link: others may have put it there, and the text goes to agents and onto the
// branch. The path is taken as it is written, so ".." takes away the name before it, wherever that would lead.
func (o rollbackRequest) readReasonFile(r *workspace.Recorded) (string, string, error) {
	if data, piped, err := folders.ReadPiped(o.ReasonFile, r.Env.Stdin, maxReasonFile); err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	} else if piped {
		return string(data), "", nil
	}
	name := filepath.Clean(o.ReasonFile)
	info, err := os.Lstat(name)
	if root, none := workspace.HomeFolder(r.Env, r.Source, r.Issue.ID); err != nil && none == nil && strings.HasPrefix(filepath.ToSlash(name), phases.Folder(r.Issue.ID)+"/") {
		name = filepath.Join(root, "tree", name) // as reprise names the files of a run
		info, err = os.Lstat(name)
	}
	if err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	}
	full, err := filepath.Abs(".")
	if err == nil {
		full, err = filepath.EvalSymlinks(full) // as the system finds a relative name
	}
	if err != nil {
		return "", "", err
	}
	if full = filepath.Join(full, name); filepath.IsAbs(name) {
		full = name
	}
	if link, top, err := r.LinkTo(full); err != nil {
		return "", "", err
	} else if link != "" {
		return "", "", exit.Usagef("reason file %s: %s is a symbolic link, and none inside %s is followed, since it could lead to any file, whose text would go to agents and onto the branch; name the file that is meant by its own path", o.ReasonFile, link, top)
	}
	if !info.Mode().IsRegular() {
		return "", "", exit.Usagef("reason file %s is not a regular file", o.ReasonFile)
	}
	data, err := folders.ReadRegular(name, maxReasonFile)
	if err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	}
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return "", "", err
	}
	rel, err := r.InsideRun(full)
	if err != nil {
		return "", "", err
	}
	if rel == "" {
		_, _ = fmt.Fprintln(r.Env.Stderr, "reprise: "+r.Catalogue().Shown("outside", "file", o.ReasonFile))
	}
	return string(data), rel, nil
}
