package inbox

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Limits of what is taken of a review, in characters, lines and comments. The
// rest stays where it was written.
const (
	mostReason   = 10_000
	mostComment  = 4_000
	mostHunk     = 2_000
	hunkLines    = 20
	mostComments = 50
	mostNamed    = 5 // comments that stand for a reason that was not given
)

// Asks is what a review asks of the run. One that requests changes is a rollback,
// whose phase may be left out: then it is the newest one that changes the code. An
// approval is /approve of what its author saw. A review that begins with a command
// is that command; and so is one that only comments, and says nothing itself, if
// its first comment on a line that does begins with one. Mask hides secrets; addressed
// is as in command.ParseAddressed.
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

// reason is why changes are requested: the text of the review, or else what its
// comments on lines begin with.
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
func (r Review) findings(mask func(string) string, taken int) []metadata.ReviewComment {
	var out []metadata.ReviewComment
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
		out = append(out, metadata.ReviewComment{Thread: c.Thread, Start: c.Start, Side: side(c.Side), Hunk: hunk(mask(c.Hunk)), Finding: metadata.Finding{
			ID: fmt.Sprintf("R%d", taken+len(out)+1), Severity: metadata.Blocker, Status: metadata.NewFinding, File: file, Line: max(c.Line, 0),
			Title: clean.Truncate(text.OneLine(text.FirstLine(body)), 80), Problem: body,
		}})
	}
	return out
}

// side is LEFT for a deleted line, and RIGHT for all others.
func side(s string) string {
	if s == "LEFT" {
		return s
	}
	return "RIGHT"
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
