package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// discussionPlace is where a discussion is, and whose words count in it.
type discussionPlace struct {
	*github.Thread
	// Before is when the run was asked for: a comment from then on does not count, nor
	// one that was changed since. Zero: all count that are there.
	Before time.Time
	Users  []string    // alone have the right, besides the author of the issue; none: everybody who may write
	Bots   []string    // programs whose words count as those of people
	Warn   func(error) // tells what is left out because it is not known who may write
}

// The most that is read and kept.
const (
	mostRequests  = 10 // for comments, of a hundred each
	mostPeople    = 40 // whose right is asked for
	mostStrangers = 10 // of these, such whom GitHub calls nobody in particular
	mostSaidBytes = 50_000
	mostOfAuthor  = 25_000 // of the bytes besides those, from an author of the issue without the right
)

// Read reads what counts of a discussion: comments of the author of the issue and of people with the right to write,
// but for commands and what reprise itself has written. The newest are kept if all together are too long; those of an
// author without the right take no room of the others. Errors are a *github.Error, or why ctx was cancelled.
func (p discussionPlace) Read(ctx context.Context, is issue.Issue) (d issue.Discussion, err error) {
	list, whole, err := p.Newest(ctx, mostRequests)
	if err != nil {
		return issue.Discussion{}, err
	}
	if !whole {
		p.Warn(fmt.Errorf("issue %d has very many comments: only the newest and the first hundred were looked at", p.Number))
	}
	people := rights{place: p, roles: map[string]github.Role{}}
	ofPeople, ofAuthor := allowance{most: mostSaidBytes}, allowance{most: mostOfAuthor}
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

// hear gives an issue with its discussion, and the images of both.
func (p discussionPlace) hear(ctx context.Context, _ issue.Reference, is issue.Issue) (_ issue.Issue, err error) {
	if is.Discussion, err = p.Read(ctx, is); err == nil {
		is.Images, err = issue.FetchImages(ctx, p.Thread, is)
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
func (p discussionPlace) counts(c github.Comment) bool {
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
	place     discussionPlace
	roles     map[string]github.Role
	strangers int
	closed    bool // they are not said to this token
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
	if r.closed || len(r.roles) >= mostPeople || c.IsStranger() && r.strangers >= mostStrangers {
		return "", nil
	}
	if c.IsStranger() {
		r.strangers++
	}
	role, err := r.place.Role(ctx, c.Author.Login)
	if github.IsKind(err, github.Forbidden, github.BadToken) {
		r.closed = true
		r.place.Warn(fmt.Errorf("the roles of people cannot be read, so that only comments by the author of the issue count: %w", err))
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
		return discussionPlace{Thread: gh.In(from.Repository).Thread(from.Number), Warn: warn}.hear(ctx, from, is)
	}
}

// awaited looks at issues that the run of another one waits for. Errors are a *github.Error, or why ctx was cancelled.
func (s inboxSource) awaited(ctx context.Context, at []int) (found []phases.AwaitedIssue, err error) {
	for _, n := range at {
		is, err := s.GitHub.Issue(ctx, n)
		if github.IsKind(err, github.NotFound, github.Gone) {
			is, err = github.Issue{}, nil // a person has to say what is meant
		}
		if err != nil {
			return nil, err
		}
		found = append(found, phases.AwaitedIssue{Number: n, Title: is.Title, Closed: is.State == "closed"})
	}
	return found, nil
}

// mostWaiting is how many runs are looked at for one that waits for an issue.
const mostWaiting = 30

// waitingFor gives the issues of the runs that wait for another issue, by their numbers, among the newest open issues with
// the label of runs that wait. Where nothing waits, that is one call, since anybody can close an issue of their own.
// Errors are a *github.Error, or why ctx was cancelled: then nobody knows which of them wait.
func (s inboxSource) waitingFor(ctx context.Context, issue int, label string) (all []int, err error) {
	var list []struct {
		Number int `json:"number"`
	}
	query := url.Values{"state": {"open"}, "labels": {label}, "sort": {"created"}, "direction": {"desc"}, "per_page": {strconv.Itoa(mostWaiting)}}
	if _, err := s.GitHub.Ask(ctx, github.Request{
		What: "list the issues whose runs wait", Needs: "issues: read", Path: "/issues?" + query.Encode(),
	}, &list); err != nil {
		return nil, err
	}
	for _, is := range list[:min(len(list), mostWaiting)] {
		if is.Number == issue {
			continue
		}
		id := strconv.Itoa(is.Number)
		data, err := s.GitHub.File(ctx, s.Env.Branch(id), phases.RecordFile(id))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		run, unread := metadata.ParseOf(id, data, phases.RecordFile(id))
		if _, waits := phases.AwaitedBy(run); err == nil && unread == nil && slices.Contains(waits, issue) {
			all = append(all, is.Number)
		}
	}
	slices.Sort(all)
	return all, nil
}

// wake has a job begin for each of some issues whose runs wait: one job works on one run.
// It asks for nothing but to look again, so it does no harm twice.
func (s inboxSource) wake(ctx context.Context, issues []int) (lost error) {
	for _, n := range issues {
		_, err := s.GitHub.Ask(ctx, github.Request{
			What: fmt.Sprintf("have the run of issue %d go on, for which somebody can say /run there", n), Needs: "contents: write", Method: http.MethodPost, Repeatable: true,
			Path: "/dispatches", Body: map[string]any{"event_type": dispatched, "client_payload": map[string]string{"issue": strconv.Itoa(n), awaited: "closed"}},
		}, nil)
		lost = errors.Join(lost, err)
	}
	return lost
}
