package phases

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
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

// searched has the digests of files in which no secret was found, by path.
type searched map[string][sha256.Size]byte

// leak says where secrets stand in files that are about to be committed, or in
// new names; "" if there are none. It notes which files it has searched.
func (e *Engine) leak(ctx context.Context, s sorted, clean searched) metadata.Reason {
	if e.Secrets == nil || len(s.present) == 0 {
		return ""
	}
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return metadata.Because("secrets_found", "found", metadata.Because("search_failed", "error", err))
	}
	defer func() { _ = root.Close() }() // opened for reading
	var found []metadata.Reason
	for _, p := range s.present {
		shown, allowed := e.mask(p), matchAny(p, e.Plan.Secrets.Allow)
		if shown != p && slices.Contains(s.fresh, p) && !(allowed && e.maskKnown(p) == p) {
			found = append(found, metadata.Because("secret_in_name", "file", shown))
		}
		data, err := folders.ReadFile(root, p, maxFile)
		if errors.Is(err, os.ErrNotExist) {
			continue // removed
		}
		if err != nil {
			found = append(found, metadata.Because("not_searched", "file", shown, "error", err))
			continue
		}
		leaks := e.leaksIn(ctx, p, data)
		if len(leaks) == 0 {
			clean[p] = sha256.Sum256(data)
		}
		found = append(found, leaks...)
	}
	if len(found) > maxLeaks {
		found = append(found[:maxLeaks], metadata.Because("more_secrets"))
	}
	if len(found) == 0 {
		return ""
	}
	return metadata.Because("secrets_found", "found", metadata.All(found...))
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
	allowed := matchAny(p, e.Plan.Secrets.Allow)
	for _, l := range leaks {
		if l.Known || !allowed {
			found = append(found, l.in(e.mask(p)))
		}
	}
	return found
}

// judge holds what is about to be committed to the same rules as the files that
// were looked at before: something that still runs may have changed them since.
func (e *Engine) judge(b boundary, clean searched) func(context.Context, Change, []byte) error {
	return func(ctx context.Context, c Change, data []byte) error {
		_, why := b.rule(c)
		if sum, ok := clean[c.Path]; why == "" && (!ok || sum != sha256.Sum256(data)) {
			why = metadata.All(e.leaksIn(ctx, c.Path, data)...)
		}
		if why == "" {
			return nil
		}
		return fmt.Errorf("%s was changed after it had been looked at, so nothing was committed: %s", e.mask(printable(c.Path)), Say("en", why))
	}
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
	var out strings.Builder
	rest, field := string(answer), ""
	for {
		before, text, after, ok := cutString(rest)
		out.WriteString(before)
		if !ok {
			return json.RawMessage(out.String())
		}
		switch {
		case strings.HasPrefix(strings.TrimLeft(after, " \t\r\n"), ":"):
			field, text = text, e.maskKnown(text)
		case field == "file" || field == "files" || field == "path":
			text = e.maskKnown(text)
		default:
			text = e.mask(text)
		}
		quoted, _ := json.Marshal(text) // a string always encodes
		out.Write(quoted)
		rest = after
	}
}

// cutString finds the first string in JSON. Where there is none that is whole,
// all of it is before.
func cutString(text string) (before, value, after string, found bool) {
	start := strings.IndexByte(text, '"')
	if start < 0 {
		return text, "", "", false
	}
	for end := start + 1; end < len(text); end++ {
		switch text[end] {
		case '\\':
			end++
		case '"':
			if json.Unmarshal([]byte(text[start:end+1]), &value) != nil {
				return text, "", "", false
			}
			return text[:start], value, text[end+1:], true
		}
	}
	return text, "", "", false
}

// keep makes the files fit to be committed that reprise itself has written. What
// is frozen is compared with its source later on, and the record has been kept
// clean from the beginning: where one of these has a value of the user, nothing
// is committed. Other texts are for people, and are masked.
func (e *Engine) keep(files map[string][]byte, record string) error {
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
				metadata.SecretFound, e.mask(name), 1+strings.Count(text[:at], "\n"), brief(line))
		}
	}
	return nil
}
