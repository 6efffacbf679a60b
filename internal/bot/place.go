package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// place is where a job works: its environment and inputs, the event that started it, and the issue on the forge. All
// parts of a bot read it; it does not change once a run is open.
type place struct {
	inboxSource
	job *environ.Job

	me        string    // this process, in the lease on a run
	author    [2]string // name and address of the account of the token; empty as long as they are not known
	restarted bool      // the job was started again by hand
}

// newPlace finds the issue that a trigger is about. Nothing is sent yet.
func newPlace(j *environ.Job, in Inputs, t trigger) (*place, error) {
	if !strings.Contains(t.Repository, "/") {
		return nil, fmt.Errorf("the event does not say which repository it is about (GITHUB_REPOSITORY is %q)", j.Env.Getenv("GITHUB_REPOSITORY"))
	}
	p := &place{
		inboxSource: inboxSource{Env: j.Env, In: in, Trigger: t}, job: j,
		me: environ.OwnerOf(j.Env), restarted: j.Env.Getenv("GITHUB_RUN_ATTEMPT") > "1",
	}
	f, err := issue.ForgeOf(j.Env)
	if err != nil {
		return nil, err
	}
	gh, err := issue.Client(j.Env, f, in.Token, j.Env.Stdout)
	if err != nil {
		return nil, err
	}
	p.GitHub = gh.In(t.Repository)
	p.Issue = p.GitHub.Thread(t.Number)
	if t.Pull > 0 {
		p.Pull = p.GitHub.Thread(t.Pull)
		p.Issue = p.Pull // as long as it is not known of which issue it is
	}
	if t.At.IsZero() {
		p.Trigger.At = j.Env.Now() // a form; what was written before is not for this job
	}
	return p, nil
}

// askedAt is when a label or a form asked for this job, by the clock of the forge; zero if that is not known.
func (p *place) askedAt(ctx context.Context) time.Time {
	if p.Trigger.Label != "" {
		return p.Trigger.At
	}
	var run struct {
		At time.Time `json:"created_at"`
	}
	if me, ok := environ.ParseOwner(p.me); ok {
		_, err := p.GitHub.Ask(ctx, github.Request{What: "read when this job was asked for", Needs: "actions: read", Path: fmt.Sprintf("/actions/runs/%d", me.Run)}, &run)
		p.warnOf(unlessKind(err, github.NotFound, github.Gone, github.Forbidden)) // then all that is there was there before
	}
	return run.At
}

// sign has commits be by the account that makes them, as the forge counts them, unless git is told of somebody.
func (p *place) sign(ctx context.Context) {
	if who, err := p.GitHub.Self(ctx); err == nil { // else by nobody
		p.author = [2]string{who.Login, p.address(who)}
	}
}

// letSign has GitHub sign the commits of a run where its pipeline or a rule of its branch demands that, and says who
// signs them off. A job whose git signs by itself is left to that.
func (p *place) letSign(ctx context.Context, w *workspace.Workspace) error {
	s := w.Signing()
	if w.Plan.SignOff {
		by := p.Trigger.By
		for _, d := range w.Run.Decisions {
			if p.Trigger.CI && d.By != "" && (d.Comment > 0 || d.Job != "") { // nobody has asked for this job, and git does not name accounts
				by = d.By
			}
		}
		who, err := p.GitHub.Account(ctx, by)
		if err != nil {
			return err
		}
		s.For = fmt.Sprintf("%s <%s>", who.Login, p.address(who))
	}
	if w.Source.Signs() || p.In.Dry {
		return nil
	}
	sign := w.Plan.Sign
	if !sign {
		rules, err := p.GitHub.Rules(ctx, w.Branch)
		if err != nil {
			w.Warn(err) // a push that is refused says why
		}
		sign = slices.Contains(rules, "required_signatures")
	}
	if sign {
		s.By = p.GitHub.SignedCommit
	}
	return nil
}

// address is that of somebody in commits, as GitHub has it for whoever does not tell theirs.
func (p *place) address(who github.User) string {
	return fmt.Sprintf("%d+%s@users.noreply.%s", who.ID, who.Login, p.GitHub.Web().Hostname())
}

// denial says why what the event asks for is not done.
func (p *place) denial(code metadata.Code, why metadata.Reason) command.Denial {
	return command.Denial{Code: code, By: p.Trigger.By, What: text.FirstLine(p.Trigger.Text), Why: why}
}

