package bot

import (
	"context"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// takeLabel removes the label that asked for a run, so that people can add it again.
func (b *bot) takeLabel(ctx context.Context) {
	if b.t.Label == "" || b.in.Dry {
		return
	}
	b.voice.warnOf(b.thread.RemoveLabel(ctx, b.t.Label))
}

// refuseLabel takes off a label that somebody without the right has put on, or a template of issues, and says so once:
// as long as it is there, nobody can add it.
func (b *bot) refuseLabel(ctx context.Context, no page.Denial) {
	if b.t.Label == "" || b.in.Dry {
		return
	}
	b.takeLabel(ctx)
	marker := page.MarkerOf("label", b.id())
	no.Why = metadata.Because("label_refused", "why", no.Why, "label", b.t.Label)
	_, err := b.thread.Post(ctx, marker, page.RefusalReply(marker, b.voice.language(), no), time.Time{})
	b.voice.warnOf(err)
}

// takenBack looks at the comment that asked as it is by now. What it returns is how the job ends if it was deleted, which
// takes the command back, or edited: then nobody knows what was accepted. A job that is started again goes on.
func (b *bot) takenBack(ctx context.Context) *jobEnd {
	if b.t.Comment == nil || b.restarted {
		return nil
	}
	switch now, err := b.inbox.ThreadOf(b.t.Said()).Comment(ctx, b.t.Said()); {
	case github.IsKind(err, github.NotFound, github.Gone):
		return new(b.ignore(metadata.StaleEvent, metadata.Because("comment_deleted")))
	case err != nil:
		return new(b.undecided(err))
	case now.Edited():
		return new(b.refuseAll(ctx, b.denial(metadata.PermissionDenied, metadata.Because("comment_edited"))))
	}
	return nil
}

// mayAsk says why somebody may not ask for this, or nothing.
func (b *bot) mayAsk(ctx context.Context) *page.Denial {
	if b.t.CI {
		return nil // nobody asks for anything: the run goes on as it was asked to
	}
	need := b.t.Requested.Role()
	askers := []github.User{b.t.Asker}
	if again := inbox.RunnerOf(b.env).Again; again != "" && !strings.EqualFold(again, b.t.By) {
		askers = append(askers, github.User{Login: again}) // started an old job again
	}
	for _, who := range askers {
		if no := b.inbox.May(ctx, who, need); no != nil {
			no.What = text.FirstLine(b.t.Text)
			return no
		}
	}
	return nil
}

// signTime is how long the gate may take for a sign: nobody waits a minute for one.
const signTime = 10 * time.Second

// react puts a sign on the comment that asked, if one did; fresh says that it was
// not there before, as far as is known.
func (b *bot) react(ctx context.Context, r github.Reaction) (fresh bool) {
	if b.in.Command == setup.GateOnly {
		var stop context.CancelFunc
		ctx, stop = context.WithTimeout(ctx, signTime)
		defer stop()
	}
	return b.t.Comment == nil || b.voice.react(ctx, b.t.Comment.ID, r)
}
