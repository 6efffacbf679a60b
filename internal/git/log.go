// Package history is what git tells of commits: who made them, when, and what their
// messages say.
package git

import (
	"strings"
	"time"
)

// Entry is one commit.
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

// Args are the arguments of git that list commits in an order, which is an option of git log.
// The span is a commit, or two with .. between them.
func logArgs(order, span string) []string {
	return []string{
		"log", "-z", order, "--no-color", "--no-show-signature", "--no-decorate",
		"--format=%H%x00%P%x00%cI%x00%an%x00%ae%x00%s%x00%b%x00%(trailers:only,unfold)", span, "--",
	}
}

// Parse reads what git prints with Args.
func parseLog(out []byte) ([]LogEntry, error) {
	var entries []LogEntry
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 8; fields = fields[8:] {
		at, err := time.Parse(time.RFC3339, fields[2])
		if err != nil {
			return nil, err
		}
		entries = append(entries, LogEntry{
			Commit: fields[0], Parents: strings.Fields(fields[1]), Time: at.UTC(),
			Name: fields[3], Email: fields[4], Subject: fields[5], Body: strings.TrimSpace(fields[6]),
			Trailers: trailers(fields[7]),
		})
	}
	return entries, nil
}

func trailers(text string) []Trailer {
	var out []Trailer
	for line := range strings.Lines(text) {
		if key, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			out = append(out, Trailer{Key: key, Value: strings.TrimSpace(value)})
		}
	}
	return out
}
