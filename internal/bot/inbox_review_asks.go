package bot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Limits of what is taken of a review, in characters, lines and comments.
const (
	mostReason   = 10_000
	mostComment  = 4_000
	mostHunk     = 2_000
	hunkLines    = 20
	mostComments = 50
	mostNamed    = 5 // comments that stand for a reason that was not given
)

// Asks is what a review asks of the run. One that requests changes is a rollback, whose phase may be left out: then
// it is the newest one that changes the code. An approval is /approve of what its author saw. A review that begins
// with a command is that command; and so is one that only comments, and says nothing itself, if its first comment on
// a line that does begins with one. Mask hides secrets; addressed is as in command.ParseAddressed.
func (r Review) Asks(mask func(string) string, addressed bool) command.Parsed {
	said := command.ParseAddressed(mask(r.Body), addressed)
	switch {
	case r.State == Dismissed:
		return command.Parsed{}
	case said.Outcome != command.Ignored:
		return said
	case r.State == ChangesRequested:
		why, removed := clean.Text(mask(r.Body))
		c := command.Command{Name: "rollback", Step: metadata.Revise, Text: r.reason(why, mask)}
		if c.Text == "" {
			return command.Parsed{}
		}
		return command.Parsed{Outcome: command.Understood, Command: c, Removed: removed}
	case r.State == Approved && r.Commit != "": // without it nobody knows what was seen
		return command.Parsed{Outcome: command.Understood, Command: command.Command{Name: "approve", Commit: r.Commit}}
	case r.State == ReviewCommented && strings.TrimSpace(r.Body) == "":
		for _, c := range r.own() {
			if said := command.ParseAddressed(mask(c.Body), addressed); said.Outcome != command.Ignored {
				return said
			}
		}
	}
	return command.Parsed{}
}

// reason is why changes are requested: the text of the review, or else what its comments on lines begin with.
func (r Review) reason(text string, mask func(string) string) string {
	if text = strings.TrimSpace(text); text != "" {
		return clean.Truncate(text, mostReason)
	}
	var lines []string
	all := r.findings(mask, 0)
	for _, c := range all[:min(len(all), mostNamed)] {
		lines = append(lines, fmt.Sprintf("%s:%d: %s", c.Finding.File, c.Finding.Line, c.Finding.Title))
	}
	if more := len(r.own()) - len(lines); more > 0 && len(lines) > 0 {
		lines = append(lines, fmt.Sprintf("… +%d", more))
	}
	return strings.Join(lines, "\n")
}

// own are the comments on lines by the author of the review, oldest first.
func (r Review) own() []ReviewComment {
	out := slices.DeleteFunc(slices.Clone(r.Comments), func(c ReviewComment) bool { return !strings.EqualFold(c.Author.Login, r.Author.Login) })
	slices.SortFunc(out, func(a, b ReviewComment) int { return int(min(max(a.ID-b.ID, -1), 1)) })
	return out
}

// Record is a review as it stands in the record of a run that takes it: what it
// says about lines are findings, with ids that no others of the run have.
func (r Review) Record(run metadata.Run, mask func(string) string) *metadata.PullReview {
	taken := 0
	for _, v := range run.Reviews {
		taken += len(v.Comments)
	}
	out := &metadata.PullReview{ID: r.ID, By: r.Author.Login, URL: r.URL}
	if r.State == ChangesRequested {
		out.Comments = r.findings(mask, taken)
	}
	return out
}

// Left is how many comments on lines of a review were not taken, where so many were: there
// were more than can be taken at once. A review that is gone has none.
func (p *PullOfRun) Left(ctx context.Context, id int64, taken int) (int, error) {
	if taken < mostComments {
		return 0, nil
	}
	all, err := p.Reviews(ctx)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, r := range all {
		for _, c := range r.own() {
			if r.ID == id && strings.TrimSpace(c.Body) != "" {
				n++
			}
		}
	}
	return max(n-taken, 0), nil
}

