package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// LogOptions say which transcripts of a run are shown, and how. Without a choice it is the newest one.
type LogOptions struct {
	Part
	All     bool
	From    string // a folder with transcripts, from the artifact of a job; empty: this machine has them
	Follow  bool   // also what is still to come, until the run ends or waits
	Raw     bool   // as the programs printed it
	JSON    bool   // an object on each line
	Prompts bool   // in full
}

// Logs shows what agents have said and done in a run, as far as that was on this machine,
// or is in the folder that o names. For that, r may be nil.
func Logs(ctx context.Context, env environ.Env, r *workspace.Recorded, o LogOptions) error {
	switch given := text.Count(o.Attempt != 0, o.Phase != "", o.All); {
	case o.Follow && o.From != "":
		return exit.Usagef("--follow shows what is still to come on this machine, and --from what was downloaded: give one of them")
	case given > 1 || o.Follow && given > 0:
		return exit.Usagef("--attempt, --phase, --all and --follow each say which transcripts are shown: give one of them")
	}
	l := &logs{env: env, o: o}
	l.printer = agents.TranscriptPrinter{Prompts: o.Prompts}
	l.printer.Printer, l.printer.Width = terminal.NewReport(env.Stdout, terminal.ShowOptions(env)).Printer, terminal.ShowOptions(env).Width
	l.dir = o.From
	if l.dir == "" {
		root, err := workspace.HomeFolder(env, r.Source, r.Issue.ID)
		if err != nil {
			return err
		}
		l.dir = agents.TranscriptsFolder(root)
	}
	if o.Follow {
		return l.follow(ctx, r)
	}
	all, err := agents.KeptIn(l.dir)
	if err != nil {
		return err
	}
	asked := l.chosen(all)
	if len(asked) == 0 {
		began := func(a metadata.Attempt) bool { return a.Phase == o.Phase && a.Step.ByAgent() }
		switch {
		case o.From == "" && o.lacking(r.Run) != nil:
			return o.lacking(r.Run)
		case o.From == "" && o.Phase != "" && !slices.ContainsFunc(r.Run.Attempts, began):
			return exit.Usagef("no agent has worked on phase %s yet", o.Phase)
		}
		return exit.Usagef("there is no such transcript in %s: they stay where the run was at work, for 14 days; those of jobs on GitHub are in the folder transcripts of their artifacts, which --from names", l.dir)
	}
	return l.show(asked)
}

type logs struct {
	env     environ.Env
	o       LogOptions
	dir     string
	printer agents.TranscriptPrinter
}

// chosen gives those of all transcripts that are asked for.
func (l *logs) chosen(all []agents.Kept) []agents.Kept {
	switch {
	case l.o.All || len(all) == 0:
		return all
	case l.o.Attempt != 0:
		return slices.DeleteFunc(all, func(k agents.Kept) bool { return k.Attempt != l.o.Attempt })
	case l.o.Phase != "":
		return slices.DeleteFunc(all, func(k agents.Kept) bool { return k.Phase != l.o.Phase })
	}
	return all[len(all)-1:]
}

// show shows transcripts from their beginnings.
func (l *logs) show(all []agents.Kept) error {
	for _, k := range all {
		t, err := agents.OpenTranscript(l.dir, k.Attempt)
		if err != nil {
			return err
		}
		if err := errors.Join(l.more(t, k.Attempt), t.Close()); err != nil {
			return err
		}
	}
	return nil
}

// more shows what was added to a transcript.
func (l *logs) more(t *agents.TranscriptReader, n int) error {
	if l.o.Raw {
		lines, err := t.Lines()
		for _, line := range lines {
			_, _ = fmt.Fprintln(l.env.Stdout, line) // as with any other line
		}
		return err
	}
	entries, err := t.Entries()
	for _, e := range entries {
		if !l.o.JSON {
			l.printer.Print(n, e)
			continue
		}
		terminal.LogJSON(l.env.Stdout, struct {
			Attempt int `json:"attempt"`
			agents.Entry
		}{n, e})
	}
	return err
}

// How often a transcript that is followed is looked at.
const readEvery = 200 * time.Millisecond

// follow shows the newest transcript and those that come after it, also several at once, until the run ends or waits for
// a person.
func (l *logs) follow(ctx context.Context, r *workspace.Recorded) error {
	readers := map[int]*agents.TranscriptReader{} // by attempt
	defer func() {
		for _, t := range readers {
			_ = t.Close() // opened for reading
		}
	}()
	first, looked, over := -1, time.Time{}, false
	for {
		attempts, err := agents.KeptAttempts(l.dir)
		if err != nil {
			return err
		}
		if first < 0 {
			first = append([]int{0}, attempts...)[len(attempts)]
		}
		for _, n := range attempts {
			if n >= first && readers[n] == nil {
				t, err := agents.OpenTranscript(l.dir, n)
				if errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					return err
				}
				readers[n] = t
			}
			if t := readers[n]; t != nil {
				if err := l.more(t, n); err != nil {
					return err
				}
			}
		}
		if over {
			return nil
		}
		if now := l.env.Now(); now.Sub(looked) >= lookEvery {
			looked = now
			if r, over = l.look(ctx, r); over {
				continue // what was written meanwhile
			}
		}
		if err := l.env.Rest(ctx, readEvery); err != nil {
			return err
		}
	}
}

// look gives the run as it is now, tells how checks have ended since it was looked at last, and says whether nothing
// more is to come: the run has ended or waits.
func (l *logs) look(ctx context.Context, r *workspace.Recorded) (now *workspace.Recorded, over bool) {
	quiet := l.env
	quiet.Stderr = io.Discard // what there is to say was said at the first look
	now, err := workspace.LookAt(ctx, quiet, r.Source, r.Run.IssueNumber)
	if err != nil {
		return r, true
	}
	for i, a := range now.Run.Attempts {
		told := i < len(r.Run.Attempts) && r.Run.Attempts[i].Status != metadata.Started
		if a.Step == metadata.Check && a.Status != metadata.Started && !told && !l.o.Raw && !l.o.JSON {
			c := now.Catalogue()
			l.printer.Printer.Line("%s", text.Flat(text.Join(" ", a.Phase, c.Word("steps", string(a.Step)), c.Word("verdicts", string(a.Verdict)), a.Why.In(c))))
		}
	}
	return now, now.Run.Status != metadata.Running
}
