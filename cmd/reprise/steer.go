package main

import (
	"context"
	_ "embed" // steers
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/command"
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
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

//go:embed steers.yaml
var steers []byte

// steersWith gives the commands that change where a run stands and then end, each of which calls do.
func steersWith(do func(*cobra.Command, steerRequest) error) (all []*cobra.Command) {
	var forms []struct {
		Use, Short, Long, Example string
		Flags                     map[string]string // what they say
	}
	for _, form := range text.TableIn(forms, steers) {
		s := &steerRequest{}
		c := &cobra.Command{Use: form.Use, Short: form.Short, Long: form.Long, Example: form.Example}
		s.Name = c.Name()
		c.RunE = func(c *cobra.Command, _ []string) error { return do(c, *s) }
		issueFlag(c, &s.Repo, &s.Id)
		pushFlag(c.Flags(), &s.Push)
		jsonFlag(c, &s.JSON, "the state that the run is in then")
		fields := map[string]*string{"phase": &s.Phase, "commit": &s.Commit, "question": &s.Question, "text": &s.Text, "reason": &s.Text}
		for name, says := range form.Flags {
			c.Flags().StringVar(fields[name], name, "", says)
		}
		if s.Name == "finish" {
			c.Flags().BoolVar(&s.Squash, "squash", false, "make one commit of the branch")
		}
		all = append(all, c)
	}
	return all
}

// steerRequest is a command for a run from a terminal.
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
	switch empty := text.OneLine(s.Text) == ""; {
	case s.Name == "skip" && s.Phase == "":
		return exit.Usagef("which phase? Give --phase PHASE")
	case s.Phase != "" && !command.KindPhase.Fits(s.Phase):
		return exit.Usagef("--phase %.80q is not the name of a phase", s.Phase)
	case s.Question != "" && !command.KindQuestion.Fits(s.Question):
		return exit.Usagef("--question %.80q is not the id of a question, such as q1", s.Question)
	case s.Commit != "" && !command.KindCommit.Fits(s.Commit):
		return exit.Usagef("--commit %.80q is not the hash of a commit, of at least 7 digits", s.Commit)
	case s.Name == "answer" && empty:
		return exit.Usagef("the answer is empty: give --text TEXT")
	case s.Name == "skip" && empty:
		return exit.Usagef("why? Give --reason TEXT: it is kept with the run")
	}
	if n := utf8.RuneCountInString(s.Text); n > command.MaxReason {
		return exit.Usagef("the text has %d characters; the limit is %d", n, command.MaxReason)
	}
	return nil
}

// steerRun carries out one command, and says how to go on.
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
	if err := claimRun(ctx, w, s.Options); err != nil {
		return err
	}
	carry := s.carry
	if s.Name == "update" {
		carry = s.update
	}
	if err = carry(ctx, w); s.JSON && (err == nil || errors.As(err, new(exit.Code))) {
		err = errors.Join(err, text.PrintJSON(env.Stdout, view.Result(phases.On(w.Plan, w.Run))))
	}
	return err
}

// carry carries an order out on a run that is open, commits that, and says it.
func (s steerRequest) carry(ctx context.Context, w *workspace.Workspace) error {
	s.Text = w.Env.Finder().Mask(s.Text)
	o := command.Request{Command: s.Command, By: w.Source.UserName, At: w.Env.Now()}
	x, err := o.Apply(phases.On(w.Plan, w.Run), false)
	if err == nil {
		err = w.Allows(ctx, s.Options, w.Run, x.Run)
	}
	if err == nil && o.Name == "approve" {
		err = w.Unchanged(ctx, o.Commit, o.Phase)
	}
	if err != nil {
		return exit.AsUsage(err)
	}
	e, err := w.Engine(s.Options, engine.Quiet{})
	if err == nil && o.Name == "finish" {
		x.Run, err = bot.Finish(ctx, w, e, x.Run, o.Squash, pullTitle(ctx, w, o.Squash), o.At)
		err = exit.AsUsage(err)
	}
	if err != nil {
		return err
	}
	next := phases.Take(w.Run, x.Run, o.Taken(x))
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
	tellSteered(ctx, w, x.Sentence(w.Catalogue()))
	return nil
}

// pullTitle is what the pull request of a run is called now, for the one commit that its
// branch becomes; "" where that is not asked for, or nobody can say. Why not is told.
func pullTitle(ctx context.Context, w *workspace.Workspace, squash bool) (title string) {
	f, err := issue.ForgeOf(w.Env)
	if !squash || w.Run.PRNumber == 0 || !w.Push || w.Source.GitHub == "" || err == nil && (f.Token == "" || !f.Serves(w.Source.RemoteURL)) {
		return ""
	}
	if err == nil {
		var gh *github.Client
		if gh, err = issue.Client(w.Env, f, f.Token, w.Env.Stderr); err == nil {
			pull, problem := gh.In(w.Source.GitHub).Pull(ctx, w.Run.PRNumber)
			title, err = pull.Title, problem
		}
	}
	if err != nil {
		_, _ = fmt.Fprintf(w.Env.Stderr, "reprise: %s\n", w.Shown("title unknown", "why", err.Error()))
	}
	return title
}

