package terminal

import (
	"slices"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/reprise-ci/reprise/internal/text"
)

// pane is what agents did of late, the newest last.
type pane []done

// done is one entry of it: what an agent did, or, with an empty time, which step began.
type done struct {
	at   time.Time
	what string // harmless
}

const (
	mostRecent = 50 // entries of a pane that are kept
	mostOfPane = 12 // lines of it that are drawn, with the empty one above it
)

// begin notes that a step begins.
func (d *pane) begin(n news) {
	d.keep(done{what: text.Join(" ", text.Flat(n.Phase), text.Flat(n.Step), text.Flat(n.Agent))})
}

// add notes what the agent of the step does now.
func (d *pane) add(n news) {
	what := text.Cut(text.Flat(n.Activity), 200)
	if all := *d; len(all) > 0 && all[len(all)-1].what == what {
		return
	}
	d.keep(done{n.Time, what})
}

// keep never changes what a drawing may still read.
func (d *pane) keep(one done) {
	all := *d
	if len(all) >= mostRecent {
		all = all[len(all)-mostRecent+1:]
	}
	*d = append(all[:len(all):len(all)], one)
}

// draw draws the pane where so many lines are free, or more than fit, of which rows may
// take some. It takes what the rows leave, and where that is little, some of theirs.
func (d pane) draw(p text.Palette, width, free, rows int) []string {
	room := min(mostOfPane, max(free-rows, min(6, free/2)))
	if room < 3 || len(d) == 0 {
		return nil
	}
	var lines []string
	for _, one := range slices.Backward(d) {
		entry := one.lines(p, width)
		if lines != nil && len(entry)+len(lines) >= room {
			break // one of which only the end fits reads badly
		}
		lines = append(entry[max(len(entry)-room+1, 0):], lines...)
	}
	return append([]string{""}, lines...)
}

// lines breaks an entry between words. Where the terminal is narrow it has no time.
func (d done) lines(p text.Palette, width int) []string {
	indent := "  "
	if d.at.IsZero() {
		return []string{p.Cyan(text.Cut(indent+d.what, width))}
	}
	first := indent
	if width == 0 || width >= 60 {
		first += d.at.Format("15:04:05") + "  "
	}
	body := d.what
	if width > len(first)+10 {
		body = ansi.Wrap(body, width-len(first), "")
	}
	var lines []string
	for l := range strings.SplitSeq(body, "\n") {
		lines = append(lines, p.Faint(text.Cut(first+l, width)))
		first = strings.Repeat(" ", len(first))
	}
	return lines
}
