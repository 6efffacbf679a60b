package runs

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/transcript"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// LogOptions say which transcripts of a run are shown, and how. Without a choice it is
// the newest one.
type LogOptions struct {
	Attempt  int
	Phase    string
	All      bool
	Follow   bool // also what is still to come, until the run ends or waits
	Raw      bool // as the programs printed it
	JSON     bool // an object on each line
	Prompts  bool // in full
	Requests bool // to models, instead of what was said
}

// Logs shows what agents have said and done in a run, as far as that was on this machine.
func Logs(ctx context.Context, env environ.Env, r *workspace.Recorded, o LogOptions) error {
	if count(o.Requests, o.Follow, o.Raw, o.JSON, o.Prompts) > 1 && o.Requests {
		return exit.Usagef("--requests goes with --attempt, --phase and --all alone")
	}
	if given := count(o.Attempt != 0, o.Phase != "", o.All); given > 1 || o.Follow && given > 0 {
		return exit.Usagef("--attempt, --phase, --all and --follow each say which transcripts are shown: give one of them")
	}
	root, err := workspace.Folder(env, r.Source, r.Issue.ID)
	if err != nil {
		return err
	}
	l := logs{env: env, o: o, dir: transcript.Folder(root)}
	l.printer = transcript.Printer{Prompts: o.Prompts}
	l.printer.Printer, l.printer.Width = terminal.NewReport(env.Stdout, terminal.ShowOptions(env)).Printer, terminal.ShowOptions(env).Width
	attempts, err := l.chosen()
	if err != nil {
		return err
	}
	if o.Follow {
		return l.follow(ctx, r, attempts)
	}
	if len(attempts) == 0 {
		return exit.Usagef("there is no such transcript of the run of issue %s on this machine: they stay where the run was at work, for 14 days", text.Flat(r.Run.IssueNumber))
	}
	for _, n := range attempts {
		if err := l.whole(n); err != nil {
			return err
		}
	}
	return nil
}

func count(all ...bool) (n int) {
	for _, b := range all {
		if b {
			n++
		}
	}
	return n
}

// logs shows transcripts.
type logs struct {
	env     environ.Env
	o       LogOptions
	dir     string
	printer transcript.Printer
}

// chosen lists the attempts that are asked for and have a transcript.
func (l logs) chosen() ([]int, error) {
	all, err := transcript.Attempts(l.dir)
	switch {
	case err != nil || l.o.All || len(all) == 0:
		return all, err
	case l.o.Attempt != 0:
		return slices.DeleteFunc(all, func(n int) bool { return n != l.o.Attempt }), nil
	case l.o.Phase == "":
		return all[len(all)-1:], nil
	}
	var of []int
	for _, n := range all {
		entries, err := transcript.ReadAll(l.dir, n)
		if err != nil {
			return nil, err
		}
		if len(entries) > 0 && entries[0].Call != nil && entries[0].Call.Phase == l.o.Phase {
			of = append(of, n)
		}
	}
	return of, nil
}

// whole shows a transcript from its beginning.
func (l logs) whole(n int) error {
	if l.o.Requests {
		return l.requests(n)
	}
	t, err := transcript.Open(l.dir, n)
	if err != nil {
		return err
	}
	defer t.Close()
	_, err = l.more(t, n)
	return err
}

// requests shows what models were asked in an attempt, and what they answered.
func (l logs) requests(n int) error {
	in, err := transcript.Requests(l.dir, n)
	if errors.Is(err, fs.ErrNotExist) {
		l.printer.Line("#%d: no request to a model went through the gate", n)
		return nil
	}
	if err != nil {
		return err
	}
	defer in.Close()
	data, err := io.ReadAll(in) // the gate has a limit for it
	l.printer.Line("%s", text.Visible(string(data)))
	return err
}

// more shows what was added to a transcript, and says whether that was anything.
func (l logs) more(t *transcript.Reader, n int) (bool, error) {
	if l.o.Raw {
		lines, err := t.Lines()
		for _, line := range lines {
			_, _ = fmt.Fprintln(l.env.Stdout, line) // as with any other line
		}
		return len(lines) > 0, err
	}
	entries, err := t.Entries()
	for _, e := range entries {
		if !l.o.JSON {
			l.printer.Print(e)
			continue
		}
		terminal.LogJSON(l.env.Stdout, struct {
			Attempt int `json:"attempt"`
			transcript.Entry
		}{n, e})
	}
	return len(entries) > 0, err
}

// How often a transcript that is followed is looked at.
const readEvery = 200 * time.Millisecond

// follow shows the newest transcript and those that come after it, until the run ends or
// waits for a person.
func (l logs) follow(ctx context.Context, r *workspace.Recorded, attempts []int) error {
	wait := l.env.Wait
	if wait == nil {
		wait = environ.Sleep
	}
	var t *transcript.Reader
	defer func() {
		if t != nil {
			_ = t.Close() // opened for reading
		}
	}()
	at, looked := 0, time.Time{}
	if len(attempts) > 0 {
		at = attempts[0] - 1
	}
	for over := false; ; {
		added := false
		if t != nil {
			var err error
			if added, err = l.more(t, at); err != nil {
				return err
			}
		}
		next, err := l.after(at)
		switch {
		case err != nil:
			return err
		case next != 0 && !added:
			if t != nil {
				_ = t.Close() // opened for reading
			}
			if t, err = transcript.Open(l.dir, next); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
			at = next
			continue
		case over && !added:
			return nil
		}
		if now := l.env.Now(); now.Sub(looked) >= lookEvery {
			looked, over = now, l.over(ctx, r)
			if over {
				continue // what was written meanwhile
			}
		}
		if err := wait(ctx, readEvery); err != nil {
			return err
		}
	}
}

// after gives the first attempt after another that has a transcript, or 0.
func (l logs) after(n int) (int, error) {
	all, err := transcript.Attempts(l.dir)
	if i := slices.IndexFunc(all, func(m int) bool { return m > n }); i >= 0 {
		return all[i], err
	}
	return 0, err
}

// over reports whether nothing more is to come: the run has ended or waits.
func (l logs) over(ctx context.Context, r *workspace.Recorded) bool {
	quiet := l.env
	quiet.Stderr = io.Discard // what there is to say was said at the first look
	now, err := workspace.LookAt(ctx, quiet, r.Source, r.Run.IssueNumber)
	return err != nil || now.Run.Status != metadata.Running
}
