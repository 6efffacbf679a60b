package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// reply answers comments, unless that was done already. An error has been told
// as a warning.
func (b *bot) reply(ctx context.Context, comments []int64, body func(marker string) string) error {
	if b.in.dry || b.lapsed() {
		return nil
	}
	marker := replyMarker(comments...)
	b.mu.Lock()
	since := b.queue.since
	b.mu.Unlock()
	_, err := b.thread.Post(ctx, marker, body(marker), since)
	if err != nil && !errors.Is(err, phases.ErrSteered) { // then it is tried again
		b.warn(err)
	}
	return err
}

// replyNow answers what is answered at once: questions, and mistakes. It needs
// no checkout, and does not wait for a job that works on the run.
func (b *bot) replyNow(ctx context.Context, fresh bool) jobEnd {
	end := jobEnd{decision: replied}
	if b.t.asked.Outcome == slashMistaken {
		end.decision, end.denial = denied, denial{Code: metadata.NotACommand, By: b.t.by, What: firstLine(b.t.text), Why: metadata.Said(oneLine(b.t.asked.reply(b.language())))}
	}
	if b.t.comment == nil { // a form or a workflow asks; the page of the job is the answer
		end.text = b.answerText(ctx, b.t.asked, b.t.by, "")
		return end
	}
	if !fresh && !b.again {
		return end // the job that works on the run has taken it
	}
	if end.err = b.replyTo(ctx, waiting{*b.t.comment, b.t.asked}); end.err != nil {
		end.Code, end.Why = apiProblem(end.err), phases.WhyOf(end.err)
	}
	return end
}

// replyTo answers a question or a mistake. An error has been told as a warning.
func (b *bot) replyTo(ctx context.Context, c waiting) error {
	err := b.reply(ctx, []int64{c.comment.ID}, func(marker string) string {
		return b.answerText(ctx, c.asked, c.comment.Author.Login, marker)
	})
	if err != nil {
		return err
	}
	sign := github.Rocket
	if c.asked.Outcome == slashMistaken {
		sign = github.Confused
	}
	b.reactTo(ctx, c.comment.ID, sign)
	return nil
}

// answerText is what a question is answered with.
func (b *bot) answerText(ctx context.Context, asked slashParsed, by, marker string) string {
	plan, found, err := b.known(ctx)
	b.spoken = found.Language
	if text := asked.reply(b.language()); text != "" {
		return marker + "\n" + text
	}
	refusal := func(code metadata.Code, err error) string {
		return refusalReply(marker, b.language(), denial{Code: code, By: by, What: "/" + asked.Command.Name, Why: phases.WhyOf(err), Known: true})
	}
	if asked.Command.Name == "help" {
		return marker + "\n" + slashHelp(b.language(), asked.Command.Topic, nil)
	}
	switch none := errors.Is(err, fs.ErrNotExist); {
	case err != nil && !none:
		return refusal(apiProblem(err), err)
	case asked.Command.Name == "config":
		return b.configText(ctx, marker, plan)
	case none:
		return refusal(metadata.NoRun, errors.New(""))
	case asked.Command.Name == "status":
		return statusReply(marker, plan, found, told{links: b.links(found)}, found.GitHubIntegration.ProgressCommentURL)
	}
	back, err := phases.Back(plan, found, order{slashCommand: asked.Command, by: by, at: b.env.now()}.rewind())
	if err != nil {
		return refusal(metadata.NotACommand, meant(err))
	}
	return rewoundReply(marker, plan, back)
}

// known gives the run of the issue with its plan: as this job has it, or as
// the branch on the forge does. The error is an fs.ErrNotExist if there is no
// run.
func (b *bot) known(ctx context.Context) (*pipelines.Pipeline, metadata.Run, error) {
	if b.began() {
		return b.w.plan, b.w.run, nil
	}
	branch, folder := b.env.branch(b.id()), phases.Folder(b.id())
	data, err := b.gh.File(ctx, b.owner, b.name, branch, recordFile(b.id()))
	if err != nil {
		return nil, metadata.Run{}, err
	}
	read, err := metadata.Parse(data, branch+":"+recordFile(b.id()))
	if err != nil {
		return nil, read, err
	}
	if data, err = b.gh.File(ctx, b.owner, b.name, branch, path.Join(folder, phases.PipelineFile)); err != nil {
		return nil, read, err
	}
	plan, err := pipelines.Parse(data)
	return plan, read, err
}

// configText says what a run of the issue goes by, or would.
func (b *bot) configText(ctx context.Context, marker string, plan *pipelines.Pipeline) string {
	f := configFacts{Version: versionText(), Bots: b.in.bots, Protects: b.in.protect, Sandbox: b.in.sandbox}
	for _, s := range slashTable() {
		f.Rights = append(f.Rights, right{"/" + s.Name, string(s.Role)})
	}
	f.Why, f.From = phases.Say(b.language(), metadata.Because("began_with_it")), b.env.branch(b.id())
	if plan == nil {
		var err error
		if plan, f.Why, err = b.choose(ctx); err != nil {
			return refusalReply(marker, b.language(), denial{Code: metadata.ConfigInvalid, By: b.t.by, What: "/config", Why: phases.WhyOf(err)})
		}
		f.From = b.t.branch
	}
	return configReply(marker, b.language(), plan, f)
}

// choose says which pipeline a new run would have, by what the default branch
// on the forge has.
func (b *bot) choose(ctx context.Context) (*pipelines.Pipeline, string, error) {
	eval, err := evaluator()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder; the system removes what is left
	const folder = ".github/reprise/pipelines"
	names, err := b.gh.Files(ctx, b.owner, b.name, b.defaultBranch(), folder)
	if err != nil {
		return nil, "", err
	}
	if err := os.Mkdir(filepath.Join(dir, "pipelines"), 0o700); err != nil {
		return nil, "", err
	}
	for _, name := range names {
		data, err := b.gh.File(ctx, b.owner, b.name, b.defaultBranch(), path.Join(folder, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, "pipelines", filepath.Base(name)), data, 0o600)
		}
		if err != nil {
			return nil, "", err
		}
	}
	is := pipelines.Issue{}
	if b.t.issue != nil {
		is = pipelines.Issue{Title: b.t.issue.Title, Labels: b.t.issue.Labels, Type: b.t.issue.Type}
	}
	name := b.in.pipeline
	if isPath(name) {
		return nil, "", fmt.Errorf("the workflow names the file %s, which is read when a run begins", strings.TrimSpace(name))
	}
	plan, why, err := pipelines.Choose(ctx, pipelines.Sources{Evaluator: eval, Repo: os.DirFS(dir)}, is, name)
	if err != nil {
		return nil, "", err
	}
	plan.Language = cmp.Or(b.in.language, plan.Language)
	b.spoken = plan.Language
	return plan, why, plan.Speak()
}

// defaultBranch is the default branch as the event names it.
func (b *bot) defaultBranch() string {
	if b.t.branch != "" {
		return b.t.branch
	}
	return "HEAD"
}
