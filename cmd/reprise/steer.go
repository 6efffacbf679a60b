package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// steering is what somebody at a terminal asks of a run that comments can ask,
// too: the same order, carried out in the same way.
type steering struct {
	opening
	slashCommand
}

// steerCommands are the commands that change where a run stands and end; it is
// run that goes on.
func steerCommands(env environment) []*cobra.Command {
	return steersWith(func(c *cobra.Command, s steering) error { return runSteer(c.Context(), env, s) })
}

// steersWith gives the commands with what is to be done about each.
func steersWith(do func(*cobra.Command, steering) error) []*cobra.Command {
	return []*cobra.Command{
		steerCommand(do, "approve --issue ID [--phase PHASE] [--commit HASH]", "Approve a phase as it stands now",
			`Approve the phase that the run waits at. What changes the phase later voids it.
With --commit only if the phase has not changed since that commit.`, func(c *cobra.Command, s *steering) {
				c.Flags().StringVar(&s.Phase, "phase", "", "phase to approve (default: the one that waits)")
				c.Flags().StringVar(&s.Commit, "commit", "", "the commit that you have looked at")
			}),
		steerCommand(do, "reject --issue ID --phase PHASE --reason TEXT", "Send a phase back, with a reason",
			`Send a phase back: it is revised first thing, and the reason reaches the agent.`, func(c *cobra.Command, s *steering) {
				c.Flags().StringVar(&s.Phase, "phase", "", "phase to send back")
				c.Flags().StringVar(&s.Text, "reason", "", "why, in at most 1,000 characters")
			}),
		steerCommand(do, "answer --issue ID [--question ID] --text TEXT", "Answer a question that a run has asked",
			`Answer a question. The agent goes on in its session where there is one.`, func(c *cobra.Command, s *steering) {
				c.Flags().StringVar(&s.Question, "question", "", "id of the question, such as q1 (default: the only one that is open)")
				c.Flags().StringVar(&s.Text, "text", "", "the answer")
			}),
		steerCommand(do, "skip --issue ID --phase PHASE --reason TEXT", "Leave a phase out, with a reason",
			`Leave a phase out. One that others need cannot be left out before them.`, func(c *cobra.Command, s *steering) {
				c.Flags().StringVar(&s.Phase, "phase", "", "phase to leave out")
				c.Flags().StringVar(&s.Text, "reason", "", "why, in at most 1,000 characters")
			}),
		steerCommand(do, "pause --issue ID [--reason TEXT]", "Halt a run; run goes on",
			`Halt a run, also one that another process on this machine works on. The step
under way is ended, and what it had changed is kept as a patch.`, func(c *cobra.Command, s *steering) {
				c.Flags().StringVar(&s.Text, "reason", "", "why")
			}),
		steerCommand(do, "cancel --issue ID [--reason TEXT]", "End a run; what is committed stays",
			`End a run, also one that another process on this machine works on. The step
under way is ended, and what it had changed is kept as a patch.`, func(c *cobra.Command, s *steering) {
				c.Flags().StringVar(&s.Text, "reason", "", "why")
			}),
	}
}

func steerCommand(do func(*cobra.Command, steering) error, use, short, long string, flags func(*cobra.Command, *steering)) *cobra.Command {
	s := &steering{}
	c := &cobra.Command{Use: use, Short: short, Long: long}
	s.Name = c.Name()
	c.RunE = func(c *cobra.Command, _ []string) error { return do(c, *s) }
	repoFlag(c, &s.repo)
	issueFlag(c, &s.id)
	pushFlag(c, &s.push)
	flags(c, s)
	return c
}

// check refuses what the same command in a comment would refuse.
func (s steering) check() error {
	if err := checkID(s.id); err != nil {
		return err
	}
	needsPhase, needsText := s.Name == "reject" || s.Name == "skip", s.Name == "reject" || s.Name == "skip" || s.Name == "answer"
	switch {
	case needsPhase && s.Phase == "":
		return usagef("which phase? Give --phase PHASE")
	case s.Phase != "" && !slashPhase.fits(s.Phase):
		return usagef("--phase %.80q is not the name of a phase", s.Phase)
	case s.Question != "" && !slashQuestion.fits(s.Question):
		return usagef("--question %.80q is not the id of a question, such as q1", s.Question)
	case s.Commit != "" && !slashCommit.fits(s.Commit):
		return usagef("--commit %.80q is not the hash of a commit, of at least 7 digits", s.Commit)
	case needsText && s.Name == "answer" && oneLine(s.Text) == "":
		return usagef("the answer is empty: give --text TEXT")
	case needsText && oneLine(s.Text) == "":
		return usagef("why? Give --reason TEXT: it is kept with the run")
	}
	if n := utf8.RuneCountInString(s.Text); n > maxReason {
		return usagef("the text has %d characters; the limit is %d", n, maxReason)
	}
	return nil
}

