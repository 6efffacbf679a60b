package runs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// say tells a person something of the queue, once.
func (w *Worker) say(what string) {
	if !w.said[what] {
		w.said[what] = true
		_, _ = fmt.Fprintln(w.Env.Stderr, "reprise: "+text.Flat(what))
	}
}

// table prints the runs as a list does, those at work first.
func (w *Worker) table(to io.Writer) {
	order := []metadata.Status{metadata.Running, metadata.Failed, metadata.Waiting, queued}
	var all []Run
	for _, it := range w.items {
		all = append(all, it.Run)
	}
	slices.SortStableFunc(all, func(a, b Run) int {
		return cmp.Compare(uint(slices.Index(order, a.Status)), uint(slices.Index(order, b.Status))) // what is over has none, and comes last
	})
	if len(all) > 0 {
		showRuns(to, terminal.ShowOptions(w.Env), w.Env.Now(), all)
	}
}

// show brings the view up to date: a table on a terminal, else a line for each run that has changed.
func (w *Worker) show() {
	if w.canvas != nil {
		var page bytes.Buffer
		w.table(&page)
		w.canvas.Draw(strings.Split(strings.TrimSuffix(page.String(), "\n"), "\n"))
		return
	}
	for _, it := range w.items {
		w.line(it)
	}
}

// line prints a line about a run that has changed, where there is no table.
func (w *Worker) line(it *item) {
	r := it.Run
	now, _ := json.Marshal([]any{r.Status, r.Phase, r.Step, r.Waits}) // plain texts
	switch {
	case w.canvas != nil, string(now) == it.shown:
	case w.JSON:
		terminal.LogJSON(w.Env.Stdout, r)
	default:
		terminal.Tell(w.Env.Stdout, text.Join("  ", w.Env.Now().Format("15:04:05"), text.Flat(r.Issue), string(r.Status), text.Flat(text.Join(" ", r.Phase, r.Step)), r.CostShort(), r.Waits))
	}
	it.shown = string(now)
}
