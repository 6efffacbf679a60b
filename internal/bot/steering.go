package bot

import (
	"context"
	"slices"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/inbox"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Urgent looks at the comments while an agent works, until one of them makes that work pointless. Another goroutine than
// the bot's calls it, so that it goes by parts that have a lock.
func (b *bot) Urgent(ctx context.Context, now func() metadata.Run) error {
	about := b.voice.subject()
	return listen(ctx, b.inbox, func() error {
		about.Run = now()
		for _, c := range b.inbox.Pending(about.Run) {
			switch {
			case !ends(ctx, b.inbox, about.Course, c, "", "cancel", "rollback"):
			case c.Parsed.Command.Name == "cancel":
				return engine.ErrCancelled
			default:
				return engine.ErrSteered
			}
		}
		b.voice.send(ctx)
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

// ends reports whether somebody with the right has given one of some commands that ends the step under way or, where only
// a part is done here, the work on that. A command that will be refused does not, and neither does one whose effect is
// not known yet.
func ends(ctx context.Context, in *inbox.Inbox, of phases.Course, c inbox.Waiting, part string, commands ...string) bool {
	cmd := c.Parsed.Command
	settled := c.Parsed.Outcome == command.Understood && !c.Comment.Edited() && !cmd.DryRun && !cmd.Auto
	if !slices.Contains(commands, cmd.Name) || !settled || in.May(ctx, c.Comment.Author, c.Parsed.Role(), false) != nil {
		return false
	}
	if cmd.Name == "cancel" || cmd.Name == "pause" {
		return true // this also holds for an agent that is only asked about the run
	}
	x, err := in.Request(of.Run, c).Apply(of, true)
	if err != nil || part == "" {
		return err == nil
	}
	now, then := of.Run.Phase(part), x.Run.Phase(part)
	return then == nil || then.Generation != now.Generation || then.Status == metadata.PhaseSkipped
}
