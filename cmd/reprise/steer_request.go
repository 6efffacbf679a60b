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

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Request is a command for a run from a terminal. Comments can give the same
// command, and it is carried out in the same way.
type steerRequest struct {
	workspace.Options
	command.Command
	JSON bool
}

// Check refuses what the same command in a comment would refuse.
func (s steerRequest) Check() error {
	if err := issue.CheckID(s.Id); err != nil {
		return err
	}
	needsPhase, needsText := s.Name == "skip", s.Name == "skip" || s.Name == "answer"
	switch {
	case needsPhase && s.Phase == "":
		return exit.Usagef("which phase? Give --phase PHASE")
	case s.Phase != "" && !command.KindPhase.Fits(s.Phase):
		return exit.Usagef("--phase %.80q is not the name of a phase", s.Phase)
	case s.Question != "" && !command.KindQuestion.Fits(s.Question):
		return exit.Usagef("--question %.80q is not the id of a question, such as q1", s.Question)
	case s.Commit != "" && !command.KindCommit.Fits(s.Commit):
		return exit.Usagef("--commit %.80q is not the hash of a commit, of at least 7 digits", s.Commit)
	case needsText && s.Name == "answer" && text.OneLine(s.Text) == "":
		return exit.Usagef("the answer is empty: give --text TEXT")
	case needsText && text.OneLine(s.Text) == "":
		return exit.Usagef("why? Give --reason TEXT: it is kept with the run")
	}
	if n := utf8.RuneCountInString(s.Text); n > command.MaxReason {
		return exit.Usagef("the text has %d characters; the limit is %d", n, command.MaxReason)
	}
	return nil
}

// Do carries out one order, and says how to go on.
func steerRun(ctx context.Context, env environ.Env, s steerRequest) (err error) {
	s.Commit = strings.ToLower(s.Commit)
	if err := s.Check(); err != nil {
		return err
	}
	w, err := openFreed(ctx, env, s)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := claimRun(ctx, w, env, s.Options); err != nil {
		return err
	}
	if err := s.carry(ctx, env, w); err != nil {
		return err
	}
	if s.JSON {
		return text.PrintJSON(env.Stdout, view.Result(w.Plan, w.Run))
	}
	return nil
}

// carry carries an order out on a run that is open, commits that, and says it.
func (s steerRequest) carry(ctx context.Context, env environ.Env, w *workspace.Workspace) error {
	s.Text = env.Finder().Mask(s.Text)
	o := command.Request{Command: s.Command, By: w.Source.UserName, At: env.Now()}
	x, err := o.Apply(w.Plan, w.Run, false)
	if err == nil && o.Name == "approve" {
		err = w.Unchanged(ctx, o.Commit, o.Phase)
	}
	if err != nil {
		return exit.AsUsage(err)
	}
	e, err := w.Engine(env, s.Options, engine.Quiet{})
	if err == nil && o.Name == "finish" {
		x.Run, err = delivery.Finish(ctx, w, e, x.Run, delivery.FinishWay{Squash: o.Squash, Title: pullTitle(ctx, w, env, o.Squash)}, o.At)
		err = exit.AsUsage(err)
	}
	if err != nil {
		return err
	}
	next := phases.Take(w.Run, x.Run, phases.Command{Name: o.Name, Text: o.Line(), By: o.By, Phase: x.Phase, Why: x.Why, At: o.At})
	switch {
	case x.Back != nil:
		x.Back.Run = next
		err = e.Rollback(ctx, *x.Back, nil)
	case o.Name == "approve":
		err = exit.AsUsage(e.Approve(ctx, next, o.Name))
	default:
		err = e.Amend(ctx, next, o.Name)
	}
	if err != nil {
		return err
	}
	w.Run = next
	warnOfSteering(w, env)
	terminal.Tell(env.Stderr, x.Sentence(w.Catalogue())+"\n"+w.Shown("committed", "commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", goOnCommand(w, next)))
	return nil
}

// pullTitle is what the pull request of a run is called now, for the one commit that its
// branch becomes; "" where that is not asked for, or nobody can say. Why not is told.
func pullTitle(ctx context.Context, w *workspace.Workspace, env environ.Env, squash bool) string {
	owner, name, known := strings.Cut(w.Source.GitHub, "/")
	f, err := issue.ForgeOf(env)
	if !squash || w.Run.PRNumber == 0 || !w.Push || !known || err == nil && (f.Token == "" || !f.Serves(w.Source.RemoteURL)) {
		return ""
	}
	var title string
	if err == nil {
		var gh *github.Client
		if gh, err = issue.Client(env, f, f.Token, env.Stderr); err == nil {
			pull, problem := gh.Pull(ctx, owner, name, w.Run.PRNumber)
			title, err = pull.Title, problem
		}
	}
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", w.Shown("title unknown", "why", err.Error()))
	}
	return title
}

// pauseNote leaves a note for the process that works on a run: it is told to
// stop for a pause.
func pauseNote(ctx context.Context, env environ.Env, s steerRequest) (string, error) {
	src, err := git.Find(ctx, s.Repo)
	if err != nil {
		return "", err
	}
	root, err := workspace.HomeFolder(env, src, s.Id)
	if err != nil {
		return "", err
	}
	note := filepath.Join(root, workspace.PauseFile)
	return note, os.WriteFile(note, nil, 0o600)
}

// openFreed opens a run, after telling a process on this machine that works on
// it to stop if the command means that.
func openFreed(ctx context.Context, env environ.Env, s steerRequest) (*workspace.Workspace, error) {
	s.Still = true
	w, err := workspace.Open(ctx, env, s.Options)
	var locked *folders.Held
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
	for waited := time.Duration(0); waited < workspace.StopTime; waited += 100 * time.Millisecond {
		if err := environ.Sleep(ctx, 100*time.Millisecond); err != nil {
			return nil, err
		}
		if w, err = workspace.Open(ctx, env, s.Options); !errors.As(err, &locked) {
			return w, err
		}
	}
	return nil, fmt.Errorf("process %d was told to stop %s ago and still works on the run: end it, and try again", locked.PID, workspace.StopTime)
}
