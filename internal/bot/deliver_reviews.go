package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// answerReviews answers the reviews that a run has taken, once it is completed or they were refused: in each
// conversation what became of what was said, and then its author is asked for another review. It notes in the record
// which are answered. One that could not be is a warning, and tried again by the next job; what was said already is
// found then.
func (d *delivery) answerReviews(ctx context.Context, repo workspace.Checkout, run *metadata.Run) (changed bool) {
	if d.Expired() || run.PRNumber == 0 {
		return false
	}
	next := run.Clone()
	pull := &PullOfRun{Thread: d.GitHub.Thread(run.PRNumber)}
	for i := range next.Reviews {
		v := &next.Reviews[i]
		if v.Answered || v.Refused == "" && run.Status != metadata.Completed || ctx.Err() != nil {
			continue
		}
		commit, err := writtenIn(ctx, repo, next, v.Phase)
		if err == nil {
			err = d.answerReview(ctx, pull, next, *v, commit)
		}
		d.Voice.warnOf(err)
		if err == nil {
			v.Answered, changed = true, true
		}
	}
	if changed {
		*run = next
	}
	return changed
}

// writtenIn gives the commit in which a phase has last written its work; the newest of all if there is none, as after the
// branch was made one.
func writtenIn(ctx context.Context, repo workspace.Checkout, run metadata.Run, phase string) (string, error) {
	log, err := repo.Log(ctx, run.BaseCommit)
	if rec := run.Phase(phase); rec != nil {
		for _, c := range log {
			if slices.Contains(c.Trailers, git.Trailer{Key: workspace.AttemptTrailer, Value: fmt.Sprint(rec.Written)}) {
				return c.Commit, nil
			}
		}
	}
	return repo.Tip(), err
}

// answerReview answers one review. Programs get no answer when they are refused: they might answer that.
func (d *delivery) answerReview(ctx context.Context, pull *PullOfRun, run metadata.Run, v metadata.PullReview, commit string) error {
	bot, marker := strings.HasSuffix(v.By, "[bot]"), page.ReviewMarker(v.ID)
	if v.Refused != "" {
		if bot {
			return nil
		}
		refused := command.Denial{Code: metadata.NothingDone, By: v.By, Why: v.Refused, Known: true}
		for _, d := range run.Decisions {
			if d.By == v.By && d.At.Equal(v.At) {
				refused.What = "/" + d.Step
			}
		}
		refusal := page.RefusalReply(marker, run.Language, refused)
		_, err := d.GitHub.Thread(run.PRNumber).Post(ctx, marker, refusal, page.Since(v.At))
		return err
	}
	var threads []int64
	said := map[int64][]metadata.ReviewComment{}
	for _, c := range v.Comments {
		if len(said[c.Thread]) == 0 {
			threads = append(threads, c.Thread)
		}
		said[c.Thread] = append(said[c.Thread], c)
	}
	for _, id := range threads {
		if err := pull.reply(ctx, id, marker, page.ThreadReply(run.Language, commit, said[id])); err != nil {
			return err
		}
	}
	if bot || v.By == "" {
		return nil
	}
	if left, err := pull.Left(ctx, v.ID, len(v.Comments)); err != nil {
		return err
	} else if left > 0 {
		text := page.ReviewCutReply(marker, run.Language, len(v.Comments), left)
		if _, err := d.GitHub.Thread(run.PRNumber).Post(ctx, marker, text, page.Since(v.At)); err != nil {
			return err
		}
	}
	return pull.request(ctx, v.By, v.ID)
}
