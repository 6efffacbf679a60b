package inbox

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// DiscussionPlace is where a discussion is, and whose words count in it.
type DiscussionPlace struct {
	GitHub      *github.Client
	Owner, Name string
	Number      int
	// Before is when the run was asked for: a comment from then on does not count, nor
	// one that was changed since. Zero: all count that are there.
	Before time.Time
	Users  []string    // alone have the right, besides the author of the issue; none: everybody who may write
	Bots   []string    // programs whose words count as those of people
	Warn   func(error) // tells what is left out because it is not known who may write
}

// The most that is read and kept.
const (
	mostRequests            = 10 // for comments, of a hundred each
	mostPeople              = 40 // whose right is asked for
	discussionMostStrangers = 10 // of these, such whom GitHub calls nobody in particular
	mostBytes               = 50_000
	mostOfAuthor            = 25_000 // of the bytes besides those, from an author of the issue without the right
)

// Read reads what counts of a discussion: comments of the author of the issue and of people with the right to write,
// but for commands and what reprise itself has written. The newest are kept if all together are too long; those of an
// author without the right take no room of the others. Errors are a *github.Error, or why ctx was cancelled.
func (p DiscussionPlace) Read(ctx context.Context, is issue.Issue) (issue.Discussion, error) {
	list, whole, err := p.GitHub.Thread(p.Owner, p.Name, p.Number).Newest(ctx, mostRequests)
	if err != nil {
		return issue.Discussion{}, err
	}
	if !whole {
		p.Warn(fmt.Errorf("issue %d has very many comments: only the newest and the first hundred were looked at", p.Number))
	}
	var d issue.Discussion
	people := rights{place: p, roles: map[string]github.Role{}}
	ofPeople, ofAuthor := allowance{most: mostBytes}, allowance{most: mostOfAuthor}
	for _, c := range slices.Backward(list) {
		if !p.counts(c) {
			continue
		}
		role, err := people.of(ctx, c)
		if err != nil {
			return issue.Discussion{}, err
		}
		author := is.Author != "" && strings.EqualFold(is.Author, c.Author.Login)
		if role == "" && !author {
			continue
		}
		in := &ofPeople
		if role == "" {
			in = &ofAuthor
		}
		own, _ := clean.Mail(issue.TrimLines(c.Body))
		body, fits := in.take(own)
		if !fits {
			d.Older++
			continue
		}
		d.Comments = append(d.Comments, issue.Comment{ID: c.ID, By: c.Author.Login, Role: string(role), At: c.CreatedAt, Text: body})
	}
	slices.Reverse(d.Comments)
	return d, nil
}

// Hear gives an issue with its discussion, and the images of both.
func (p DiscussionPlace) Hear(ctx context.Context, _ issue.Reference, is issue.Issue) (issue.Issue, error) {
	var err error
	if is.Discussion, err = p.Read(ctx, is); err == nil {
		is.Images, err = issue.ImagePlace{GitHub: p.GitHub, Owner: p.Owner, Name: p.Name, Number: p.Number}.Fetch(ctx, is)
	}
	return is, err
}

// allowance is how much is kept of what some have said.
type allowance struct {
	most, taken int  // bytes
	full        bool // what is older than one that was left out is, too
}

// take gives what is kept of a comment, and whether it has room. Of the first one, the beginning has.
func (r *allowance) take(body string) (string, bool) {
	if r.taken == 0 && len(body) > r.most {
		body = strings.ToValidUTF8(body[:r.most], "")
	}
	if r.full = r.full || r.taken+len(body) > r.most; !r.full {
		r.taken += len(body)
	}
	return body, !r.full
}

// counts reports whether a comment can be one of the discussion, whoever wrote it.
func (p DiscussionPlace) counts(c github.Comment) bool {
	switch {
	case c.CreatedAt.IsZero() || c.UpdatedAt.IsZero(), c.Author.ID == 0 || c.Author.Login == "ghost":
		return false // who can say when, or by whom?
	case !p.Before.IsZero() && !(c.CreatedAt.Before(p.Before) && c.UpdatedAt.Before(p.Before)):
		return false
	case strings.HasPrefix(c.Body, ourMarker), c.Author.IsBot() && !containsFold(p.Bots, c.Author.Login):
		return false
	}
	return strings.TrimSpace(c.Body) != "" && command.Parse(c.Body, false).Outcome == command.Ignored
}

// rights are who may write, as far as that was asked for.
type rights struct {
	place               DiscussionPlace
	roles               map[string]github.Role
	lookedUp, strangers int
	warned              bool
}

// of gives the role of the author of a comment if that is the right to write; else "".
func (r *rights) of(ctx context.Context, c github.Comment) (github.Role, error) {
	who := strings.ToLower(c.Author.Login)
	if len(r.place.Users) > 0 && !containsFold(r.place.Users, who) {
		return "", nil
	}
	if c.Author.IsBot() {
		return github.RoleWrite, nil // the workflow file gives it the right
	}
	if role, known := r.roles[who]; known {
		return role, nil
	}
	if r.lookedUp >= mostPeople || c.IsStranger() && r.strangers >= discussionMostStrangers {
		return "", nil
	}
	r.lookedUp++
	if c.IsStranger() {
		r.strangers++
	}
	role, err := r.place.GitHub.Role(ctx, r.place.Owner, r.place.Name, c.Author.Login)
	if github.IsKind(err, github.Forbidden, github.BadToken) {
		if !r.warned {
			r.place.Warn(fmt.Errorf("whose comments count is not known, so that only those of the author of the issue are taken: %w", err))
		}
		r.warned, r.lookedUp = true, mostPeople // nor would it be said of others
		return "", nil
	}
	if err != nil && !errors.As(err, new(*github.Error)) && ctx.Err() == nil {
		role, err = "", nil // a name that nobody has
	}
	if !role.AtLeast(github.RoleWrite) {
		role = ""
	}
	r.roles[who] = role
	return role, err
}

// DiscussionOn gives what reads discussions for whoever works on this machine, of whatever issue on GitHub.
func DiscussionOn(env environ.Env) issue.Hear {
	return func(ctx context.Context, from issue.Reference, is issue.Issue) (issue.Issue, error) {
		f, err := issue.ForgeOf(env)
		if err != nil {
			return is, err
		}
		gh, err := issue.Client(env, f, f.Token, env.Stderr)
		if err != nil {
			return is, exit.AsUsage(err)
		}
		warn := func(err error) { _, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", text.Flat(err.Error())) }
		return DiscussionPlace{GitHub: gh, Owner: from.Owner, Name: from.Name, Number: from.Number, Warn: warn}.Hear(ctx, from, is)
	}
}
