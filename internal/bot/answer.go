package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// replyTo answers a question or a mistake. An error has been told as a warning.
func (v *voice) replyTo(ctx context.Context, c waiting) error {
	err := v.reply(ctx, []int64{c.Comment.ID}, func(marker string) string {
		return v.answerText(ctx, c.Parsed, c.Comment.Author.Login, marker)
	})
	if err != nil {
		return err
	}
	sign := github.Rocket
	if c.Parsed.Outcome == command.Mistaken {
		sign = github.Confused
	}
	v.react(ctx, c.Comment.ID, sign)
	return nil
}

// answerText is the answer to a question.
func (v *voice) answerText(ctx context.Context, asked command.Parsed, by, marker string) string {
	found, err := v.known(ctx)
	v.locked(func() { v.spoken = found.Run.Language })
	if text := asked.Reply(v.language()); text != "" {
		return marker + "\n" + text
	}
	refusal := func(code metadata.Code, err error) string {
		return page.RefusalReply(marker, v.language(), command.Denial{Code: code, By: by, What: "/" + asked.Command.Name, Why: prompts.Why(err), Known: true})
	}
	if asked.Command.Name == "help" {
		return marker + "\n" + command.Help(v.language(), asked.Command.Topic)
	}
	switch none := errors.Is(err, fs.ErrNotExist); {
	case err != nil && !none:
		return refusal(exit.ForgeReason(err), err)
	case asked.Command.Name == "config":
		return v.configText(ctx, marker, found.Plan)
	case none:
		return refusal(metadata.NoRun, errors.New(""))
	case asked.Command.Name == "status":
		return page.Notice(marker, nil, found, page.Notices{Links: v.linksTo(found.Run, v.subject().tip)})
	}
	back, err := phases.PlanRollback(found, command.Request{Command: asked.Command, By: by, At: v.Env.Now()}.Rollback())
	if err != nil {
		return refusal(metadata.NothingDone, command.WithNearest(err))
	}
	return page.RollbackReply(marker, found.Plan, back)
}

// known gives the run of the issue with its plan: as this job has it, or as it is on the branch at the forge. The
// error is an fs.ErrNotExist if there is no run.
func (v *voice) known(ctx context.Context) (phases.Course, error) {
	if is := v.subject(); is.began {
		return is.Course, nil
	}
	branch := v.Env.Branch(v.id())
	return phases.Read(v.id(), branch, reviewFiles(ctx, v.GitHub, branch, v.id()))
}

// configText gives the settings that a run of the issue has, or would have.
func (v *voice) configText(ctx context.Context, marker string, plan *pipelines.Pipeline) string {
	f := page.ConfigFacts{Version: environ.VersionText(), Bots: v.In.Bots, Sandbox: v.In.Sandbox}
	for _, s := range command.Table() {
		f.Rights = append(f.Rights, page.Right{Command: "/" + s.Name, Role: string(s.Role)})
	}
	why := metadata.Because("began_with_it")
	f.From = v.Env.Branch(v.id())
	if plan == nil {
		var err error
		if plan, why, err = v.choose(ctx); err != nil {
			return page.RefusalReply(marker, v.language(), command.Denial{Code: metadata.ConfigInvalid, By: v.Trigger.By, What: "/config", Why: prompts.Why(err)})
		}
		f.From = v.Trigger.Branch
	}
	f.Why = why.In(prompts.Words(v.language()))
	return page.ConfigReply(marker, v.language(), plan, f)
}

// choose says which pipeline a new run would have.
func (v *voice) choose(ctx context.Context) (*pipelines.Pipeline, metadata.Reason, error) {
	is := issue.Issue{ID: v.id()}
	if v.Trigger.Issue != nil {
		is.Title, is.Labels, is.Type = v.Trigger.Issue.Title, v.Trigger.Issue.Labels, v.Trigger.Issue.Type
	}
	src, err := git.Find(ctx, v.workFolder())
	if err != nil {
		return nil, "", err
	}
	d, err := workspace.Define(ctx, src, is, workspace.Choice{Pipeline: v.In.Pipeline, Language: v.In.Language})
	if err == nil {
		v.locked(func() { v.spoken = d.Plan.Language })
	}
	return d.Plan, d.Why, err
}

