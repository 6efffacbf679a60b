// Package prompts holds the words that reprise says to agents and to people. Values are put into prompts
// as they are; text from outside stands between fences that nobody can guess.
package prompts

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
)

// Data is what a template is rendered from.
type Data struct {
	Pipeline string
	Phase    string
	Step     string // execute, review or revise; diagnose, which is about the whole run; or choose, before there is one
	Goal     string
	Gates    []string
	Access   string // none, read, run, artifacts or tree
	Artifact string // absolute path of the file to write, to review, or for a diagnosis of the record
	// Protected are the path patterns that the pipeline protects, besides the
	// built-in ones, which the templates know.
	Protected []string
	// Opened are those of the built-in ones that agents may change, if a person approves.
	Opened []string
	Base   string // newest commit of the base that the branch has, whose conventions count; empty: it is not known
	Dir    string // absolute path of the work tree
	Schema string // JSON Schema of the structured answer; empty if none is asked for
	Round  int    // reviews of this phase so far
	Last   bool   // never set: frozen templates of runs that began earlier ask for it

	Issue     Issue
	Part      *Part     // of the phase, which is done in parts; nil: all of it
	Rollback  *Rollback // set while the reason of a rollback has not been satisfied
	Feedback  *Feedback // what review, checks and limits said about the work as it stands
	Documents []Document
	Answers   []Answer // to questions that the phase has asked people
	Others    []string // a line or some for each open run of the same repository, as untrusted text
	Diff      string   // what changed in the tree; the template cuts it
	Changed   string   // since the last review, for the next one: parts of files, such as {main.go 3 9}
	State     string   // for a diagnosis: what the record says about the run
	Symptom   string   // for a diagnosis: what the person who asks for it has seen, or empty
	Resumed   bool     // the agent goes on with its own session and knows the context
	Boundary  string   // random, unguessable; fences untrusted text
}

// Issue is the issue, as untrusted text.
type Issue struct {
	ID, URL, Title, Author string
	Labels                 []string
	Body                   string
	Path                   string // of the file that has the whole body
	Notes                  string // what people tell all agents that work in its repository; empty: nothing
	Said                   []Said // below it, the oldest first
	Older                  int    // comments before these that are left out
	Images                 string // folder with the files of the images that the texts name; "": there are none
}

// Said is a comment on the issue, as untrusted text.
type Said struct {
	By, Role string // who, and with which right; the author of the issue has none at times
	At, Text string
}

// Part is the task of a phase to which a step is limited, as untrusted text.
type Part struct {
	ID, Title, Goal string
	Files           []string // that it is likely to touch
	Others          []string // other tasks of the phase, as "t2: the page"
}

// Rollback is why the phase was taken back.
type Rollback struct {
	FromPhase, FromStep string
	By                  string // who asked, empty if unknown
	Automatic           bool
	Reason              string
	Earlier             []string // reasons of rollbacks before that are not met either, the newest first
	ReviewResult        string   // path of a review to read, or empty
	Blockers            int      // -1 if unknown
	Suggestions         int
	AffectedTests       []string
	Comments            []Comment // what people have said about lines, and no review has found fixed
}

// Feedback is what stands against the work.
type Feedback struct {
	Gates      []metadata.Gate    // failed ones
	Findings   []metadata.Finding // in the words of the review
	Checks     []Check            // failed ones for revise, all for review
	Violations []string           // changes that were reverted, with the rule each broke
	Missing    []string           // evidence that the last call did not bring
	Invalid    []string           // what is wrong with the structured answer of the last call
	Conflict   string             // why the work does not go together with what went in before, and what to do; empty: it does
	Paths      []string           // at which it does not; none if only checks say so
	Notice     string             // of an earlier call: that it broke off and where its changes are or, for a review, that the writer was cut off; empty: nothing
}

// Comment is what somebody has said about a line of a pull request.
type Comment struct {
	ID, File, Text string
	Line           int    // 0: of the whole file
	At             string // both, with all lines if there are several, such as main.go:3-7
	Side           string // LEFT: a line that was deleted
	Hunk           string // of the diff, down to the line
}

// Check is a command that reprise ran, and how it ended.
type Check struct {
	metadata.CheckResult
	// Otherwise says how one that failed before as well fails now in another way.
	Otherwise string
}

// Tests is FailedTests, by the name that frozen templates of runs which began earlier know.
func (c Check) Tests() []string { return c.FailedTests }

// Answer is what people said to a question of an agent.
type Answer struct{ Question, Answer, By string }

// Document is the artifact of an earlier phase.
type Document struct {
	Phase string
	Path  string // absolute
}

// fileDiff is what a diff in git's format says of one file.
type fileDiff struct {
	name           string // as the line that begins it has it
	text           string
	size           int // of the text, in characters
	added, deleted int // lines
}

const (
	maxName    = 300 // characters of a name that are shown
	leastShare = 200 // characters of a file that say something
)

// cutDiff gives a diff of at most about most characters, and how many it had if something is left out.
// Then it names all files, and each has a share of the rest.
func cutDiff(diff string, most int) (string, int) {
	whole := utf8.RuneCountInString(diff)
	if whole <= most {
		return diff, 0
	}
	files := filesOf(diff)
	var b strings.Builder
	for i, f := range files {
		line := fmt.Sprintf("%s | +%d -%d\n", f.name, f.added, f.deleted)
		if b.Len()+len(line) > most/2 { // there are very many
			fmt.Fprintf(&b, "… +%d\n", len(files)-i)
			break
		}
		b.WriteString(line)
	}
	room := most - utf8.RuneCountInString(b.String())
	for i, f := range files {
		if room < leastShare {
			break
		}
		share := max(room/(len(files)-i), leastShare)
		room -= min(share, f.size)
		b.WriteString("\n" + firstRunes(f.text, share))
		if left := f.size - share; left > 0 {
			fmt.Fprintf(&b, "\n… +%d: %s\n", left, f.name)
		}
	}
	return b.String(), whole
}

// filesOf takes a diff apart. Lines of a file's content begin with a sign of
// their own, so none of them looks like the beginning of another file.
func filesOf(diff string) (files []fileDiff) {
	const begins = "diff --git "
	inHunk := false
	start := 0
	end := func(at int) {
		if n := len(files); n > 0 {
			files[n-1].text = diff[start:at]
			files[n-1].size = utf8.RuneCountInString(files[n-1].text)
		}
		start = at
	}
	at := 0
	for line := range strings.Lines(diff) {
		switch {
		case strings.HasPrefix(line, begins) || len(files) == 0:
			end(at)
			files = append(files, fileDiff{name: firstRunes(strings.TrimSpace(strings.TrimPrefix(line, begins)), maxName)})
			inHunk = false
		case strings.HasPrefix(line, "@@ "):
			inHunk = true
		case inHunk && line[0] == '+':
			files[len(files)-1].added++
		case inHunk && line[0] == '-':
			files[len(files)-1].deleted++
		}
		at += len(line)
	}
	end(len(diff))
	return files
}

// firstRunes gives the first n characters of a text.
func firstRunes(text string, n int) string {
	for i := range text {
		if n == 0 {
			return text[:i]
		}
		n--
	}
	return text
}