// findings are the comments on lines, numbered on from those that were taken.
func (r Review) findings(mask func(string) string, taken int) (out []metadata.ReviewComment) {
	for _, c := range r.own() {
		body, _ := clean.Text(mask(c.Body))
		body = clean.Truncate(strings.TrimSpace(body), mostComment)
		if body == "" || len(out) == mostComments {
			continue
		}
		file := c.Path
		if metadata.CheckPath(file) != nil {
			file = ""
		}
		out = append(out, metadata.ReviewComment{Thread: c.Thread, Start: c.Start, Side: cmp.Or(text.If(c.Side == "LEFT", c.Side), "RIGHT"), Hunk: hunk(mask(c.Hunk)), Finding: metadata.Finding{
			ID: fmt.Sprintf("R%d", taken+len(out)+1), Severity: metadata.Blocker, Status: metadata.NewFinding, File: file, Line: max(c.Line, 0),
			Title: clean.Truncate(text.OneLine(text.FirstLine(body)), 80), Problem: body,
		}})
	}
	return out
}

// hunk is the end of a part of a diff: that is where the line is.
func hunk(diff string) string {
	lines := strings.Split(strings.TrimRight(diff, "\n"), "\n")
	short := strings.Join(lines[max(len(lines)-hunkLines, 0):], "\n")
	if n := utf8.RuneCountInString(short); n > mostHunk {
		short = string([]rune(short)[n-mostHunk:])
	}
	return strings.ToValidUTF8(short, "\uFFFD")
}

// pendingReviews gives the reviews that ask for something and were not taken yet, oldest first: the one of the event,
// whose text there counts, and those that came while this job works, or a job that is gone. The caller holds mu.
func (i *inbox) pendingReviews(run metadata.Run) (out []waiting) {
	list, mine := slices.Clone(i.given), i.from.Trigger.Review
	if mine != nil {
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
	for _, r := range list {
		c := github.Comment{ID: r.ID, Body: r.Body, Author: r.Author, Association: r.Association, URL: r.URL, CreatedAt: r.At, UpdatedAt: r.At}
		if taken(r.ID) || i.reviewed[r.ID] || i.foreign(c) || i.answered[-r.ID] && (mine == nil || mine.ID != r.ID) {
			continue
		}
		asked := i.hear(fmt.Sprintln("review", r.ID, r.State, len(r.Comments), r.Body), func() command.Parsed { // the list of what is said on lines may lag behind
			return r.Asks(i.from.Env.Finder().Mask, i.from.In.Addressed)
		})
		if asked.Outcome != command.Ignored {
			out = append(out, waiting{Comment: c, Parsed: asked, Review: &r})
		}
	}
	return out
}

// byTime puts reviews between comments, by time.
func byTime(comments, reviews []waiting) []waiting {
	var out []waiting
	for _, c := range comments {
		for len(reviews) > 0 && reviews[0].Comment.CreatedAt.Before(c.Comment.CreatedAt) {
			out, reviews = append(out, reviews[0]), reviews[1:]
		}
		out = append(out, c)
	}
	return append(out, reviews...)
}

// request is what somebody asks for, as a command on a run.
func (i *inbox) request(run metadata.Run, c waiting) command.Request {
	o := command.Request{
		Command: c.Parsed.Command, By: c.Comment.Author.Login, Comment: c.Comment.ID, OnPull: c.OnPull, Url: c.Comment.URL, At: i.from.Env.Now(), Written: c.Comment.CreatedAt, Removed: c.Parsed.Removed,
	}
	if c.Review != nil {
		o.Comment, o.Review = 0, c.Review.Record(run, i.from.Env.Finder().Mask)
	}
	return o
}

// idle reports whether it is a review that approves and nothing waits for that. It is
// for people, and is neither carried out nor refused.
func (c waiting) idle(of phases.Course) bool {
	if c.Review == nil || c.Review.State != Approved || c.Parsed.Command.Name != "approve" {
		return false
	}
	_, _, _, waits := phases.Approval(of, "")
	return !waits
}

// runOfPull finds the run that has a pull request, by the branch that this comes from and the record there. The error is
// an fs.ErrNotExist if there is none, with the number of the issue if the branch of the run is gone. Nothing that
// somebody wrote into the pull request counts.
func (s inboxSource) runOfPull(ctx context.Context, pull int) (found phases.Course, issueNumber int, err error) {
	is, err := s.GitHub.Pull(ctx, pull)
	if err != nil {
		return found, 0, err
	}
	id, ours := strings.CutPrefix(is.Head, s.Env.Prefix())
	if !ours || !issue.Number.MatchString(id) || !strings.EqualFold(is.HeadRepository, s.GitHub.Name) {
		return found, 0, fs.ErrNotExist
	}
	if issueNumber, err = strconv.Atoi(id); err != nil {
		return found, 0, err
	}
	found, err = phases.Read(id, is.Head, reviewFiles(ctx, s.GitHub, is.Head, id))
	if err == nil && found.Run.PRNumber != pull && found.Run.PRNumber != 0 { // 0: it was opened a moment ago
		return found, 0, fs.ErrNotExist
	}
	return found, issueNumber, err
}

// reviewFiles gives how files of the run of an issue are read at the forge, where no clone is at hand: from its
// branch or, if its folder was taken off that, from the commit in which the record is kept. A file that
// is in neither is an fs.ErrNotExist.
func reviewFiles(ctx context.Context, gh github.Repo, branch, id string) func(path string) ([]byte, error) {
	var kept struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	return func(path string) ([]byte, error) {
		if kept.Object.SHA == "" {
			data, missing := gh.File(ctx, branch, path)
			if !errors.Is(missing, fs.ErrNotExist) {
				return data, missing
			}
			_, err := gh.Ask(ctx, github.Request{
				What: "find the record that is kept of issue " + id, Needs: "contents: read",
				Path: "/git/ref/" + strings.TrimPrefix(git.KeptRefs, "refs/") + phases.RecordName(id),
			}, &kept)
			if github.IsKind(err, github.NotFound) || err == nil && kept.Object.SHA == "" {
				return nil, missing
			}
			if err != nil {
				return nil, err
			}
		}
		return gh.File(ctx, kept.Object.SHA, path)
	}
}

// sameWorkflows reports whether .github is the same in a commit or branch as in one of some others. A job for a
// review runs the workflow file of the pull request's own branch: one that was changed there is not to be obeyed.
func sameWorkflows(ctx context.Context, gh github.Repo, branch string, others ...string) (bool, error) {
	mine, err := workflows(ctx, gh, branch)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		theirs, err := workflows(ctx, gh, other)
		if err != nil {
			return false, err
		}
		if maps.Equal(mine, theirs) {
			return true, nil
		}
	}
	return false, nil
}

