// Package shelf is where the folder of a run is once it was taken off its branch:
// in an older commit, which a trailer names.
package shelf

import (
	"cmp"
	"context"
	"regexp"
	"strings"
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
	// Object gives a commit as git keeps it, "" if it is not here; nil: that takes long, or
	// the history of a commit may be another than the commit says.
	Object func(ctx context.Context, commit string) (string, error)
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
	messages, err := s.near(ctx, commit)
	if err != nil {
		return "", err
	}
	found, _, err := s.among(ctx, messages)
	if found != "" || err != nil {
		return found, err
	}
	if messages, err = s.Messages(ctx, commit); err != nil {
		return "", err
	}
	found, kept, err := s.among(ctx, messages)
	return cmp.Or(found, kept), err
}

// depthNear is how many commits are looked at one by one, before git looks at them all:
// most often the very first has the trailer, and a process of git takes longer than that.
const depthNear = 20

// trailers is a paragraph in which every line is one.
var trailers = regexp.MustCompile(`^([A-Za-z0-9-]+: \S.*(\n|$))+$`)

// near gives the trailers of the newest commit that speaks of a record, if one of the
// first does. Where it takes git's rules to tell what is a trailer there are none.
func (s Shelves) near(ctx context.Context, commit string) (string, error) {
	for range depthNear {
		if s.Object == nil || commit == "" {
			break
		}
		object, err := s.Object(ctx, commit)
		if err != nil {
			return "", err
		}
		head, message, _ := strings.Cut(object, "\n\n")
		if strings.Contains(message, Trailer) {
			message = strings.TrimRight(message, "\n")
			if last := message[strings.LastIndex(message, "\n\n")+1:]; len(last) < len(message) && trailers.MatchString(last[1:]) {
				return last, nil
			}
			break
		}
		_, parents, _ := strings.Cut(head, "\nparent ")
		commit, _, _ = strings.Cut(parents, "\n")
	}
	return "", nil
}

// among gives the commit that Find gives, if the messages name one that is here, and
// what is kept by name if they name any.
func (s Shelves) among(ctx context.Context, messages string) (found, kept string, err error) {
	named := line.FindAllStringSubmatch(messages, -1)
	if s.Kept != nil && len(named) > 0 {
		kept, err = s.Kept(ctx)
	}
	if kept != "" && err == nil {
		var is bool
		if is, err = s.Has(ctx, kept); !is {
			kept = ""
		}
	}
	if err != nil {
		return "", "", err
	}
	for _, one := range named {
		if is, err := s.Has(ctx, one[1]); err != nil {
			return "", "", err
		} else if !is {
			continue
		}
		if kept != "" {
			if leads, err := s.Contains(ctx, kept, one[1]); leads || err != nil {
				return kept, kept, err
			}
		}
		return one[1], kept, nil
	}
	return "", kept, nil
}
