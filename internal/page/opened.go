package page

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// mostOpened is how much of what waits for an approval is shown, in characters.
const mostOpened = 20_000

// change is what a person is asked about at protected paths: every line of it, and what
// nobody would see in it as marks.
type change struct {
	Shown string
	Cut   bool // that is not all
	Forge bool // it is of the workflows
}

func (w *writer) opened() *change {
	diff, forge := "", false
	for _, o := range view.Opened(w.Course) {
		diff += o.Diff
		forge = forge || strings.HasPrefix(o.Path, ".github/")
	}
	if diff == "" {
		return nil
	}
	diff, _ = clean.Mark(diff)
	diff = folded(blanksShown(diff))
	shown := clean.Truncate(diff, mostOpened)
	return &change{shown, len(shown) < len(strings.TrimSpace(diff)), forge}
}

// Of blanks in a line, how many are more than anybody needs: before its words, and
// between two.
const (
	deepest = 80
	widest  = 24
)

var blanks = text.Pattern(`[\t\p{Zs}]+`)

// blanksShown shows how many blanks there are where a line of a difference has very many:
// forges do not wrap blocks of code, so that nobody would see what stands behind them.
func blanksShown(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		b.WriteString(line[:1]) // the sign
		at := 1
		for _, run := range blanks().FindAllStringIndex(line, -1) {
			from, to, most := max(run[0], 1), run[1], widest
			if from == 1 {
				most = deepest
			}
			if n := utf8.RuneCountInString(line[from:to]); n > most && strings.TrimSpace(line[to:]) != "" {
				fmt.Fprintf(&b, "%s<%d blanks>", line[at:from], n)
				at = to
			}
		}
		b.WriteString(line[at:])
	}
	return b.String()
}

// longest is how many characters of a line of a difference are shown beside each other.
const longest = 160

// folded breaks the lines of a difference that are longer than people look at: forges do not
// wrap blocks of code, and what stands far to the right is seen by nobody. What goes on in a
// new line has a sign there that no line of a difference begins with.
func folded(diff string) string {
	var b strings.Builder
	for line := range strings.Lines(diff) {
		for n, r := range []rune(line) {
			if n > 0 && n%longest == 0 && r != '\n' {
				b.WriteString("\n↪")
			}
			b.WriteRune(r)
		}
	}
	return b.String()
}
