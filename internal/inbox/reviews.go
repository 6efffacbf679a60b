package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// readReviews reads the reviews of a pull request. A forge or token that does not
// show them has none, unless the job is for one: what that says of lines must not be lost.
func (i *Inbox) readReviews(ctx context.Context, p *PullOfRun) ([]Review, error) {
	list, err := p.Reviews(ctx)
	if i.from.Trigger.Review == nil && github.IsKind(err, github.NotFound, github.Gone, github.Forbidden) {
		return nil, nil
	}
	return list, err
}

// pendingReviews gives the reviews that ask for something and were not taken yet,
// oldest first. Of the one of the event it is the text there that counts. The
// caller holds mu.
func (i *Inbox) pendingReviews(run metadata.Run) []Waiting {
	list := slices.Clone(i.given)
	if mine := i.from.Trigger.Review; mine != nil {
		at := slices.IndexFunc(list, func(r Review) bool { return r.ID == mine.ID })
		switch {
		case at < 0:
			list = append(list, *mine) // lists lag behind
		case mine.Body != "":
			list[at].Body = mine.Body
		}
	}
	taken := func(id int64) bool {
		return slices.ContainsFunc(run.Reviews, func(v metadata.PullReview) bool { return v.ID == id })
	}
	var out []Waiting
	for _, r := range list {
		c := github.Comment{ID: r.ID, Body: r.Body, Author: r.Author, Association: r.Association, URL: r.URL, CreatedAt: r.At, UpdatedAt: r.At}
		if taken(r.ID) || i.reviewed[r.ID] || strings.Contains(r.Body, OurMarker) || i.foreign(c) {
			continue
		}
		if asked := i.asks(r); asked.Outcome != command.Ignored {
			out = append(out, Waiting{Comment: c, Parsed: asked, Review: &r})
		}
	}
	return out
}

// asks gives what a review asks for. As with comments, each is read once, however
// often the queue is looked at. The caller holds mu.
func (i *Inbox) asks(r Review) command.Parsed {
	text := fmt.Sprint(r.State, len(r.Comments), r.Body) // the list of what is said on lines may lag behind
	was, ok := i.said[r.ID]
	if !ok || was.text != text {
		was = heard{text, r.Asks(i.from.Env.Finder().Mask, i.from.In.Addressed)}
		i.said[r.ID] = was
	}
	return was.asked
}

// inOrder puts reviews between comments, by time. Comments keep the order of their
// numbers, which reviews do not share.
func inOrder(comments, reviews []Waiting) []Waiting {
	var out []Waiting
	for _, c := range comments {
		for len(reviews) > 0 && reviews[0].Comment.CreatedAt.Before(c.Comment.CreatedAt) {
			out, reviews = append(out, reviews[0]), reviews[1:]
		}
		out = append(out, c)
	}
	return append(out, reviews...)
}

// Request is what somebody asks for, as a command on a run.
func (i *Inbox) Request(run metadata.Run, c Waiting) command.Request {
	o := command.Request{
		Command: c.Parsed.Command, By: c.Comment.Author.Login, Comment: c.Comment.ID, OnPull: c.OnPull, Url: c.Comment.URL, At: i.from.Env.Now(), Written: c.Comment.CreatedAt, Removed: c.Parsed.Removed,
	}
	if c.Review != nil {
		o.Comment, o.Review = 0, c.Review.Record(run, i.from.Env.Finder().Mask)
	}
	return o
}

// Idle reports whether it is a review that approves and nothing waits for that. It is
// for people, and is neither carried out nor refused.
func (c Waiting) Idle(plan *pipelines.Pipeline, run metadata.Run) bool {
	if c.Review == nil || c.Review.State != Approved || c.Parsed.Command.Name != "approve" {
		return false
	}
	_, _, _, waits := phases.Approval(plan, run)
	return !waits
}
