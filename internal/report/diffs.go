package report

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// How much of a page diffs and other long texts may have, in bytes of HTML: of
// one attempt, and of all.
const (
	mostOfOne = 48 << 10
	mostOfAll = 1 << 20
)

// space is how many bytes long texts may still have.
type space struct{ remaining int }

// take gives a text that there is room for, or "".
func (r *space) take(s string) string {
	n := escaped(s)
	if n > r.remaining {
		return ""
	}
	r.remaining -= n
	return s
}

// escaped is how many bytes a text has as HTML.
func escaped(s string) int {
	n := len(s)
	for i := range len(s) {
		switch s[i] {
		case '&', '"', '\'':
			n += len("&amp;") - 1
		case '<', '>':
			n += len("&lt;") - 1
		}
	}
	return n
}

// diff is what an attempt changed.
type diff struct {
	Title  string
	Blocks []block
	Left   string // what is left out
}

// block are lines of a diff of one kind.
type block struct {
	Kind string // add, del, at, file or same
	Text string
}

// diff gives the changes of an attempt as far as there is room for them.
func diffOf(w words, changes []Change, space *space) diff {
	var d diff
	var added, deleted, files, left int
	here, cut, commit := min(mostOfOne, space.remaining), false, ""
	for _, c := range changes {
		commit, cut = c.Commit, cut || c.Cut
		inHunk := false
		for l := range strings.Lines(c.Patch) {
			kind := kindOf(l, &inHunk)
			switch kind {
			case "add":
				added++
			case "del":
				deleted++
			case "file":
				files += count(strings.HasPrefix(l, "diff --git "))
			}
			if left > 0 {
				left++
				continue
			}
			l = shown(l)
			if cost := escaped(l) + 4; cost <= here {
				here, space.remaining = here-cost, space.remaining-cost
				d.add(kind, l)
			} else {
				left++
			}
		}
	}
	if files > 0 {
		d.Title = w.Shown("page diff", "files", files, "added", added, "deleted", deleted)
	}
	if left > 0 || cut {
		d.Left = w.Shown("page diff cut", "n", left, "commit", fmt.Sprintf("%.12s", text.Flat(commit)))
	}
	return d
}

func count(b bool) int {
	if b {
		return 1
	}
	return 0
}

// kindOf says what a line of a diff is. Only a hunk has lines of files.
func kindOf(l string, inHunk *bool) string {
	switch {
	case strings.HasPrefix(l, "diff --git "):
		*inHunk = false
		return "file"
	case strings.HasPrefix(l, "@@"):
		*inHunk = true
		return "at"
	case !*inHunk:
		return "file"
	case strings.HasPrefix(l, "+"):
		return "add"
	case strings.HasPrefix(l, "-"):
		return "del"
	}
	return "same"
}

// shown makes a line of a diff fit to be shown. A very long one, as of a file
// that a program has made, is cut.
func shown(l string) string {
	const most = 1000 // bytes
	l = strings.TrimRight(l, "\r\n")
	if len(l) > most {
		at := most
		for at > 0 && !utf8.RuneStart(l[at]) {
			at--
		}
		l = l[:at] + "…"
	}
	return text.Visible(l) + "\n"
}

// add adds a line to the last block, or to a new one if it is of another kind.
func (d *diff) add(kind, l string) {
	if n := len(d.Blocks); n > 0 && d.Blocks[n-1].Kind == kind {
		d.Blocks[n-1].Text += l
	} else {
		d.Blocks = append(d.Blocks, block{Kind: kind, Text: l})
	}
}
