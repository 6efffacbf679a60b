// Package command is what may be asked of a run: the grammar of commands in
// comments, their help, and what each makes of the record of a run. It is pure: it
// reads no clock, no file and no network.
package command

import (
	"cmp"
	"fmt"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Command is what a person asks for in a comment, or a workflow in the input named command. Names in it are well formed;
// whether they exist is for others to say.
type Command struct {
	Name  string        // as in Table
	Topic string        // help: the command that is asked about
	Phase string        // rollback, retry, approve, skip
	Step  metadata.Step // rollback; empty: not told

	Question string // answer: id of the question; empty: the only one
	Commit   string // approve: what was looked at, at least 7 hexadecimal digits
	Text     string // reason or answer, on any number of lines; nothing in it is hidden

	Restore, DryRun bool           // rollback
	Attempt         int            // rollback: whose work is taken; 0: that which is there
	Squash          bool           // finish
	Auto            bool           // rollback: an agent finds out where to, and why; Text is what somebody has seen, or empty
	Pipeline        string         // run: NAME or NAME/PRESET, never a file
	Part            pipelines.Part // run: which phases, and whether any is done in parts
	Agent           string         // run
	Refresh         anew           // run

	More phases.Allowance // run, retry
}

// Outcome says what to do about a text.
type Outcome int

const (
	Ignored    Outcome = iota // it is not for us: say nothing
	Understood                // it is a command
	Mistaken                  // it was meant for us: give Reply, to people with the right
)

// Parsed is what a text turned out to be.
type Parsed struct {
	Outcome Outcome
	Command Command         // if mistaken only its name, or that of the command that was probably meant, or nothing
	Faults  []fault         // if mistaken: at least one, and the first few if there are many
	Removed []clean.Removal // from the text, because people do not see it
}

// fault is one mistake in a command. What it names was typed by somebody:
// it may be anything.
type fault struct {
	Kind string // a key of command.faults among the words
	Args []string
}

// Parse reads the text of a comment. With bare it reads the input of a workflow instead, where the slash may be left out
// and everything is for us.
//
// Only the first line is a command, and only if it begins with the slash, or is all inline code that does. What follows is
// its text where it takes one. Quotes, code blocks and HTML comments are no commands. The time is linear.
func Parse(text string, bare bool) Parsed {
	text = strings.ToValidUTF8(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text), "\x00")
	if !bare && indented(text) {
		return Parsed{}
	}
	line, rest, _ := strings.Cut(strings.TrimSpace(text), "\n")
	line, hidden := visible(narrow(uncoded(strings.TrimSpace(line))))
	r := reader{line: line, rest: rest}
	if !r.readName(bare) {
		return Parsed{}
	}
	for _, c := range text {
		if hidden == "" && control(c) {
			hidden = codePoint(c)
		}
	}
	if hidden != "" {
		r.fault("invisible", hidden)
	}
	if comments(r.line) {
		r.fault("commented")
	}
	if len(r.faults) == 0 {
		r.readFlags()
		r.readArguments()
		r.readFlags()
		r.readText()
	}
	if c := r.command; c.Auto && (c.Phase != "" || c.Attempt > 0) {
		r.fault("autoAlone")
	}
	if len(r.faults) > 0 {
		return Parsed{Outcome: Mistaken, Command: Command{Name: r.command.Name}, Faults: r.faults}
	}
	return Parsed{Outcome: Understood, Command: r.command, Removed: r.removed}
}

// ParseAddressed is Parse for a comment where, if addressed is set, commands count only
// if they are called by the name of reprise: /reprise run, and not /run.
func ParseAddressed(text string, addressed bool) Parsed {
	first, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	called := strings.Fields(narrow(uncoded(strings.TrimSpace(first))))
	if addressed && (len(called) == 0 || !isReprise(strings.TrimPrefix(called[0], "/")) || called[0][0] != '/') {
		return Parsed{}
	}
	return Parse(text, false)
}

// indented reports whether a comment begins with a block of code, which
// is what four columns of space make of a line.
func indented(text string) bool {
	columns := 0
	for i := range len(text) {
		switch text[i] {
		case ' ':
			columns++
		case '\t':
			columns += 4 - columns%4
		case '\n':
			columns = 0
		default:
			return columns >= 4
		}
	}
	return false
}

// uncoded takes the backticks off a line that is all inline code.
func uncoded(line string) string {
	if n := len(line); n > 2 && line[0] == '`' && strings.IndexByte(line[1:], '`') == n-2 {
		return strings.TrimSpace(line[1 : n-1])
	}
	return line
}

// narrow gives a line whose first word begins with a wide slash, as keyboards for Japanese write it, in ASCII.
func narrow(line string) string {
	if !strings.HasPrefix(line, "／") {
		return line
	}
	word := line
	if end := strings.IndexFunc(line, unicode.IsSpace); end >= 0 {
		word = line[:end]
	}
	return strings.Map(func(r rune) rune {
		if '！' <= r && r <= '～' {
			return r - '！' + '!'
		}
		return r
	}, word) + line[len(word):]
}

// visible takes out of a line what nobody sees, and gives the first such
// character, or "": a command does what people read, or nothing.
func visible(line string) (visible string, hidden string) {
	var b strings.Builder
	around := []rune("/" + line + "\n")
	for i, r := range around[1 : len(around)-1] {
		if !hiddenIn(r, around[i], around[i+2]) {
			b.WriteRune(r)
			continue
		}
		hidden = cmp.Or(hidden, codePoint(r))
		if unicode.IsSpace(r) {
			b.WriteByte(' ')
		}
	}
	return b.String(), hidden
}

// hiddenIn reports whether a character may not stand in the line of a command. Joiners may between letters that are not
// ASCII: Persian is spelled with one, and emoji are made with the other.
func hiddenIn(r, before, after rune) bool {
	switch {
	case text.Joiner(r):
		return before <= unicode.MaxASCII || after <= unicode.MaxASCII
	case unicode.Is(unicode.Variation_Selector, r):
		drawn := before > unicode.MaxASCII && !unicode.Is(unicode.Variation_Selector, before) // an emoji, or an ideograph
		return !drawn && after != keycap
	}
	return control(r) || text.Invisible(r)
}

// keycap draws a key around a digit, with a selector between the two.
const keycap = '\u20e3'

// control reports whether something is a control character other than
// those that text is laid out with.
func control(r rune) bool { return unicode.IsControl(r) && r != '\t' && r != '\n' }

// codePoint names a character that cannot be shown.
func codePoint(r rune) string { return fmt.Sprintf("U+%04X", r) }
