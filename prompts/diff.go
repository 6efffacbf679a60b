package prompts

import (
	"cmp"
	"fmt"
	"math"
	"slices"
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

// CutDiff gives a diff of at most about most characters, and how many it had
// if something is left out. Then it begins with a line for each file, and each
// file has a fair share of the rest: however much one of them has, those behind
// it are seen.
func CutDiff(diff string, most int) (string, int) {
	whole := utf8.RuneCountInString(diff)
	if whole <= most {
		return diff, 0
	}
	files := filesOf(diff)
	var b strings.Builder
	room := most
	for i, f := range files {
		line := fmt.Sprintf("%s | +%d -%d\n", f.name, f.added, f.deleted)
		if b.Len()+len(line) > most/2 { // there are very many
			fmt.Fprintf(&b, "… +%d\n", len(files)-i)
			break
		}
		b.WriteString(line)
	}
	room -= utf8.RuneCountInString(b.String())
	share := fairShare(files, room)
	if share < leastShare {
		share = leastShare
		files = files[:room/leastShare]
	}
	for _, f := range files {
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

// fairShare gives how many characters of each file fit into room if those that
// have less than others leave them the rest.
func fairShare(files []fileDiff, room int) int {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b fileDiff) int { return cmp.Compare(a.size, b.size) })
	for i, f := range sorted {
		share := room / (len(sorted) - i)
		if f.size > share {
			return share
		}
		room -= f.size
	}
	return math.MaxInt // all fit
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
