package report

import (
	"maps"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/text"
)

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

// talksOf gives what was said in the attempts, as far as there is room: the newest
// matter most.
func talksOf(w words, all map[int][]agents.Entry, left int) map[int]talk {
	space, talks := &space{remaining: left + leastOfTalk}, map[int]talk{}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(all))) {
		talks[n] = talkOf(w, all[n], space)
	}
	return talks
}

func talkOf(w words, entries []agents.Entry, space *space) talk {
	var t talk
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
