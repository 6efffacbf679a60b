package bot

import (
	"context"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// steering is how people reach the run while the engine works: Steer is called by the goroutine of the bot, and
// Urgent by another one, so that it goes by parts that have a lock.
type steering struct {
	steer func(ctx context.Context, run metadata.Run) (metadata.Run, error)
	inbox *inbox.Inbox
	voice *voice
}

// Steer takes what people have asked for since, between two steps.
func (s steering) Steer(ctx context.Context, run metadata.Run) (metadata.Run, error) {
	return s.steer(ctx, run)
}

// Urgent looks at the comments while an agent works, until one of them makes that work pointless.
func (s steering) Urgent(ctx context.Context, now func() metadata.Run) error {
	about := s.voice.subject()
	return listen(ctx, s.inbox, func() error {
		about.Run = now()
		for _, c := range s.inbox.Pending(about.Run) {
			switch {
			case !s.stops(ctx, c, about):
			case c.Parsed.Command.Name == "cancel":
				return engine.ErrCancelled
			default:
				return engine.ErrSteered
			}
		}
		s.voice.send(ctx)
		return nil
	})
}

// listen looks at the comments again and again until act gives an error, or ctx ends.
func listen(ctx context.Context, in *inbox.Inbox, act func() error) error {
	for environ.Sleep(ctx, in.Listen()) == nil {
		in.Look(ctx, true)
		if err := act(); err != nil {
			return err
		}
	}
	return nil
}

// isSettled reports whether what a command does is known, and whoever gave it has the right.
func isSettled(ctx context.Context, in *inbox.Inbox, c inbox.Waiting) bool {
	cmd := c.Parsed.Command
	return c.Parsed.Outcome == command.Understood && !c.Comment.Edited() && !cmd.DryRun && !cmd.Auto && in.May(ctx, c.Comment.Author, c.Parsed.Role()) == nil
}

// stops reports whether a command ends the step under way. A command that will
// be refused does not, and neither does one whose effect is not known yet.
func (s steering) stops(ctx context.Context, c inbox.Waiting, about subject) bool {
	cmd := c.Parsed.Command
	if cmd.Name != "cancel" && cmd.Name != "rollback" || !isSettled(ctx, s.inbox, c) {
		return false
	}
	if cmd.Name == "cancel" {
		return true // this also holds for an agent that is only asked about the run
	}
	_, err := s.inbox.Request(about.Run, c).Apply(about.Course, true)
	return err == nil
}
