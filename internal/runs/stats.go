package runs

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// TallyOf adds up runs.
func TallyOf(all []Run) view.Tally {
	records := make([]metadata.Run, len(all))
	for i, r := range all {
		records[i] = r.Record
	}
	return view.TallyOf(records)
}

// mostStats is how many gates and findings are printed; as JSON there are all.
const mostStats = 15

// enoughJudged is how often a gate was judged before it is said that it never fails.
const enoughJudged = 5

// ShowStats prints what runs came to.
func ShowStats(env environ.Env, t view.Tally) {
	o := terminal.ShowOptions(env)
	out, narrow := terminal.NewReport(env.Stdout, o), o.Width > 0 && o.Width < 90
	say := func(format string, args ...any) { terminal.Tell(env.Stdout, fmt.Sprintf(format, args...)) }
	if t.Runs == 0 {
		say("There is no run in this repository; start one with: reprise run --issue-file FILE")
		return
	}
	statuses := ""
	for _, s := range slices.Sorted(maps.Keys(t.Statuses)) {
		statuses = text.Join(", ", statuses, fmt.Sprintf("%d %s", t.Statuses[s], text.Words(s)))
	}
	say("%s (%s), %s", text.Plural(t.Runs, "run"), statuses, text.USD(t.USD))
	if c := t.Completed; c.Runs > 0 {
		say("A completed run cost %s, took %s and made %.0f calls (medians of %d); in %d of them no person took anything back",
			text.USD(c.USD), text.Duration(seconds(c.Seconds)), c.Attempts, c.Runs, c.WithoutPeople)
	}
	wide := func(cell string) string { return text.If(!narrow, cell) } // a column without words is left out
	most := 0
	if narrow {
		most = 17 // of a name, so that all other columns have room on 50
	}
	statsTable(out, "Phases", columns{[]string{"phase", wide("runs"), "failed", "rejected", wide("checks failed"), wide("unusable"), "back", "cost", wide("work")}, "lrrrrrrrr"}, t.Phases, func(p view.Phase) []string {
		return []string{
			text.Cut(text.Flat(p.Name), most), wide(fmt.Sprint(p.Runs)), fmt.Sprint(p.Failed), ofSome(p.Rejected, p.Reviews), wide(ofSome(p.ChecksFail, p.Checks)), wide(fmt.Sprint(p.Unusable)),
			fmt.Sprint(p.ByPeople + p.ByItself), text.USD(p.USD), wide(text.Duration(seconds(p.Seconds))),
		}
	})
	var fail, never []view.Gate
	for _, g := range t.Gates {
		switch {
		case g.Failed > 0:
			fail = append(fail, g)
		case g.Judged >= enoughJudged:
			never = append(never, g)
		}
	}
	gate := func(g view.Gate) []string {
		return []string{ofSome(g.Failed, g.Judged), text.Flat(g.Phase), text.Cut(text.Flat(g.Gate), 100)}
	}
	statsTable(out, "Gates that fail", columns{[]string{"failed", "phase", "gate"}, "rll"}, fail, gate)
	statsTable(out, fmt.Sprintf("Gates that never fail, judged at least %d times", enoughJudged), columns{[]string{"failed", "phase", "gate"}, "rll"}, never, gate)
	statsTable(out, "Reviewers", columns{[]string{"agent", "model", "reviews", "rejected", "missed"}, "llrrr"}, t.Reviewers, func(r view.Reviewer) []string {
		return []string{text.Flat(r.Agent), text.Flat(r.Model), fmt.Sprint(r.Reviews), fmt.Sprint(r.Rejected), fmt.Sprint(r.Missed)}
	})
	statsTable(out, "Models", columns{[]string{"model", "calls", "tokens", "cost"}, "lrrr"}, t.Models, func(m view.Model) []string {
		return []string{text.Flat(m.Model), fmt.Sprint(m.Calls), text.Tokens(m.Tokens), text.USD(m.USD)}
	})
	statsTable(out, "What people found that a review had passed", columns{[]string{"issue", "phase", "reviewer", "what"}, "llll"}, t.Missed, func(m view.Missed) []string {
		return []string{text.Flat(m.Issue), text.Flat(m.Phase), text.Flat(m.Agent), text.Cut(text.Flat(text.FirstLine(m.What)), 100)}
	})
}

// ofSome says how many of some; nothing of none.
func ofSome(n, all int) string {
	if all == 0 {
		return "-"
	}
	return fmt.Sprintf("%d of %d", n, all)
}

func seconds(s float64) time.Duration { return time.Duration(s * float64(time.Second)) }

// columns are those of a table, with how each is aligned: one letter for each.
type columns struct {
	heads []string
	align string
}

// statsTable prints a table that has lines.
func statsTable[T any](out terminal.Report, title string, c columns, all []T, row func(T) []string) {
	if len(all) == 0 {
		return
	}
	out.Heading(title)
	t := text.Table{Align: c.align}
	t.Add(c.heads...)
	for _, one := range all[:min(len(all), mostStats)] {
		t.Add(row(one)...)
	}
	out.Fitted(&t, func(i int, line string) string {
		if i == 0 {
			return out.Faint(line)
		}
		return line
	})
	if left := len(all) - mostStats; left > 0 {
		out.Line("%s", out.Faint(fmt.Sprintf("and %d more: see them with --json", left)))
	}
}