// ignore ends a job that is asked for nothing.
func (p *place) ignore(code metadata.Code, why metadata.Reason) error {
	return &jobEnd{decision: ignored, Denial: p.denial(code, why)}
}

// undecided ends a job that could not find out what it is asked for.
func (p *place) undecided(err error) error {
	return &jobEnd{decision: denied, Denial: p.denial(exit.ForgeReason(err), prompts.Why(err))}
}

// id is that of the issue, as runs spell it.
func (p *place) id() string { return strconv.Itoa(p.Trigger.Number) }

// workFolder is the checkout, which may lie below the folder of the job: there, where only one is, or that of this repository.
func (p *place) workFolder() string {
	dir := cmp.Or(p.Env.Getenv("GITHUB_WORKSPACE"), ".")
	for _, depth := range []string{"", "*", "*/*"} {
		found, _ := filepath.Glob(filepath.Join(git.EscapeGlob(dir), depth, ".git")) // the pattern is well formed
		for _, at := range found {
			config, _ := os.ReadFile(filepath.Join(at, "config")) // without it, it is another one's
			if len(found) == 1 || strings.Contains(string(config), "/"+p.GitHub.Name) {
				return filepath.Dir(at)
			}
		}
	}
	return dir
}

// warnOf tells of an error, if there is one.
func (p *place) warnOf(err error) {
	if err != nil {
		p.Warn(err)
	}
}

// began reports whether a run is one: it has a commit, or is rehearsed.
func (p *place) began(w *workspace.Workspace) bool { return p.In.Dry || !w.Fresh }

// holder describes the process that works on a run, from the lease that it wrote. One that is no job of a workflow
// works apart: it takes no commands from the issue.
func (p *place) holder(ctx context.Context, lease *metadata.Lease) (why metadata.Reason, apart bool) {
	if lease == nil || lease.Owner == p.me || !p.Env.Now().Before(lease.Expires) {
		return "", false
	}
	free := lease.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := environ.ParseOwner(lease.Owner)
	if !ok {
		return metadata.Because("held_apart", "owner", lease.Owner, "when", free), true
	}
	why = metadata.Because("held", "owner", lease.Owner)
	if mine, ok := environ.ParseOwner(p.me); ok && mine.Run == other.Run && (mine.Attempt > other.Attempt || sharedLease(p.me, lease)) {
		return "", false // this is the same job, started again, or the one that the others have worked for
	}
	over, err := (&github.Checks{Repo: p.GitHub}).JobOver(ctx, github.Attempt{Run: other.Run, N: int64(other.Attempt)}, func(runner string) bool {
		return other.Runner != "" && environ.RunnerName(runner) == other.Runner
	})
	switch {
	case err != nil:
		return metadata.All(why, metadata.Because("held_unknown", "error", err, "when", free)), false
	case over:
		return "", false
	}
	return why, false
}

// allTasks names all that do parts beside a process, as the holder of a lease: the jobs of the
// run of a workflow that it is in, else tasks on any machine.
func allTasks(me string) string {
	if mine, ok := environ.ParseOwner(me); ok {
		return fmt.Sprintf("actions/%d/%d", mine.Run, mine.Attempt)
	}
	return phases.TasksOwner
}

// sharedLease reports whether a lease is that of all that do parts beside a process; of a
// workflow, in this attempt of its run or one before.
func sharedLease(me string, lease *metadata.Lease) bool {
	if lease == nil || lease.Owner != allTasks(lease.Owner) {
		return false
	}
	mine, ok := environ.ParseOwner(me)
	other, known := environ.ParseOwner(lease.Owner)
	return ok == known && mine.Run == other.Run && mine.Attempt >= other.Attempt
}

// jobOf names the job that a process is, as the origin of a command that stands in no comment; "" if it is none.
func jobOf(me string) string {
	if mine, ok := environ.ParseOwner(me); ok {
		return fmt.Sprintf("actions/%d", mine.Run)
	}
	return ""
}

// lostRace reports whether an error means that a push came too late, because another job has taken the run.
func lostRace(err error) bool {
	var moved *git.Moved
	return errors.As(err, &moved) && moved.Run || errors.As(err, new(*folders.Held))
}
