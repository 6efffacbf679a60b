package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// bot does what people ask for in the comments of one issue.
type bot struct {
	spoken string // language of a run that this job only answers questions about; empty if that is not known
	job    *job
	env    environment
	in     inputs
	t      trigger
	gh     *github.Client
	thread *github.Thread

	owner, name string // of the repository
	me          string // this process, in the lease on a run
	again       bool   // the job was started again by hand

	w       *workspace
	engine  *phases.Engine
	holding bool // this process has taken the run
	acted   bool // this process did more with the run than refuse commands
	orphan  bool // who had the run is gone, and may have left something undone
	shut    bool // the issue is closed: no more work is done on it
	obeyed  int  // orders that this process took
	live    *github.Live
	shown   error // why the live comment could not be shown the last time
	told    told
	deaf    error // why it is not known what people have asked for since

	asked     bool // what the work takes is there
	triedPull bool
	// triedChildren are the ids of the issues that this process has tried to open.
	triedChildren []string
	// turnedDown is why what a form or a workflow asked for was refused. There
	// is no comment to answer, so the job itself has to say it.
	turnedDown *denial
	noted      []denial // what was refused while the job ran
	owes       []int64  // comments with a command that ends when the run does
	outbox     outbox

	mu    sync.Mutex // the queue is looked at while an agent works
	queue queue
	roles map[asker]github.Role
	small map[string]smallRole // by login, in small letters
}

// smallRole is a role that was not enough, and until when that holds: who has
// no right shall not have the forge asked for each of a hundred comments.
type smallRole struct {
	role  github.Role
	until time.Time
}

// smallFor is how long a no holds.
const smallFor = time.Minute

// jobEnd is how a job ended.
type jobEnd struct {
	decision decision
	denial          // why nothing was done, or why a run stopped; zero if all went well
	text     string // an answer that has no comment to stand in
	err      error
}

// unknown reports whether nothing was done because the forge did not answer,
// so that nobody knows whether it should have been.
func (e jobEnd) unknown() bool {
	return e.decision == denied && (e.Code == metadata.APIError || e.Code == metadata.CredentialsMissing)
}

// words are the reason and its code, for a line.
func (d denial) words(language string) string {
	return fmt.Sprintf("%s: %s", d.Code, phases.Say(language, d.Why))
}

// decision is what became of an event, for the steps that follow.
type decision string

// The decisions.
const (
	toRun   decision = "run"     // there is work to do, or it was done
	replied decision = "replied" // it was answered, and that was all
	ignored decision = "ignored" // it asks for nothing
	denied  decision = "denied"  // whoever asks may not, or not so
)

// newBot prepares to act on a trigger. Nothing is sent yet.
func newBot(j *job, in inputs, t trigger) (*bot, error) {
	owner, name, ok := strings.Cut(t.repository, "/")
	if !ok {
		return nil, fmt.Errorf("the event does not say which repository it is about (GITHUB_REPOSITORY is %q)", j.env.getenv("GITHUB_REPOSITORY"))
	}
	b := &bot{
		job: j, env: j.env, in: in, t: t, owner: owner, name: name, roles: map[asker]github.Role{}, small: map[string]smallRole{},
		me: jobOf(j.env), again: j.env.getenv("GITHUB_RUN_ATTEMPT") > "1",
	}
	f, err := forgeOf(j.env)
	if err != nil {
		return nil, err
	}
	b.gh, err = j.env.asks(f, in.token, j.env.stdout)
	if err != nil {
		return nil, err
	}
	b.thread = b.gh.Thread(owner, name, t.number)
	if t.at.IsZero() {
		b.t.at = j.env.now() // a form; what was written before is not for this job
	}
	b.queue = newQueue(b.t)
	return b, nil
}

// act does what was asked for, if whoever asks may.
func (b *bot) act(ctx context.Context) jobEnd {
	if no := b.elsewhere(ctx); no != nil {
		return jobEnd{decision: denied, denial: *no}
	}
	asked := b.t.asked
	if asked.Outcome == slashAsked && asked.Command.spec().Shared && b.strange(ctx) {
		return jobEnd{decision: ignored, denial: denial{Code: metadata.NotACommand, By: b.t.by, What: firstLine(b.t.text), Why: metadata.Because("no_run_about")}}
	}
	if no := b.mayAsk(ctx); no != nil {
		if no.Code == metadata.PermissionDenied {
			b.react(ctx, github.Confused)
		}
		return jobEnd{decision: denied, denial: *no}
	}
	fresh := b.react(ctx, github.Eyes)
	switch {
	case asked.Outcome == slashMistaken, asked.Command.now():
		return b.replyNow(ctx, fresh)
	case b.in.command == gateOnly:
		return jobEnd{decision: toRun}
	}
	return b.session(ctx)
}

// elsewhere says that the workflow runs on another branch than the default one,
// where the event does not name that, so that the forge has to; or nothing.
func (b *bot) elsewhere(ctx context.Context) *denial {
	ref := runnerOf(b.env).ref
	if b.t.branch != "" || ref == "" {
		return nil
	}
	no := &denial{Code: metadata.ConfigInvalid, By: b.t.by, What: firstLine(b.t.text)}
	repo, err := b.gh.Repository(ctx, b.owner, b.name)
	switch {
	case err != nil:
		no.Code, no.Why = apiProblem(err), phases.WhyOf(err)
	case ref != "refs/heads/"+repo.DefaultBranch:
		no.Why = onOtherBranch(ref, repo.DefaultBranch)
	default:
		b.t.branch = repo.DefaultBranch
		return nil
	}
	return no
}

