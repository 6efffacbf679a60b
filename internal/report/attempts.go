package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// attempt is one call of an agent or one run of checks, with what belongs to it on the page.
type attempt struct {
	metadata.Attempt
	Back    []metadata.Rollback // right before it
	Outcome badge
	Printed string // the end of what its program wrote to standard error
	Diff    diff
	Talk    talk
	Void    bool // its phase was taken back since
}

func (w words) attempts(f Facts) (all []attempt) {
	space, of := &space{remaining: mostOfAll}, map[int][]Change{}
	for _, c := range f.Changes {
		of[c.Attempt] = append(of[c.Attempt], c)
	}
	back := w.Run.RollbackHistory
	for _, a := range w.Run.Attempts {
		rec := w.Run.Phase(a.Phase)
		one := attempt{Attempt: a, Outcome: w.outcome(a), Printed: space.take(lastLines(a.Stderr)), Diff: w.diff(of[a.N], space), Void: rec != nil && a.Generation < rec.Generation}
		for len(back) > 0 && !back[0].Timestamp.After(a.StartedAt) {
			one.Back, back = append(one.Back, back[0]), back[1:]
		}
		all = append(all, one)
	}
	talks := w.talks(f.Transcripts, space.remaining)
	for i := range all {
		all[i].Talk = talks[all[i].N]
	}
	return all
}

// outcome is how an attempt ended: of one that judged the work what it said.
func (w words) outcome(a metadata.Attempt) badge {
	if a.Verdict != "" {
		return w.badge("verdicts", a.Verdict)
	}
	return w.badge("statuses", a.Status)
}

// round is the round of review that an attempt belongs to; the record counts those before.
func (w words) round(a metadata.Attempt) string {
	return text.If(a.Round > 0 && a.Round < 1000, w.Say("round", "n", a.Round+1))
}

// why says why an attempt did not succeed.
func (w words) why(a metadata.Attempt) string {
	code := cmp.Or(string(a.Class), string(a.Code))
	return text.Join(": ", line(code, 60), paragraph(a.Why.In(w.Catalogue)))
}

// figures are who did an attempt and what it took.
func (w words) figures(a metadata.Attempt) []string {
	all := []string{line(text.Join(" ", a.Agent, text.If(a.Model != "", "("+a.Model+")")), 100), text.Clock(a.StartedAt), text.Duration(took(a))}
	if n := a.Usage.InputTokens + a.Usage.OutputTokens; n > 0 {
		all = append(all, w.Shown("page tokens of", "n", text.Tokens(n)))
	}
	if a.Usage.CachedTokens > 0 {
		all = append(all, w.Shown("page cached of", "n", text.Tokens(a.Usage.CachedTokens)))
	}
	if a.Usage.USD > 0 {
		all = append(all, text.USD(a.Usage.USD))
	}
	if a.Usage.Unknown {
		all = append(all, w.Shown("unpriced", "n", 1))
	}
	if a.Usage.ByGate {
		all = append(all, w.Shown("page by gate"))
	}
	if a.Usage.Turns > 0 {
		all = append(all, w.Shown("page turns", "n", fmt.Sprint(a.Usage.Turns)))
	}
	all = append(all, text.If(a.Resumed, w.Shown("resumed")))
	return slices.DeleteFunc(all, func(s string) bool { return s == "" })
}

func took(a metadata.Attempt) time.Duration {
	return time.Duration(min(max(a.DurationMS, 0), mostTime.Milliseconds())) * time.Millisecond
}

// mostTime is more than any attempt takes; a record that says more is wrong.
const mostTime = 30 * 24 * time.Hour

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
func (w words) diff(changes []Change, space *space) (d diff) {
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
				files += text.Count(strings.HasPrefix(l, "diff --git "))
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

// leastOfTalk is how much of a page transcripts may have besides what diffs leave, in
// bytes of HTML.
const leastOfTalk = 64 << 10

// talk is what was said in an attempt.
type talk struct {
	Title  string
	Prompt string
	Blocks []block
	Left   string // what is left out
}

// talks gives what was said in the attempts, as far as there is room: the newest
// matter most.
func (w words) talks(all map[int][]agents.Entry, left int) map[int]talk {
	space, talks := &space{remaining: left + leastOfTalk}, map[int]talk{}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		talks[n] = w.talk(all[n], space)
	}
	return talks
}

func (w words) talk(entries []agents.Entry, space *space) (t talk) {
	here, shown, left := min(mostOfOne, space.remaining), 0, 0
	for _, e := range entries {
		if e.Kind == agents.Begins {
			t.Prompt = space.take(paragraph(e.Text))
			continue
		}
		if left > 0 {
			left++
			continue
		}
		kind, body := spoken(e)
		cost := escaped(body) + 32
		if cost > here {
			left++
			continue
		}
		here, space.remaining, shown = here-cost, space.remaining-cost, shown+1
		t.Blocks = append(t.Blocks, block{Kind: kind, Text: body})
	}
	if shown > 0 {
		t.Title = w.Shown("page transcript", "n", shown+left)
	}
	if left > 0 {
		t.Left = w.Shown("page transcript cut", "n", left)
	}
	return t
}

// spoken gives the class and the text of an entry.
func spoken(e agents.Entry) (kind, body string) {
	const most = 300 // cells of what is told in one line
	bad := text.If(e.Bad, " bad")
	switch e.Kind {
	case agents.Said:
		return "said", paragraph(e.Text) + "\n"
	case agents.Thought:
		return "back", paragraph(e.Text) + "\n"
	case agents.Used:
		return "used" + bad, line(strings.TrimSpace("→ "+e.Tool+" "+e.Text), most) + "\n"
	case agents.Ends:
		return "said" + bad, line("✓ "+e.Text, most) + "\n"
	}
	return "back" + bad, line("← "+e.Text, most) + "\n"
}
