package bot

import (
	"context"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// botView shows a run in the log of the job and in the live comment.
type botView struct {
	terminal.View
	voice *voice
}

// reporter gives what the engine reports to.
func (v *voice) reporter() engine.Reporter {
	return botView{terminal.NewView(v.env.Stdout, terminal.Options{Plan: v.subject().plan, Verbose: v.in.Show, Group: v.job.Group}), v}
}

// Report prints what happens, and brings the comment up to date between steps.
func (v botView) Report(e engine.Event) {
	v.View.Report(e)
	if e.Activity == nil {
		near := v.voice.subject().near(e.Run)
		v.voice.change(func(n *page.Notices) { n.Near = near })
	}
	if e.Decision != nil && !e.Decision.Final() {
		v.voice.show(e.Run)
	}
}

// showTime is the longest that the work waits for the live comment.
const showTime = 20 * time.Second

// show brings the live comment up to date, at most every ten seconds. A run
// goes on without it.
func (v *voice) show(run metadata.Run) { v.put(run, v.liveOf(run).Show) }

// flush is show without the ten seconds.
func (v *voice) flush(run metadata.Run) { v.put(run, v.liveOf(run).Flush) }

// liveOf gives the live comment of a run, which is found or made when it is
// first shown.
func (v *voice) liveOf(run metadata.Run) *github.Live {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.live == nil {
		v.live = v.thread.Live(page.MarkerOf("progress", run.IssueNumber), run.GitHubIntegration.ProgressCommentID)
	}
	return v.live
}

// put updates the live comment from a run. A failure is told once.
func (v *voice) put(run metadata.Run, how func(ctx context.Context, body string) error) {
	if v.lease.expired() {
		return
	}
	ctx, stop := context.WithTimeout(context.Background(), showTime)
	defer stop()
	err := how(ctx, page.LiveComment(v.subject().plan, run, v.facts(run)))
	if v.isNews(err) {
		v.job.Warning(exit.Why(err).In(prompts.Words(v.language())))
	}
}

// isNews remembers why the live comment could not be shown, and reports whether
// people should be told: not if it is the same as the last time.
func (v *voice) isNews(err error) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	was := v.shown
	v.shown = err
	return err != nil && (was == nil || was.Error() != err.Error())
}

// facts are what people are told besides the record.
func (v *voice) facts(run metadata.Run) page.Notices {
	v.mu.Lock()
	defer v.mu.Unlock()
	t := v.notices
	t.Links = v.linksTo(run, v.about.tip)
	t.Remaining = view.Remaining(v.about.plan, run, v.earlier)
	for _, d := range v.noted {
		if !d.Kept {
			t.Requests = append(t.Requests, page.Requested{At: v.env.Now(), By: d.By, Command: d.What, Outcome: d.Why.In(prompts.Words(v.speaks()))})
		}
	}
	return t
}

// linksTo are the addresses of what belongs to a run; tip is nil if it is not open.
func (v *voice) linksTo(run metadata.Run, tip func() string) page.Links {
	is := page.Repository{Server: v.env.Getenv("GITHUB_SERVER_URL"), Owner: v.owner, Name: v.name, Uploads: v.in.Upload}
	if me, ok := environ.ParseOwner(v.me); ok {
		is.Job = me.Run
	}
	if tip != nil {
		is.Tip = tip()
	}
	return is.Links(run)
}

// keepComment notes in the record which comment is the live one.
func (v *voice) keepComment(run *metadata.Run) (changed bool) {
	v.mu.Lock()
	live := v.live
	v.mu.Unlock()
	if live == nil {
		return false
	}
	id, address := live.Comment()
	g := &run.GitHubIntegration
	if id == 0 || id == g.ProgressCommentID {
		return false
	}
	g.ProgressCommentID, g.ProgressCommentURL = id, address
	return true
}

// isShown reports whether there is a live comment of a run.
func (v *voice) isShown() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.about.plan != nil && v.live != nil
}
