package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/boundary"
	"github.com/reprise-ci/reprise/phases/reply"
	"github.com/reprise-ci/reprise/phases/texts"
	"github.com/reprise-ci/reprise/pipelines/protection"
	"github.com/reprise-ci/reprise/prompts"
)

// Secrets knows what must not be seen: values that the user has, in any form in
// which they may be written, and what has the shape of a secret.
type Secrets interface {
	// Mask replaces both in a text for people.
	Mask(text string) string
	// MaskKnown replaces the values only: in what programs read, such as a path,
	// a text that merely looks like a secret has to stay as it is.
	MaskKnown(text string) string
	// Leaks finds both in a file that is about to be committed, and leaves out
	// what the last commit has already. An error says why the file could not be
	// looked through; it is not committed then.
	Leaks(ctx context.Context, path string, data []byte) ([]Leak, error)
}

// Leak is a secret in a file.
type Leak struct {
	Line  int    // from 1
	Name  string // of the value, or of the rule that knows the shape
	Known bool   // it is a value of the user
}

// in says what stands in a file.
func (l Leak) in(file string) metadata.Reason {
	if l.Known {
		return metadata.Because("secret_value", "file", file, "line", l.Line, "name", l.Name)
	}
	return metadata.Because("secret_shape", "file", file, "line", l.Line, "name", l.Name)
}

// maxLeaks is how many leaks an agent is told of at once.
const maxLeaks = 10

// CheckStaged holds what is staged to the rules of the boundary once more, as something
// that still runs may have changed it since the files were looked at, and says
// where secrets stand in it; "" if there are none.
func (e *Engine) CheckStaged(ctx context.Context, b boundary.Boundary, staged Staged) (metadata.Reason, error) {
	var found []metadata.Reason
	sizes := map[string]boundary.Change{}
	err := staged.Each(ctx, func(c boundary.Change, data []byte) error {
		if _, why := b.Rule(c); why != "" {
			return e.changedSince(c.Path, why)
		}
		if c.Size >= sizes[c.Path].Size { // of a file of Git LFS there is a pointer, too
			sizes[c.Path] = c
		}
		if !c.Gone {
			found = append(found, e.leaks(ctx, c, data)...)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if why := b.TooMuch(slices.Collect(maps.Values(sizes))); why != "" {
		return "", e.changedSince("the work", why)
	}
	if len(found) > maxLeaks {
		found = append(found[:maxLeaks], metadata.Because("more_secrets"))
	}
	if len(found) == 0 {
		return "", nil
	}
	return metadata.Because("secrets_found", "found", metadata.All(found...)), nil
}

func (e *Engine) changedSince(what string, why metadata.Reason) error {
	return fmt.Errorf("%s was changed after it had been looked at, so nothing was committed: %s", e.mask(boundary.Printable(what)), why.In(prompts.Words("en")))
}

// leaks says where secrets stand in a staged file or its new name.
func (e *Engine) leaks(ctx context.Context, c boundary.Change, data []byte) (found []metadata.Reason) {
	allowed := protection.Matches(c.Path, e.Plan.Secrets.Allow)
	if shown := e.mask(c.Path); shown != c.Path && c.New && !(allowed && e.maskKnown(c.Path) == c.Path) {
		found = append(found, metadata.Because("secret_in_name", "file", shown))
	}
	return append(found, e.leaksIn(ctx, c.Path, data)...)
}

// leaksIn says where secrets stand in a file that is about to be committed.
func (e *Engine) leaksIn(ctx context.Context, p string, data []byte) (found []metadata.Reason) {
	if e.Secrets == nil {
		return nil
	}
	leaks, err := e.Secrets.Leaks(ctx, p, data)
	if err != nil {
		found = append(found, metadata.Because("not_searched", "file", e.mask(p), "error", err))
	}
	allowed := protection.Matches(p, e.Plan.Secrets.Allow)
	for _, l := range leaks {
		if l.Known || !allowed {
			found = append(found, l.in(e.mask(p)))
		}
	}
	return found
}

// mask hides secrets in a text for people.
func (e *Engine) mask(text string) string {
	if e.Secrets == nil {
		return text
	}
	return e.Secrets.Mask(text)
}

// maskKnown hides the user's values in a text for programs.
func (e *Engine) maskKnown(text string) string {
	if e.Secrets == nil {
		return text
	}
	return e.Secrets.MaskKnown(text)
}

// maskAnswer hides secrets in the texts of a structured answer, which stays the
// JSON it is. Paths in it stay what they are as long as they name no value.
func (e *Engine) maskAnswer(answer json.RawMessage) json.RawMessage {
	if e.Secrets == nil || answer == nil {
		return answer
	}
	return reply.Masked(answer, e.mask, e.maskKnown)
}

// maskFiles makes the files fit to be committed that reprise itself has written. What
// is frozen is compared with its source later on, and the record has been kept
// clean from the beginning: where one of these has a value of the user, nothing
// is committed. Other texts are for people, and are masked.
func (e *Engine) maskFiles(files map[string][]byte, record string) error {
	for name, body := range files {
		text := string(body)
		if _, frozen := e.Frozen[name]; !frozen && name != record {
			files[name] = []byte(e.mask(text))
			continue
		}
		if clean := e.maskKnown(text); clean != text {
			at := 0
			for at < min(len(text), len(clean)) && text[at] == clean[at] {
				at++
			}
			line, _, _ := strings.Cut(clean[1+strings.LastIndexByte(clean[:at], '\n'):], "\n")
			return fmt.Errorf("%s: nothing was committed, for the value of a secret would be in %s, in line %d: %s",
				metadata.SecretFound, e.mask(name), 1+strings.Count(text[:at], "\n"), texts.Line(line))
		}
	}
	return nil
}
