package phases

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
)

// Most is how much of the notes on a repository agents are told, in bytes.
const MostNotes = 8 << 10

// NoFile is what is wrong with notes that are no ordinary file.
const NotesNoFile = "is no file, or a symbolic link to one: agents are told nothing of it"

// ForAgents gives what agents are told of the notes: nothing of what is no text in UTF-8, and the
// beginning of a long one. What is wrong continues the name of the file; it is empty for nothing.
func NotesForAgents(data []byte) (told, wrong string) {
	if !utf8.Valid(data) || bytes.IndexByte(data, 0) >= 0 {
		return "", "is no text in UTF-8: agents are told nothing of it"
	}
	if len(data) > MostNotes {
		return strings.ToValidUTF8(string(data[:MostNotes]), "") + "\n…", "is longer than 8 kB: agents are told the beginning"
	}
	return string(data), ""
}

// Branch is how the name of a branch begins on which a change of the notes is proposed.
// The id of the issue follows, and a part of the digest of the change.
const NotesBranch = "reprise/notes-"

var branchForm = regexp.MustCompile(`^` + NotesBranch + `([0-9]+)-[0-9a-f]{8}$`)

// IssueOf gives the number of the issue whose run proposes a change of the notes on a
// branch; "" if the branch is none of those.
func IssueOfNotes(branch string) string {
	if m := branchForm.FindStringSubmatch(branch); m != nil {
		return m[1]
	}
	return ""
}

// The most that is kept of what one report asks for, in Unicode code points and lines.
const (
	mostAdded   = 4000
	mostRemoved = 20
	mostLine    = 500
	mostReason  = 2000
)

// Change is a change of the notes as an agent writes it.
type NotesChange struct {
	Add    string   `json:"add"`
	Remove []string `json:"remove"`
	Why    string   `json:"why"`
}

// Ask gives the change that a phase asks for in place of the one that is known, which
// may be nil. The pull request of that, if it has one, stays the one to decide in. It
// gives nil where nothing is asked for and no pull request is there.
func (c *NotesChange) Ask(known *metadata.NotesChange, phase string) *metadata.NotesChange {
	next := &metadata.NotesChange{Phase: phase}
	if known != nil {
		next.Number, next.URL, next.Done = known.Number, known.URL, known.Done
	}
	if c != nil {
		next.Add, next.Why = CutText(ValidText(c.Add), mostAdded), CutText(ValidText(c.Why), mostReason)
		for _, line := range c.Remove[:min(len(c.Remove), mostRemoved)] {
			if line = ValidText(strings.TrimSpace(line)); line != "" && !strings.Contains(line, "\n") && len(line) <= mostLine {
				next.Remove = append(next.Remove, line)
			}
		}
	}
	if next.Empty() && next.Number == 0 {
		return nil
	}
	return next
}

// Digest tells changes apart.
func NotesDigest(c metadata.NotesChange) string {
	data, err := json.Marshal([]any{c.Add, c.Remove})
	if err != nil {
		panic(err) // unreachable: texts can be written
	}
	return DigestOf(data)
}

// Apply gives the notes after a change. Lines to take out that are not there, and a text
// to add that is there already, change nothing.
func ApplyNotes(old string, c metadata.NotesChange) string {
	lines := slices.DeleteFunc(strings.Split(old, "\n"), func(line string) bool {
		return strings.TrimSpace(line) != "" && slices.Contains(c.Remove, strings.TrimSpace(line))
	})
	text, add := strings.Join(lines, "\n"), strings.TrimSpace(c.Add)
	if add == "" || contains(lines, strings.Split(add, "\n")) {
		return text
	}
	text = strings.TrimRight(text, " \t\r\n")
	last := text[strings.LastIndex(text, "\n")+1:]
	switch {
	case text == "":
		return add + "\n"
	case isItem(last) && isItem(add):
		return text + "\n" + add + "\n"
	}
	return text + "\n\n" + add + "\n"
}

// contains reports whether lines stand in others, one after the other.
func contains(all, some []string) bool {
	same := func(a, b string) bool { return strings.TrimSpace(a) == strings.TrimSpace(b) }
	for i := 0; i+len(some) <= len(all); i++ {
		if slices.EqualFunc(all[i:i+len(some)], some, same) {
			return true
		}
	}
	return false
}

// isItem reports whether a text begins with an item of a list.
func isItem(text string) bool {
	text = strings.TrimLeft(text, " \t")
	return strings.HasPrefix(text, "- ") || strings.HasPrefix(text, "* ")
}
