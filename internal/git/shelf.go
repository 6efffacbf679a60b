// Package shelf is where the folder of a run is once it was taken off its branch:
// in an older commit, which a trailer names.
//
// Anybody can write a trailer, even in the title of a pull request, which becomes the
// message of a merge. So a trailer counts only if what it names can be checked: it is the
// parent of the commit that has the trailer, as where the folder is taken off, or it is in the
// history of the record that a remote keeps by name. Where there is such a record, it
// decides: a run is kept there before its folder leaves the branch.
package git

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"sync"
)

// Trailer names, in the message of a commit that takes the folder off a branch,
// the commit that has it last.
const RecordTrailer = "Reprise-Record"

// depth is how many commits back a trailer is looked for: people may have committed
// since.
const shelfDepth = 1000

// line is a trailer in a message.
var trailerLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^` + RecordTrailer + `: ([0-9a-f]{40}|[0-9a-f]{64})\s*$`)
})

// Note gives the line that ends such a message.
func recordNote(commit string) string { return RecordTrailer + ": " + commit + "\n" }

// Shelves is a history in which folders are looked for.
type shelves struct {
	// Has reports whether a commit has the folder; one that is not here has not.
	Has func(ctx context.Context, commit string) (bool, error)
	// Object gives a commit as git keeps it, "" if it is not here; nil: that takes long, or
	// the history of a commit may be another than the commit says.
	Object func(ctx context.Context, commit string) (string, error)
	// Messages gives what a commit and those before it on its branch say of records, the
	// newest first. It looks at no more than depth of them.
	Messages func(ctx context.Context, commit string) ([]shelfMessage, error)
	// Kept gives the commit in which the record is kept by name, or "": it leads on from
	// the one that the trailer names, which may not be here; nil: nothing is kept.
	Kept func(ctx context.Context) (string, error)
	// Own reports whether this machine itself has kept a commit by name, or one that leads on
	// from it; nil: what is kept is only known from this machine, and may be of an earlier run.
	Own func(ctx context.Context, commit string) (bool, error)
	// Contains reports whether a commit has an older one in its history.
	Contains func(ctx context.Context, commit, older string) (bool, error)
}

// Message is what a commit says of records.
type shelfMessage struct {
	Parent   string // the first one of the commit; "" if it has none
	Trailers string // a line for each
}

// Args are the arguments of git that list what Parse reads, for a commit and those before it.
func shelfArgs(commit string) []string {
	return []string{
		"log", "-z", "--first-parent", fmt.Sprintf("-n%d", shelfDepth), "--no-show-signature", "--no-decorate",
		"--format=%P%x00%(trailers:key=" + RecordTrailer + ")", commit, "--",
	}
}

// Parse reads what git prints with Args.
func parseShelf(out []byte) (all []shelfMessage) {
	for fields := strings.Split(string(out), "\x00"); len(fields) >= 2; fields = fields[2:] {
		parent, _, _ := strings.Cut(fields[0], " ")
		all = append(all, shelfMessage{Parent: parent, Trailers: fields[1]})
	}
	return all
}

// Find gives the commit that has the folder: the given one, or what is kept by name
// and leads on from the commit of the newest trailer, or else the commit before the one that
// says that it has the folder. It is "" where there is none.
func (s shelves) Find(ctx context.Context, commit string) (string, error) {
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
	if found == "" && err == nil {
		found = kept
	}
	return found, err
}

// depthNear is how many commits are looked at one by one, before git looks at them all:
// most often the very first has the trailer, and a process of git takes longer than that.
const shelfNear = 20

// trailers is a paragraph in which every line is one.
var trailerParagraph = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([A-Za-z0-9-]+: \S.*(\n|$))+$`) })

// near gives what the newest commit that speaks of a record says, if one of the
// first does. Where it takes git's rules to tell what is a trailer there is nothing.
func (s shelves) near(ctx context.Context, commit string) ([]shelfMessage, error) {
	for range shelfNear {
		if s.Object == nil || commit == "" {
			break
		}
		object, err := s.Object(ctx, commit)
		if err != nil {
			return nil, err
		}
		head, message, _ := strings.Cut(object, "\n\n")
		_, parents, _ := strings.Cut(head, "\nparent ")
		commit, _, _ = strings.Cut(parents, "\n")
		if strings.Contains(message, RecordTrailer) {
			message = strings.TrimRight(message, "\n")
			if last := message[strings.LastIndex(message, "\n\n")+1:]; len(last) < len(message) && trailerParagraph().MatchString(last[1:]) {
				return []shelfMessage{{Parent: commit, Trailers: last[1:]}}, nil
			}
			break
		}
	}
	return nil, nil
}

// among gives the commit that Find gives, if the messages name one that is here and may
// be believed, and what is kept by name if they name any.
func (s shelves) among(ctx context.Context, messages []shelfMessage) (found, kept string, err error) {
	asked := false
	for _, m := range messages {
		for _, named := range trailerLine().FindAllStringSubmatch(m.Trailers, -1) {
			if !asked {
				if kept, err = s.kept(ctx); err != nil {
					return "", "", err
				}
				asked = true
			}
			if found, err = s.believed(ctx, m.Parent, kept, named[1]); found != "" || err != nil {
				return found, kept, err
			}
		}
	}
	return "", kept, nil
}

// kept gives what is kept by name, if that has the folder.
func (s shelves) kept(ctx context.Context) (string, error) {
	if s.Kept == nil {
		return "", nil
	}
	kept, err := s.Kept(ctx)
	if kept == "" || err != nil {
		return "", err
	}
	if is, err := s.Has(ctx, kept); !is || err != nil {
		return "", err
	}
	return kept, nil
}

// believed gives the commit that a trailer leads to: what is kept, if that goes on from the
// one it names, or else that one, if it comes right before the commit with the trailer.
// It is "" if the trailer proves nothing or leads to nothing that is here.
func (s shelves) believed(ctx context.Context, parent, kept, named string) (string, error) {
	if is, err := s.Has(ctx, named); !is || err != nil {
		return "", err
	}
	if kept != "" {
		if leads, err := s.Contains(ctx, kept, named); leads || err != nil {
			return kept, err
		}
	}
	if named != parent {
		return "", nil
	}
	if kept != "" && s.Own != nil {
		if is, err := s.Own(ctx, named); !is || err != nil {
			return "", err
		}
	}
	return named, nil
}