// pauseNote leaves a note for the process that works on a run: it is told to stop for a pause.
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

// openFreed opens a run, after telling a process on this machine that works on it to stop if the command means that.
func openFreed(ctx context.Context, env environ.Env, s steerRequest) (*workspace.Workspace, error) {
	s.Still = s.Name != "update"
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
		defer os.Remove(note) // a process that has ended does not read it
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

// openClaimed opens a run for a change of it, and makes sure that nobody else works on it.
func openClaimed(ctx context.Context, env environ.Env, o workspace.Options) (*workspace.Workspace, error) {
	w, err := workspace.Open(ctx, env, o)
	if err != nil {
		return nil, err
	}
	if err := claimRun(ctx, w, o); err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// claimRun makes sure that nobody else works on a run, which was opened with o, and takes what
// jobs that are gone have done of its parts: a command is for the run as it stands with that.
func claimRun(ctx context.Context, w *workspace.Workspace, o workspace.Options) error {
	if err := w.Busy(w.Env.Now()); err != nil && !phases.LeftToTasks(w.Run) {
		return err
	}
	return bot.JoinParts(ctx, w, o, false)
}

// goOnCommand says how to go on with a run: with one command on the same line, with one of
// several on lines of their own. A run that nothing takes further is done.
func goOnCommand(ctx context.Context, w *workspace.Workspace, run metadata.Run) string {
	switch commands := view.NextCommands(phases.On(w.Plan, run)); len(commands) {
	case 0:
		name := w.Source.Name(ctx, run.BranchName)
		if w.Repo.Unmoved() != "" {
			name = w.Repo.Tip()
		}
		return w.Shown("done") + text.If(!w.Push, "\n"+w.Shown("continue", "command", "git merge "+text.Flat(name)))
	case 1:
		return w.Shown("continue", "command", commands[0])
	default:
		lead := w.Shown("continue one")
		if phases.LeftToTasks(run) {
			lead = w.Shown("left to tasks")
		}
		return lead + "\n  " + strings.Join(commands, "\n  ")
	}
}

// warnOfSteering says what went wrong with the repository and stopped nothing, each once.
func warnOfSteering(w *workspace.Workspace) {
	for _, note := range w.Repo.Warnings() {
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+note)
	}
}

// update merges the base into a run at once, and says what became of that. Agents are called
// by "reprise run"; a run that has nothing else to do stops as it had.
func (s steerRequest) update(ctx context.Context, w *workspace.Workspace) error {
	o := command.Request{Command: s.Command, By: w.Source.UserName, At: w.Env.Now()}
	x, err := o.Apply(phases.On(w.Plan, w.Run), false)
	if err != nil {
		return exit.AsUsage(err)
	}
	u := updaterOf(w, nil)
	due, err := u.Look(ctx, w.Run)
	if err != nil {
		return err
	}
	if !due {
		warnOfSteering(w)
		_, _ = fmt.Fprintln(w.Env.Stderr, text.Capitalize(metadata.Because("base_has", "branch", bot.BaseName(w.Run, w.Source)).In(w.Catalogue())))
		return nil
	}
	e, err := w.Engine(s.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	u.Engine = e
	run := phases.Take(w.Run, x.Run, o.Taken(x))
	if err = e.Amend(ctx, run, "update"); err == nil {
		run, err = u.Bring(ctx, run)
	}
	if err == nil && run.Status == metadata.Running && phases.Decide(phases.On(w.Plan, run)).Final() {
		if run, err = e.Run(ctx, run); err == nil {
			err = e.Finish(ctx, run, w.Warn)
		}
	}
	if err != nil {
		return err
	}
	w.Run = run
	said, conflicts := phases.NewestMerge(run), run.Stop != nil && run.Stop.Code == metadata.Conflicts
	if conflicts {
		said = run.Stop.Why
	}
	tellSteered(ctx, w, text.Capitalize(said.In(w.Catalogue())))
	if conflicts {
		return exit.Code(exit.Failed)
	}
	return nil
}

// tellSteered says what was committed of a run, what went wrong with the repository, and how to go on.
func tellSteered(ctx context.Context, w *workspace.Workspace, said string) {
	warnOfSteering(w)
	terminal.Tell(w.Env.Stderr, said+"\n"+w.Shown("committed", "commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", goOnCommand(ctx, w, w.Run)))
}