// strange reports whether a command whose name other programs share is likely
// to be for one of them: there is no run it could be about.
func (b *bot) strange(ctx context.Context) bool {
	_, _, err := b.known(ctx)
	return errors.Is(err, fs.ErrNotExist)
}

// takeLabel takes the label off that asked for a run, so that it can be put on
// again.
func (b *bot) takeLabel(ctx context.Context) {
	if b.t.label == "" || b.in.dry {
		return
	}
	if _, err := b.thread.RemoveLabel(ctx, b.t.label); err != nil {
		b.warn(err)
	}
}

// mayAsk says why somebody may not ask for this, or nothing.
func (b *bot) mayAsk(ctx context.Context) *denial {
	need := b.t.asked.role()
	askers := []string{b.t.by}
	if again := runnerOf(b.env).again; again != "" && !strings.EqualFold(again, b.t.by) {
		askers = append(askers, again) // started an old job again
	}
	for _, who := range askers {
		if no := b.may(ctx, asker{who, b.t.said()}, need); no != nil {
			no.What = firstLine(b.t.text)
			return no
		}
	}
	return nil
}

// asker is who asks for something. What somebody may do is looked up for each
// command anew: a job is long, and rights are taken back.
type asker struct {
	who     string // login
	comment int64  // 0 if it came another way
}

// may says why somebody has not the right, or nothing. That it cannot be found
// out is a no of its own.
func (b *bot) may(ctx context.Context, by asker, need github.Role) *denial {
	who := by.who
	no := &denial{Code: metadata.PermissionDenied, By: who}
	if len(b.in.users) > 0 && !containsFold(b.in.users, who) {
		no.Why = metadata.Because("user_not_allowed", "who", who)
		return no
	}
	b.mu.Lock()
	role, known := b.roles[by]
	if s := b.small[strings.ToLower(who)]; !known && b.env.now().Before(s.until) && !s.role.AtLeast(need) {
		role, known = s.role, true
	}
	b.mu.Unlock()
	if strings.HasSuffix(who, "[bot]") && containsFold(b.in.bots, who) {
		role, known = github.RoleWrite, true // an app can have no role: the workflow file gives it the right
	}
	if !known {
		var err error
		if role, err = b.gh.Role(ctx, b.owner, b.name, who); err != nil {
			no.Why = phases.WhyOf(err)
			if errors.As(err, new(*github.Error)) {
				no.Code = metadata.APIError
			}
			return no
		}
		b.mu.Lock()
		b.roles[by] = role
		if !role.AtLeast(need) {
			b.small[strings.ToLower(who)] = smallRole{role, b.env.now().Add(smallFor)}
		}
		b.mu.Unlock()
	}
	if !role.AtLeast(need) {
		no.Why = metadata.Because("role_too_small", "who", who, "role", role, "need", need)
		return no
	}
	return nil
}

func containsFold(list []string, s string) bool {
	for _, l := range list {
		if strings.EqualFold(l, s) {
			return true
		}
	}
	return false
}

// react puts a sign on the comment that asked; fresh says that it was not
// there before, as far as is known. One that fails is worth a warning and
// nothing more.
func (b *bot) react(ctx context.Context, r github.Reaction) (fresh bool) {
	if b.t.comment == nil {
		return true
	}
	return b.reactTo(ctx, b.t.comment.ID, r)
}

func (b *bot) reactTo(ctx context.Context, comment int64, r github.Reaction) bool {
	if b.in.dry || b.lapsed() {
		return true
	}
	fresh, _, err := b.thread.React(ctx, comment, r)
	if err != nil && !errors.Is(err, phases.ErrSteered) { // then it is tried again
		b.warn(err)
	}
	return fresh || err != nil
}

// warn tells of something that went wrong beside the work.
func (b *bot) warn(err error) {
	b.job.warning(err.Error())
	b.mu.Lock()
	defer b.mu.Unlock()
	if !slices.Contains(b.told.Warnings, err.Error()) {
		b.told.Warnings = append(b.told.Warnings, err.Error())
	}
}

// began reports whether there is a run: one that has a commit, or is rehearsed.
func (b *bot) began() bool { return b != nil && b.w != nil && (b.in.dry || !b.w.fresh) }

// language is that of the run, or of replies where there is none.
func (b *bot) language() string {
	switch {
	case b.w != nil && b.w.run.Language != "":
		return b.w.run.Language
	case b.in.language != "":
		return b.in.language
	}
	return cmp.Or(b.spoken, "en")
}

// id is the issue's, as runs know it.
func (b *bot) id() string { return strconv.Itoa(b.t.number) }

// apiProblem gives a reason code for an error of the forge.
func apiProblem(err error) metadata.Code {
	var problem *github.Error
	if errors.As(err, &problem) && (problem.Kind == github.Forbidden || problem.Kind == github.BadToken) {
		return metadata.CredentialsMissing
	}
	return metadata.APIError
}
