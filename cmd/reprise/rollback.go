package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The limits of a rollback's reason.
const (
	maxReason     = 1000       // Unicode code points, typed
	maxReasonFile = 100 * 1024 // bytes, from a file
	mostTyped     = 1 << 20    // bytes that are read to say how long a typed one is
)

// rollbackOptions are the flags of rollback.
type rollbackOptions struct {
	opening
	to, step, from string
	reason, file   string
	interactive    bool
	restore        bool
	force          bool
	dry            bool
	json           bool
	auto           bool
}

func rollbackCommand(env environment) *cobra.Command {
	var o rollbackOptions
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
the exit code is 3. What the call costs counts against the budget of the run.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.auto {
				return runAuto(c.Context(), env, o, c.Flags().Changed)
			}
			for _, flag := range []string{"agent", "stubs", "sandbox"} {
				if c.Flags().Changed(flag) {
					return usagef("--%s goes with --auto: without it no agent is asked", flag)
				}
			}
			return runRollback(c.Context(), env, o, c.Flags().Changed("reason"))
		},
	}
	f := c.Flags()
	repoFlag(c, &o.repo)
	issueFlag(c, &o.id)
	f.StringVar(&o.to, "to-phase", "", "phase to take the run back to")
	f.StringVar(&o.step, "to-step", string(metadata.Revise), "step to go on with: execute, review or revise")
	f.StringVar(&o.from, "from-phase", "", "phase the run comes from (default: where it is)")
	f.StringVar(&o.reason, "reason", "", "why, in at most 1,000 characters")
	f.StringVar(&o.file, "reason-file", "", "file that says why, at most 100 KB")
	f.BoolVar(&o.interactive, "interactive", false, "type the reason")
	f.BoolVar(&o.restore, "restore", false, "also take the code back to what it was when the phase ended")
	f.BoolVar(&o.force, "force", false, "do not ask")
	f.BoolVar(&o.dry, "dry-run", false, "show what would change, and change nothing (with --auto: but what the call costs is recorded)")
	f.BoolVar(&o.auto, "auto", false, "let an agent find out whether to go back, where to, and why")
	f.StringVar(&o.agent, "agent", "", "with --auto: agent to ask (default: the reviewer of the phase that the run is at)")
	f.StringVar(&o.stubs, "stubs", "", "with --auto: file of scripted answers, for the rehearsal agent")
	sandboxFlag(c, &o.sandbox)
	pushFlag(c, &o.push)
	f.BoolVar(&o.json, "json", false, "print what changed as one JSON object")
	return c
}

// runRollback takes a run back.
func runRollback(ctx context.Context, env environment, o rollbackOptions, reasoned bool) (err error) {
	switch {
	case checkID(o.id) != nil:
		return checkID(o.id)
	case o.to == "":
		return usagef("back to which phase? Give --to-phase PHASE")
	case given(reasoned, o.file != "", o.interactive) != 1:
		return usagef("a rollback needs one reason, it is what the next agent is told: give --reason TEXT, --reason-file FILE or --interactive")
	}
	r, w, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	if w != nil {
		defer func() { err = errors.Join(err, w.close()) }()
	}
	reason, review, err := o.readReason(env, r)
	if err != nil {
		return err
	}
	if reason = env.finder().MaskKnown(reason); !o.dry { // reading the rules would take longer than all the rest
		reason = env.finder().Mask(reason)
	}
	back, err := phases.Back(r.plan, r.run, phases.Rewind{
		To: o.to, Step: metadata.Step(o.step), From: o.from, Reason: reason, ReviewResult: review,
		By: r.source.UserName, Trigger: metadata.Manual, Restore: o.restore, At: env.now(),
	})
	if err != nil {
		return usage(meant(err))
	}
	if o.dry && o.restore {
		if err := w.restore(ctx, &back); err != nil {
			return err
		}
	}
	if o.json {
		defer func() {
			if err == nil {
				err = printJSON(env.stdout, map[string]any{"dry_run": o.dry, "entry": back.Entry, "moves": back.Moves, "restored": listed(back.Paths)})
			}
		}()
	} else {
		showRewound(env.stdout, r.plan, back)
	}
	if o.dry {
		_, _ = fmt.Fprintln(env.stderr, "Dry run: nothing was changed.")
		return nil
	}
	if ok, err := o.confirmed(env); err != nil || !ok {
		return err
	}
	return w.rewind(ctx, env, o, &back)
}

// open takes the run, or for a dry run only looks at it: then there is no
// workspace, but a scratch one where the code has to be gone back with.
func (o rollbackOptions) open(ctx context.Context, env environment) (*recorded, *workspace, error) {
	if o.dry && !o.restore {
		r, err := look(ctx, env, o.repo, o.id)
		return r, nil, err
	}
	o.scratch = o.dry
	w, err := openWorkspace(ctx, env, o.opening)
	if err != nil {
		return nil, nil, err
	}
	if err := w.busy(env.now()); err != nil && !o.dry {
		return nil, nil, errors.Join(err, w.close())
	}
	return &recorded{definition: w.definition, source: w.source, issue: w.issue, run: w.run}, w, nil
}

