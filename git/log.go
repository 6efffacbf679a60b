package git

import (
	"context"
	"fmt"
	"strings"
	"time"
)

// LogEntry is one commit.
type LogEntry struct {
	Commit   string // full hash
	Parents  []string
	Time     time.Time // of the committer, UTC
	Name     string    // of the author
	Email    string    // of the author
	Subject  string
	Body     string    // with the trailers
	Trailers []Trailer // in their order
}

// Trailer is a line such as "Reprise-Phase: design" at the end of a message.
type Trailer struct{ Key, Value string }

// Log lists the commits of the branch that the commit from has not, newest
// first; with "" all of them.
func (r *Repo) Log(ctx context.Context, from string) ([]LogEntry, error) {
	span := r.tip
	if from != "" {
		if err := r.need(ctx, from); err != nil {
			return nil, err
		}
		span = from + ".." + r.tip
	}
	out, err := r.git(ctx, "log", "-z", "--no-color", "--no-show-signature", "--no-decorate",
		"--format=%H%x00%P%x00%cI%x00%an%x00%ae%x00%s%x00%b%x00%(trailers:only,unfold)", span, "--")
	if err != nil {
		return nil, fmt.Errorf("list the commits of %s: %w", r.opt.Branch, err)
	}
	fields := strings.Split(string(out), "\x00")
	var entries []LogEntry
	for ; len(fields) >= 8; fields = fields[8:] {
		at, err := time.Parse(time.RFC3339, fields[2])
		if err != nil {
			return nil, fmt.Errorf("list the commits of %s: %w", r.opt.Branch, err)
		}
		entries = append(entries, LogEntry{
			Commit: fields[0], Parents: strings.Fields(fields[1]), Time: at.UTC(),
			Name: fields[3], Email: fields[4], Subject: fields[5], Body: strings.TrimSpace(fields[6]),
			Trailers: parseTrailers(fields[7]),
		})
	}
	return entries, nil
}

func parseTrailers(text string) []Trailer {
	var out []Trailer
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out = append(out, Trailer{Key: key, Value: strings.TrimSpace(value)})
		}
	}
	return out
}
