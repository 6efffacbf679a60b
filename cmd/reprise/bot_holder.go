package main

import (
	"cmp"
	"context"
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// holder is a process as it stands in the lease on a run. One run of a
// workflow may have many jobs, and all of them know the same number: it is the
// machine that tells them apart, and what is random tells apart what runs on
// one machine.
type holder struct {
	run     int64 // of the workflow
	attempt int
	runner  string // the machine; empty if it has no name
	own     string
}

var unfit = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// runnerName is the name of a machine as it stands in a lease.
func runnerName(name string) string {
	name = unfit.ReplaceAllString(name, "-")
	return name[:min(len(name), 60)]
}

// jobOf names this process: the run of a workflow, its attempt and its machine,
// or what else is known of where it runs.
func jobOf(env environment) string {
	own := random()[:12]
	if id := env.getenv("GITHUB_RUN_ID"); id != "" {
		return strings.Join([]string{"actions", id, cmp.Or(env.getenv("GITHUB_RUN_ATTEMPT"), "1"), runnerName(env.getenv("RUNNER_NAME")), own}, "/")
	}
	return "process/" + own
}

// jobIn reads what jobOf wrote, also as it was before it named a machine.
func jobIn(owner string) (holder, bool) {
	parts := strings.Split(owner, "/")
	if parts[0] != "actions" || len(parts) != 3 && len(parts) != 5 {
		return holder{}, false
	}
	id, err := strconv.ParseInt(parts[1], 10, 64)
	attempt, err2 := strconv.Atoi(parts[2])
	h := holder{run: id, attempt: attempt}
	if len(parts) == 5 {
		h.runner, h.own = parts[3], parts[4]
	}
	return h, err == nil && err2 == nil
}

// held says that another process works on the run, or nothing. It may be told
// from the lease that it wrote; a job that is over holds nothing any more.
func (b *bot) held(ctx context.Context, run metadata.Run) *denial {
	lease := run.Execution.Lease
	if lease == nil || lease.Owner == b.me || !b.env.now().Before(lease.Expires) {
		return nil
	}
	no := &denial{Code: metadata.AlreadyRunning, By: b.t.by, What: firstLine(b.t.text)}
	no.Why = metadata.Because("held", "owner", lease.Owner)
	free := lease.Expires.UTC().Format("2006-01-02 15:04 UTC")
	other, ok := jobIn(lease.Owner)
	if !ok {
		no.Why = metadata.All(no.Why, metadata.Because("held_until", "when", free))
		return no
	}
	if mine, ok := jobIn(b.me); ok && mine.run == other.run && mine.attempt > other.attempt {
		return nil // this is the same job, started again
	}
	over, err := b.gh.JobOver(ctx, b.owner, b.name, other.run, other.attempt, func(runner string) bool {
		return other.runner != "" && runnerName(runner) == other.runner
	})
	switch {
	case err != nil:
		no.Why = metadata.All(no.Why, metadata.Because("held_unknown", "error", err, "when", free))
	case over:
		return nil
	}
	return no
}

// lapsed reports whether this process had taken the run and cannot know any
// more that it still has it, such as after a machine stood still for hours. It
// writes nothing then: whoever works on the run does.
func (b *bot) lapsed() bool { return b.engine != nil && b.engine.Lapsed() }

// giveBack shows how a run that has stopped stands, and lets go of it. Until
// then no other job begins, so nobody sees the words of two.
func (b *bot) giveBack(ctx context.Context) error {
	if !b.acted && b.w.run.GitHubIntegration.ProgressCommentID > 0 {
		return b.letGo(ctx) // the comment says what it said before this job
	}
	shown := b.w.run
	if b.engine.Holds() || b.engine.Left {
		shown = phases.Touch(shown, b.env.now())
	}
	b.flush(shown)
	return b.letGo(ctx)
}

// letGo lets go of the run.
func (b *bot) letGo(ctx context.Context) error {
	next, err := b.engine.GiveBack(ctx, b.w.run)
	if err != nil && !taken(err) {
		b.warn(err) // it is free when this job is over
		err = nil
	}
	b.w.run, b.holding = next, false
	return err
}

// left takes what people asked for while this job had the run to itself, and
// other jobs left it to this one. It reports whether there was anything.
func (b *bot) left(ctx context.Context) (bool, error) {
	if ctx.Err() != nil {
		return false, nil
	}
	b.look(ctx, true)
	if len(b.pending(b.w.run)) == 0 {
		return false, nil
	}
	before := b.w.run.Revision
	run, err := b.drain(ctx, b.w.run)
	if taken(err) {
		return false, nil // by another job, which does the rest as well
	}
	b.w.run = run
	return run.Revision != before, err
}
