package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// SecretFinder knows what must not be seen: values that the user has, in any form in
// which they may be written, and what has the shape of a secret.
type SecretFinder interface {
	// Mask replaces both in a text for people.
	Mask(text string) string
	// MaskKnown replaces the values only: what merely looks like a secret stays, as in a path that programs read.
	MaskKnown(text string) string
	// Leaks finds both in a file that is about to be committed, but for what the last commit has. An error says why the
	// file could not be looked through; it is not committed then.
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

// maskAnswer hides secrets in the texts of a structured answer, which stays the JSON it is.
func (j *Journal) maskAnswer(answer json.RawMessage) json.RawMessage {
	if answer == nil {
		return answer
	}
	return phases.MaskedAnswer(answer, j.Mask, j.MaskKnown)
}

// maskFiles masks the files that reprise itself has written. Those that are exact may not be changed: where one of them
// has a value of the user, nothing is committed.
func (j *Journal) maskFiles(files map[string][]byte, exact func(name string) bool) error {
	for name, body := range files {
		text := string(body)
		if !exact(name) {
			files[name] = []byte(j.Mask(text))
			continue
		}
		if clean := j.MaskKnown(text); clean != text {
			at := 0
			for at < min(len(text), len(clean)) && text[at] == clean[at] {
				at++
			}
			line, _, _ := strings.Cut(clean[1+strings.LastIndexByte(clean[:at], '\n'):], "\n")
			return fmt.Errorf("%s: nothing was committed, for the value of a secret would be in %s, in line %d: %s",
				metadata.SecretFound, j.Mask(name), 1+strings.Count(text[:at], "\n"), phases.OneLine(line))
		}
	}
	return nil
}

// maxLeaks is how many leaks an agent is told of at once.
const maxLeaks = 10

// CheckStaged holds what is staged to the rules of the boundary once more, as something that still runs may have changed
// it, and says where secrets stand in it, or "". At paths that match allow, what merely looks like a secret is none.
func (j *Journal) CheckStaged(ctx context.Context, b phases.Boundary, allow []string, staged StagedTree) (metadata.Reason, error) {
	var found []metadata.Reason
	sizes := map[string]phases.Change{}
	err := staged.Each(ctx, func(c phases.Change, data []byte) error {
		if _, why := b.Rule(c); why != "" {
			return j.changedSince(c.Path, why)
		}
		if c.Size >= sizes[c.Path].Size { // of a file of Git LFS there is a pointer, too
			sizes[c.Path] = c
		}
		if !c.Gone {
			found = append(found, j.inChange(ctx, c, allow, data)...)
		}
		return nil
	})
	if err != nil {
		return "", err
	}
	if why := b.TooMuch(slices.Collect(maps.Values(sizes))); why != "" {
		return "", j.changedSince("the work", why)
	}
	if len(found) > maxLeaks {
		found = append(found[:maxLeaks], metadata.Because("more_secrets"))
	}
	if len(found) == 0 {
		return "", nil
	}
	return metadata.Because("secrets_found", "found", metadata.All(found...)), nil
}

// changedSince is the error of a commit that would have had something else than what was looked at.
func (j *Journal) changedSince(what string, why metadata.Reason) error {
	return fmt.Errorf("%s was changed after it had been looked at, so nothing was committed: %s", j.Mask(phases.Printable(what)), why.In(prompts.Words("en")))
}

// inChange says where secrets stand in a staged file or its new name.
func (j *Journal) inChange(ctx context.Context, c phases.Change, allow []string, data []byte) (found []metadata.Reason) {
	allowed := pipelines.MatchesPath(c.Path, allow)
	if shown := j.Mask(c.Path); shown != c.Path && c.New && !(allowed && j.MaskKnown(c.Path) == c.Path) {
		found = append(found, metadata.Because("secret_in_name", "file", shown))
	}
	return append(found, j.inFile(ctx, c.Path, allow, data)...)
}

// inFile says where secrets stand in a file that is about to be committed.
func (j *Journal) inFile(ctx context.Context, p string, allow []string, data []byte) (found []metadata.Reason) {
	leaks, err := j.Leaks(ctx, p, data)
	if err != nil {
		found = append(found, metadata.Because("not_searched", "file", j.Mask(p), "error", err))
	}
	allowed := pipelines.MatchesPath(p, allow)
	for _, l := range leaks {
		if l.Known || !allowed {
			found = append(found, l.in(j.Mask(p)))
		}
	}
	return found
}
