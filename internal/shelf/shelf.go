// Package shelf is where the folder of a run is once it was taken off its branch:
// in an older commit, which a trailer names.
package shelf

import (
	"context"
	"regexp"
)

// Trailer names, in the message of a commit that takes the folder off a branch,
// the commit that has it last.
const Trailer = "Reprise-Record"

// Depth is how many commits back a trailer is looked for: people may have committed
// since.
const Depth = 1000

// line is a trailer in a message.
var line = regexp.MustCompile(`(?m)^` + Trailer + `: ([0-9a-f]{40}|[0-9a-f]{64})\s*$`)

// Note gives the line that ends such a message.
func Note(commit string) string { return Trailer + ": " + commit + "\n" }

// Shelves is a history in which folders are looked for.
type Shelves struct {
	// Has reports whether a commit has the folder; one that is not here has not.
	Has func(ctx context.Context, commit string) (bool, error)
	// Messages gives the messages of a commit and of those before it on its branch, the
	// newest first, and at most Depth of them.
	Messages func(ctx context.Context, commit string) (string, error)
	// Kept gives the commit in which the record is kept by name, or "": it leads on from
	// the one that the trailer names, which may not be here; nil: nothing is kept.
	Kept func(ctx context.Context) (string, error)
	// Contains reports whether a commit has an older one in its history.
	Contains func(ctx context.Context, commit, older string) (bool, error)
}

// Find gives the commit that has the folder: the given one, or what is kept by name
// and leads on from the commit of the newest trailer, or else that commit. It is ""
// where there is none.
func (s Shelves) Find(ctx context.Context, commit string) (string, error) {
	if is, err := s.Has(ctx, commit); is || err != nil {
		return commit, err
	}
	messages, err := s.Messages(ctx, commit)
	if err != nil {
		return "", err
	}
	trailers := line.FindAllStringSubmatch(messages, -1)
	kept := ""
	if s.Kept != nil && len(trailers) > 0 {
		kept, err = s.Kept(ctx)
	}
	if kept != "" && err == nil {
		var is bool
		if is, err = s.Has(ctx, kept); !is {
			kept = ""
		}
	}
	if err != nil {
		return "", err
	}
	for _, named := range trailers {
		if is, err := s.Has(ctx, named[1]); err != nil {
			return "", err
		} else if !is {
			continue
		}
		if kept != "" {
			if leads, err := s.Contains(ctx, kept, named[1]); leads || err != nil {
				return kept, err
			}
		}
		return named[1], nil
	}
	return kept, nil
}