// workflows gives what is in .github: for each file or folder the hash of its content; nothing if it is not there.
func workflows(ctx context.Context, gh github.Repo, ref string) (map[string]string, error) {
	var list []struct {
		Name string `json:"name"`
		SHA  string `json:"sha"`
	}
	_, err := gh.Ask(ctx, github.Request{
		What: fmt.Sprintf("read .github on %s of %s", ref, gh.Name), Needs: "contents: read",
		Path: "/contents/.github?ref=" + url.QueryEscape(ref),
	}, &list)
	if github.IsKind(err, github.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range list {
		out[f.Name] = f.SHA
	}
	return out, nil
}

// mostByBots is how many commands by programs are obeyed one after the other: two programs could go on for ever.
const mostByBots = 2

// isBot reports whether a login is that of a program: by its form, or because the workflow file says so.
func (in Inputs) isBot(login string) bool {
	return github.User{Login: login}.IsBot() || containsFold(in.Bots, login)
}

// tooManyBots reports whether a program gives a command, in a review or a comment, and the newest
// commands of the run came from programs, too.
func (in Inputs) tooManyBots(run metadata.Run, by string) bool {
	n := 0
	for _, d := range slices.Backward(run.Decisions) {
		if in.isBot(d.By) {
			n++
		} else if d.By != "" {
			break
		}
	}
	return in.isBot(by) && n >= mostByBots
}

// whyNoMoreBots is why a command of a program is refused then.
func whyNoMoreBots() metadata.Reason {
	return metadata.Because("bots_in_a_row", "n", mostByBots)
}