// takeLabel removes the label that asked for a run, so that people can add it again.
func (b *bot) takeLabel(ctx context.Context) {
	if b.Trigger.Label != "" && !b.In.Dry {
		b.voice.warnOf(b.Issue.RemoveLabel(ctx, b.Trigger.Label))
	}
}

// takenBack looks at the comment, review or label that asked as it is by now. The job ends if it is gone, which takes the
// command back, or the comment edited: then nobody knows what was accepted. One that is started again goes on.
func (b *bot) takenBack(ctx context.Context) (err error) {
	now, gone := github.Comment{}, false
	switch {
	case b.restarted:
	case b.Trigger.Comment != nil:
		now, err = b.inbox.threadOf(b.Trigger.said()).Comment(ctx, b.Trigger.said())
	case b.Trigger.Review != nil:
		_, err = b.Pull.Ask(ctx, github.Request{
			What: fmt.Sprintf("read review %d", b.Trigger.Review.ID), Needs: "pull-requests: read", Doubts: true,
			Path: fmt.Sprintf("/pulls/%d/reviews/%d", b.Trigger.Pull, b.Trigger.Review.ID),
		}, nil)
	case b.Trigger.Label != "":
		var is github.Issue
		is, err = b.GitHub.Issue(ctx, b.Trigger.Number)
		gone = err == nil && !containsFold(is.Labels, b.Trigger.Label)
	}
	switch {
	case gone || github.IsKind(err, github.NotFound, github.Gone):
		return b.ignore(metadata.StaleEvent, metadata.Because("comment_deleted"))
	case err != nil:
		return b.undecided(err)
	case now.ID > 0 && now.Edited():
		return b.refuseAll(ctx, metadata.PermissionDenied, metadata.Because("comment_edited"))
	}
	return nil
}

// mayAskHere ends the job if somebody may not ask for this, and shows that. A label that somebody without the right has put
// on, or a template of issues, is taken off, and that is said once: as long as it is there, nobody can add it.
func (b *bot) mayAskHere(ctx context.Context) error {
	err := b.mayAsk(ctx)
	end, is := errors.AsType[*jobEnd](err)
	if !is || end.Code != metadata.PermissionDenied {
		return err
	}
	b.react(ctx, github.Confused)
	if b.Trigger.Label != "" {
		b.refuseWhatAsked(ctx, end.Denial)
	}
	return err
}

// mayAsk ends the job if somebody may not ask for this.
func (b *bot) mayAsk(ctx context.Context) error {
	if b.Trigger.CI {
		return nil // nobody asks for anything: the run goes on as it was asked to
	}
	askers := []github.User{b.Trigger.Asker}
	if again := runnerOf(b.Env).Again; again != "" && !strings.EqualFold(again, b.Trigger.By) {
		askers = append(askers, github.User{Login: again}) // started an old job again
	}
	for _, who := range askers {
		if no, is := errors.AsType[*command.Refusal](b.inbox.may(ctx, who, b.Trigger.Requested.Role(), false)); is {
			return &jobEnd{decision: denied, Denial: command.Denial{Code: no.Code, By: who.Login, What: text.FirstLine(b.Trigger.Text), Why: no.Why()}}
		}
	}
	return nil
}

// signTime is how long the gate may take for a sign: nobody waits a minute for one.
const signTime = 10 * time.Second

// react puts a sign on the comment that asked, if one did; fresh says that it was
// not there before, as far as is known.
func (b *bot) react(ctx context.Context, r github.Reaction) (fresh bool) {
	if b.In.Command == setup.GateOnly {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, signTime)
		defer stop()
	}
	return b.Trigger.Comment == nil || b.voice.react(ctx, b.Trigger.Comment.ID, r)
}