// rewind commits the rollback, and after it the restored code where asked.
func (w *workspace) rewind(ctx context.Context, env environment, o rollbackOptions, r *phases.Rewound) error {
	e, err := w.engine(env, o.opening, quiet{})
	if err != nil {
		return err
	}
	if o.restore {
		if err := w.restore(ctx, r); err != nil {
			return err
		}
	}
	if err := e.Rewind(ctx, *r); err != nil {
		return err
	}
	w.warn(env)
	_, _ = fmt.Fprintf(env.stderr, "Taken back to %s %s in %.12s. %s\n", r.Entry.ToPhase, r.Entry.ToStep, w.repo.Tip(), continueWith(wayOn(w.plan, r.Run)))
	return nil
}

// restore takes the code back to what it was when the target phase ended, to
// be committed with the rollback.
func (w *workspace) restore(ctx context.Context, r *phases.Rewound) error {
	end, err := w.endOf(ctx, r.Entry.ToPhase)
	if err != nil {
		return err
	}
	r.Paths, err = w.repo.RestoreTree(ctx, end, ".reprise")
	return err
}

// endOf finds the newest commit in which a step of a phase ended: the tree as
// the phase left it. Other commits, such as that of a rollback, only name the
// phase.
func (w *workspace) endOf(ctx context.Context, phase string) (string, error) {
	log, err := w.repo.Log(ctx, w.run.BaseCommit)
	if err != nil {
		return "", err
	}
	for _, c := range log {
		of := slices.Contains(c.Trailers, git.Trailer{Key: "Reprise-Phase", Value: phase})
		step := slices.ContainsFunc(c.Trailers, func(t git.Trailer) bool { return t.Key == "Reprise-Attempt" })
		if of && step {
			return c.Commit, nil
		}
	}
	return "", fmt.Errorf("no commit of phase %s is on %s: nothing to restore from", phase, w.run.BranchName)
}

// confirmed asks on a terminal, unless told not to. Nobody is asked in CI.
func (o rollbackOptions) confirmed(env environment) (bool, error) {
	if o.force || env.getenv("CI") != "" || !isTerminal(env.stdin) {
		return true, nil
	}
	_, _ = fmt.Fprint(env.stderr, "Take the run back? [y/N] ")
	answer, err := bufio.NewReader(env.stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return true, nil
	}
	_, _ = fmt.Fprintln(env.stderr, "Nothing was changed.")
	return false, exitCode(exitCancelled)
}

// readReason gives the reason, and the path of the review it came from if it
// came from one.
func (o rollbackOptions) readReason(env environment, r *recorded) (reason, review string, err error) {
	switch {
	case o.file != "":
		return o.readReasonFile(env, r)
	case o.interactive:
		_, _ = fmt.Fprintln(env.stderr, "Why is the run taken back? End with Ctrl-D.")
		data, err := io.ReadAll(io.LimitReader(env.stdin, mostTyped+1))
		if err != nil {
			return "", "", err
		}
		if len(data) > mostTyped {
			return "", "", usagef("the reason has more than %d bytes; the limit is %d characters (put a longer one into a file: --reason-file)", mostTyped, maxReason)
		}
		o.reason = string(data)
	}
	reason = strings.TrimSpace(o.reason)
	if n := utf8.RuneCountInString(reason); n > maxReason {
		return "", "", usagef("the reason has %d characters; the limit is %d (put a longer one into a file: --reason-file)", n, maxReason)
	}
	return reason, "", checkReason(reason)
}

func checkReason(reason string) error {
	switch {
	case reason == "":
		return usagef("the reason is empty: say what has to change, it is what the next agent is told")
	case !utf8.ValidString(reason) || strings.ContainsRune(reason, 0):
		return usagef("the reason is not text")
	}
	return nil
}

// readReasonFile reads a reason from a regular file. One inside the
// repository must not be reached through a symbolic link.
func (o rollbackOptions) readReasonFile(env environment, r *recorded) (string, string, error) {
	info, err := os.Lstat(o.file)
	if err != nil {
		return "", "", usagef("reason file: %w", err)
	}
	if !info.Mode().IsRegular() {
		return "", "", usagef("reason file %s is not a regular file", o.file)
	}
	data, err := readRegular(o.file, maxReasonFile)
	if err != nil {
		return "", "", usagef("reason file: %w", err)
	}
	full, err := filepath.EvalSymlinks(o.file)
	if err != nil {
		return "", "", err
	}
	if full, err = filepath.Abs(full); err != nil {
		return "", "", err
	}
	reason := strings.TrimSpace(string(data))
	rel, err := r.insideRun(env, full)
	if err != nil {
		return "", "", err
	}
	if rel == "" {
		_, _ = fmt.Fprintf(env.stderr, "reprise: %s lies outside the run's folder; its text becomes part of the branch\n", o.file)
	}
	return reason, rel, checkReason(reason)
}

// insideRun gives the path of a file below the run's folder, as the branch
// has it, or "".
func (r *recorded) insideRun(env environment, full string) (string, error) {
	root, err := rootOf(env, r.source, r.issue.ID)
	if err != nil {
		return "", err
	}
	for _, top := range []string{filepath.Join(root, "tree"), r.source.Dir} {
		rel, err := filepath.Rel(top, full)
		if err == nil && strings.HasPrefix(filepath.ToSlash(rel), phases.Folder(r.issue.ID)+"/") {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", nil
}

// given counts what is true.
func given(flags ...bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

// quiet tells nobody anything.
type quiet struct{}

// Report does nothing.
func (quiet) Report(phases.Event) {}
