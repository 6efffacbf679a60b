package report

import (
	"cmp"
	"fmt"
	"html"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// attempt is one call of an agent or one run of checks, with what belongs to it on the page.
type attempt struct {
	metadata.Attempt
	Back    []metadata.Rollback // right before it
	Outcome badge
	Printed string // the end of what its program wrote to standard error
	Diff    passage
	Talk    passage
	Void    bool // its phase was taken back since
}

func (w words) attempts(f Facts) (all []attempt) {
	space, of := &space{remaining: mostOfAll}, map[int][]Change{}
	for _, c := range f.Changes {
		of[c.Attempt] = append(of[c.Attempt], c)
	}
	back, order := w.Run.RollbackHistory, phases.InOrder(w.Run)
	for _, a := range w.Run.Attempts {
		rec := w.Run.Phase(a.Phase)
		one := attempt{Attempt: a, Outcome: w.outcome(a), Printed: space.take(printed(view.LastLines(a.Stderr, view.FailureLines))), Diff: w.diff(of[a.N], space), Void: rec != nil && a.Generation < rec.Generation}
		for len(back) > 0 && order(back[0].Timestamp, a.StartedAt) <= 0 {
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
	u := a.Usage
	read := u.InputTokens + u.OutputTokens
	return slices.DeleteFunc([]string{
		line(view.WithModel(a.Agent, a.Model), 100), text.Clock(a.StartedAt), text.Duration(took(a)),
		text.If(read > 0, w.Shown("page tokens of", "n", text.Tokens(read))), text.If(u.CachedTokens > 0, w.Shown("page cached of", "n", text.Tokens(u.CachedTokens))),
		text.If(u.USD > 0, text.USD(u.USD)), text.If(u.Unknown, w.Shown("unpriced", "n", 1)), text.If(u.ByGate, w.Shown("page by gate")),
		text.If(u.Turns > 0, w.Shown("page turns", "n", u.Turns)), text.If(a.Resumed, w.Shown("resumed")),
	}, func(s string) bool { return s == "" })
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
func escaped(s string) int { return len(html.EscapeString(s)) }

// passage is what an attempt changed, or what was said in it.
type passage struct {
	Title  string
	Prompt string // that it begins with
	Blocks []block
	Left   string // what is left out
	room   int    // for more of it, in bytes of HTML
	left   int    // how many texts are left out
}

// block is a text of a kind: of a diff add, del, at, file or same.
type block struct{ Kind, Text string }

// takes reports whether there is room for a text of so many bytes, and for all before it.
func (p *passage) takes(bytes int, of *space) bool {
	if p.left > 0 || bytes > p.room {
		p.left++
		return false
	}
	p.room, of.remaining = p.room-bytes, of.remaining-bytes
	return true
}

// diff gives the changes of an attempt as far as there is room for them.
func (w words) diff(changes []Change, space *space) passage {
	var added, deleted, files int
	d, cut, commit := passage{room: min(mostOfOne, space.remaining)}, false, ""
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
			l = shown(l)
			switch last := len(d.Blocks) - 1; {
			case !d.takes(escaped(l)+4, space):
			case last >= 0 && d.Blocks[last].Kind == kind:
				d.Blocks[last].Text += l
			default:
				d.Blocks = append(d.Blocks, block{kind, l})
			}
		}
	}
	d.Title = text.If(files > 0, w.Shown("page diff", "files", files, "added", added, "deleted", deleted))
	if d.left > 0 || cut {
		d.Left = w.Shown("page diff cut", "n", d.left, "commit", fmt.Sprintf("%.12s", text.Flat(commit)))
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

// leastOfTalk is how much of a page transcripts may have besides what diffs leave, in
// bytes of HTML.
const leastOfTalk = 64 << 10

// talks gives what was said in the attempts, as far as there is room: the newest
// matter most.
func (w words) talks(all map[int][]agents.Entry, left int) map[int]passage {
	space, talks := &space{remaining: left + leastOfTalk}, map[int]passage{}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		talks[n] = w.talk(all[n], space)
	}
	return talks
}

func (w words) talk(entries []agents.Entry, space *space) passage {
	t := passage{room: min(mostOfOne, space.remaining)}
	for _, e := range entries {
		if e.Kind == agents.Begins {
			t.Prompt = space.take(paragraph(e.Text))
			continue
		}
		if kind, body := spoken(e); t.takes(escaped(body)+32, space) {
			t.Blocks = append(t.Blocks, block{kind, body})
		}
	}
	shown := len(t.Blocks)
	t.Title = text.If(shown > 0, w.Shown("page transcript", "n", shown+t.left))
	t.Left = text.If(t.left > 0, w.Shown("page transcript cut", "n", t.left))
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
