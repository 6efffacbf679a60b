package main

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// botView shows a run in the log of the job and in the live comment.
type botView struct {
	view
	bot *bot
}

// reporter gives what the engine reports to.
func (b *bot) reporter() phases.Reporter {
	o := viewOptions{Plan: whole(b.w.plan), Verbose: b.in.show}
	return botView{&groupedView{plainView: plainView{p: printer{b.env.stdout, false}, o: o}, group: b.job.group}, b}
}

// Report prints what happens, and brings the comment up to date between steps.
func (v botView) Report(e phases.Event) {
	v.view.Report(e)
	if e.Decision != nil && !e.Decision.Final() {
		v.bot.show(e.Run)
	}
}

// showTime is the longest that the work waits for the live comment.
const showTime = 20 * time.Second

// show brings the live comment up to date, at most every ten seconds. A run
// goes on without it: what keeps it from being shown is a warning, and told
// once.
func (b *bot) show(run metadata.Run) { b.tell(run, b.liveOf(run).Show) }

// flush shows what the last show left for later.
func (b *bot) flush(run metadata.Run) {
	b.show(run)
	b.tell(run, func(ctx context.Context, _ string) error { return b.live.Flush(ctx) })
}

// liveOf gives the live comment of a run, which is found or made when it is
// first shown.
func (b *bot) liveOf(run metadata.Run) *github.Live {
	if b.live == nil {
		b.live = b.thread.Live(markerOf("progress", run.IssueNumber), run.GitHubIntegration.ProgressCommentID)
	}
	return b.live
}

func (b *bot) tell(run metadata.Run, how func(ctx context.Context, body string) error) {
	if b.lapsed() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), showTime)
	defer stop()
	err := how(ctx, liveComment(b.w.plan, run, b.facts(run)))
	switch {
	case err == nil:
		b.shown = nil
	case b.shown == nil || b.shown.Error() != err.Error():
		b.shown = err
		b.job.warning(err.Error())
	}
}

// facts are what people are told besides the record.
func (b *bot) facts(run metadata.Run) told {
	b.mu.Lock()
	defer b.mu.Unlock()
	t := b.told
	t.links = b.links(run)
	for _, d := range b.noted {
		if d.Kept {
			continue
		}
		t.Asked = append(t.Asked, asked{At: b.env.now(), By: d.By, Command: d.What, Outcome: phases.Say(b.language(), d.Why)})
	}
	return t
}

// links are the addresses of what belongs to a run.
func (b *bot) links(run metadata.Run) links {
	server := strings.TrimRight(b.env.getenv("GITHUB_SERVER_URL"), "/")
	if server == "" {
		server = "https://github.com"
	}
	home := fmt.Sprintf("%s/%s/%s", server, url.PathEscape(b.owner), url.PathEscape(b.name))
	l := links{PullRequest: run.PRURL}
	if me, ok := jobIn(b.me); ok {
		l.Job = fmt.Sprintf("%s/actions/runs/%d", home, me.run)
	}
	if b.w != nil {
		l.Branch = home + "/tree/" + (&url.URL{Path: run.BranchName}).EscapedPath()
		l.Files = home + "/blob/" + b.w.repo.Tip() + "/"
	}
	return l
}

// keepComment notes in the record which comment is the live one.
func (b *bot) keepComment(run *metadata.Run) (changed bool) {
	if b.live == nil {
		return false
	}
	id, address := b.live.Comment()
	g := &run.GitHubIntegration
	if id == 0 || id == g.ProgressCommentID {
		return false
	}
	g.ProgressCommentID, g.ProgressCommentURL = id, address
	return true
}
