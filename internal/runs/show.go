package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// ShowList prints runs as a table, in which each line fits the terminal.
func ShowList(env environ.Env, all []Run) {
	o := terminal.ShowOptions(env)
	out, narrow := terminal.NewReport(env.Stdout, o), o.Width > 0 && o.Width < 70
	if len(all) == 0 {
		out.Line("There is no run in this repository; start one with: reprise run --issue-file FILE")
		return
	}
	t := text.Table{Align: "lllrrll"}
	aged := func(cell string) string { return text.If(o.Width == 0 || o.Width >= 60, cell) }   // else there is no room for titles
	t.Add("issue", "status", "phase", "cost", aged("age"), text.If(!narrow, "where"), "title") // a column without words is left out
	now := env.Now()
	for _, r := range all {
		t.Add(text.Flat(r.Issue), text.Words(r.Status), text.Flat(r.Phase), text.USD(r.USD), aged(age(now.Sub(r.Updated))),
			text.If(!narrow, cmp.Or(strings.Join(r.Where, ", "), "gone")), text.Flat(r.Title))
	}
	out.Fitted(&t, func(i int, line string) string {
		if i == 0 {
			return out.Faint(line)
		}
		r := all[i-1]
		if line = out.Tinted(r.Status, line); r.Waits != "" {
			line += "\n    " + text.Cut(r.Waits, max(0, o.Width-4)) + "\n    " + r.Next[0]
		}
		return line
	})
}

// age says how long ago something was, in one unit.
func age(d time.Duration) string {
	switch {
	case d < time.Minute:
		return "now"
	case d < time.Hour:
		return fmt.Sprintf("%dm", d/time.Minute)
	case d < 48*time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	}
	return fmt.Sprintf("%dd", d/(24*time.Hour))
}

// ShowSeveral prints where each run is of which a command could have meant any.
func ShowSeveral(ctx context.Context, env environ.Env, s workspace.AmbiguousRun, asJSON bool) error {
	listed, err := List(ctx, env, s.Src) // there may be thousands of branches, most of another kind
	broken := []error{err}
	listed = slices.DeleteFunc(listed, func(r Run) bool { return !slices.Contains(s.Ids, r.Issue) })
	slices.SortFunc(listed, func(a, b Run) int { return cmp.Compare(a.Issue, b.Issue) })
	if asJSON {
		results := []view.Summary{}
		for _, l := range listed {
			r, err := workspace.LookAt(ctx, env, s.Src, l.Issue)
			if err != nil {
				broken = append(broken, fmt.Errorf("issue %s: %w", l.Issue, err))
				continue
			}
			results = append(results, view.Result(r.Plan, r.Run))
		}
		return errors.Join(append(broken, text.PrintJSON(env.Stdout, map[string]any{"runs": results}))...)
	}
	ShowList(env, listed)
	out := terminal.NewReport(env.Stdout, terminal.ShowOptions(env))
	out.Line("")
	out.Line("One of them is shown with: reprise status --issue ID")
	return errors.Join(broken...)
}
