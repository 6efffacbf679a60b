package prompts

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

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
func filesOf(diff string) []fileDiff {
	const begins = "diff --git "
	var files []fileDiff
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