// runSteer carries out one order, and says how to go on.
func runSteer(ctx context.Context, env environment, s steering) (err error) {
	s.Commit = strings.ToLower(s.Commit)
	if err := s.check(); err != nil {
		return err
	}
	w, err := openFreed(ctx, env, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.busy(env.now()); err != nil {
		return err
	}
	s.Text = env.finder().Mask(s.Text)
	o := order{slashCommand: s.slashCommand, by: w.source.UserName, at: env.now()}
	x, err := o.work(w.plan, w.run, false)
	if err == nil && o.Name == "approve" {
		err = w.unchanged(ctx, o.Commit)
	}
	if err != nil {
		return usage(err)
	}
	e, err := w.engine(env, s.opening, quiet{})
	if err != nil {
		return err
	}
	next := phases.Take(w.run, x.run, phases.Command{Name: o.Name, Text: o.line(), By: o.by, Phase: x.phase, Why: x.why, At: o.at})
	if x.back != nil {
		x.back.Run = next
		err = e.Rewind(ctx, *x.back)
	} else {
		err = e.Amend(ctx, next, o.Name)
	}
	if err != nil {
		return err
	}
	w.warn(env)
	_, _ = fmt.Fprintf(env.stderr, "%s\nCommit %.12s. %s\n", x.sentence(), w.repo.Tip(), continueWith(wayOn(w.plan, next)))
	return nil
}

// continueWith says how to go on: with one command on the same line, with one
// of several on lines of their own. A run that nothing takes further is done.
func continueWith(commands []string) string {
	switch len(commands) {
	case 0:
		return "The run is completed."
	case 1:
		return "Continue with: " + commands[0]
	}
	return "Continue with one of:\n  " + strings.Join(commands, "\n  ")
}

// sentence says what became of an order, for a line of its own. People's own
// words may be at its end, with or without a full stop.
func (x deed) sentence() string {
	said := phases.Say("en", x.why)
	text := capital(said)
	if x.phase != "" && strings.HasPrefix(said, x.phase+" ") {
		text = "Phase " + said // its name stays as it is
	}
	if !strings.ContainsAny(text[len(text)-1:], ".!?") {
		text += "."
	}
	return text
}

// unchanged refuses an approval for what has changed since a commit.
func (w *workspace) unchanged(ctx context.Context, commit string) error {
	if commit == "" {
		return nil
	}
	phase, _, _, _ := phases.Approval(w.plan, w.run)
	full, seen, err := w.recordAt(ctx, commit)
	if err != nil {
		return err
	}
	now, then := w.run.Phase(phase), seen.Phase(phase)
	if then == nil || then.Generation != now.Generation || then.Written != now.Written || then.Digest != now.Digest {
		return fmt.Errorf("%s has changed since %.12s; look at it as it is now", phase, commit)
	}
	_, code, err := tree{repo: w.repo}.Diff(ctx, full)
	if err == nil && code.Files > 0 {
		err = fmt.Errorf("the code has changed since %.12s; look at it as it is now", commit)
	}
	return err
}

// pauseNote leaves a note for the process that works on a run: it is told to
// stop for a pause.
func pauseNote(ctx context.Context, env environment, s steering) (string, error) {
	src, err := git.Find(ctx, s.repo)
	if err != nil {
		return "", err
	}
	root, err := rootOf(env, src, s.id)
	if err != nil {
		return "", err
	}
	note := filepath.Join(root, pauseFile)
	return note, os.WriteFile(note, nil, 0o600)
}

const pauseFile = "pause"

// mostFreeing is how long a process is waited for that was told to stop: it
// ends its agent, and pushes what there is.
const mostFreeing = 20 * time.Second

// paused reports whether a run was interrupted because it is being paused. An
// older note is of a process that was killed before it could take it away.
func (w *workspace) paused(run metadata.Run) bool {
	note, err := os.Lstat(filepath.Join(filepath.Dir(w.repo.Tree()), pauseFile))
	return run.Status == metadata.Interrupted && err == nil && time.Since(note.ModTime()) < 2*mostFreeing
}

// openFreed opens a run, after telling a process on this machine that works on
// it to stop if the order means that.
func openFreed(ctx context.Context, env environment, s steering) (*workspace, error) {
	w, err := openWorkspace(ctx, env, s.opening)
	var locked *git.Locked
	if !errors.As(err, &locked) || locked.PID == 0 || s.Name != "pause" && s.Name != "cancel" {
		return w, err
	}
	if s.Name == "pause" {
		note, err := pauseNote(ctx, env, s)
		if err != nil {
			return nil, err
		}
		defer func() { _ = os.Remove(note) }() // a process that has ended does not read it
	}
	at, err := os.FindProcess(locked.PID)
	if err == nil {
		err = at.Signal(syscall.SIGINT)
	}
	if err != nil {
		return nil, fmt.Errorf("tell process %d, which works on the run, to stop: %w", locked.PID, err)
	}
	for waited := time.Duration(0); waited < mostFreeing; waited += 100 * time.Millisecond {
		if err := sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
		if w, err = openWorkspace(ctx, env, s.opening); !errors.As(err, &locked) {
			return w, err
		}
	}
	return nil, fmt.Errorf("process %d was told to stop %s ago and still works on the run: end it, and try again", locked.PID, mostFreeing)
}
