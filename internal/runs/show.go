package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// ShowList prints runs as a table, in which each line fits the terminal.
func ShowList(env environ.Env, all []Run) {
	o := terminal.ShowOptions(env)
	if len(all) == 0 {
		terminal.NewReport(env.Stdout, o).Line("There is no run in this repository; start one with: reprise run --issue-file FILE")
		return
	}
	showRuns(env.Stdout, o, env.Now(), all)
}

func showRuns(to io.Writer, o terminal.Options, now time.Time, all []Run) {
	out, narrow := terminal.NewReport(to, o), o.Width > 0 && o.Width < 70
	t := text.Table{Align: "lllrrll"}
	wide := func(cell string) string { return text.If(o.Width == 0 || o.Width >= 60, cell) }   // else there is no room for titles
	t.Add("issue", "status", "phase", "cost", wide("age"), text.If(!narrow, "where"), "title") // a column without words is left out
	for _, r := range all {
		moved, where := age(now.Sub(r.Updated)), cmp.Or(strings.Join(r.Where, ", "), "gone")
		if r.Branch == "" { // there is no run yet
			moved, where = "", ""
		}
		t.Add(text.Flat(r.Issue), text.Words(r.Status), text.Flat(text.Join(" ", r.Phase, wide(r.Step))), r.CostShort(), wide(moved), text.If(!narrow, where), text.Flat(r.Title))
	}
	out.Fitted(&t, func(i int, line string) string {
		if i == 0 {
			return out.Faint(line)
		}
		r := all[i-1]
		if line = out.Tinted(r.Status, line); r.Waits != "" {
			line += "\n    " + text.Cut(r.Waits, max(0, o.Width-4))
			if len(r.Next) > 0 {
				line += "\n    " + r.Next[0]
			}
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
			results = append(results, view.Result(phases.On(r.Plan, r.Run)))
		}
		return errors.Join(append(broken, text.PrintJSON(env.Stdout, map[string]any{"runs": results}))...)
	}
	ShowList(env, listed)
	out := terminal.NewReport(env.Stdout, terminal.ShowOptions(env))
	out.Line("")
	out.Line("One of them is shown with: reprise status --issue ID")
	return errors.Join(broken...)
}

// resultsMostOfTalk is how much of transcripts is kept, in bytes.
const resultsMostOfTalk = 32 << 20

// KeepResults leaves the result of a run in the folder that the job has for what its workflow may keep, if there is
// one, and with all also the page of the run and the transcripts. Only a result that cannot be written is an error.
// Warn is told of what else could not be kept: the run is none the worse for it.
func KeepResults(ctx context.Context, j *environ.Job, w *workspace.Workspace, result string, all bool, warn func(error)) error {
	dir, err := j.ResultsDir()
	if err != nil {
		warn(err)
	}
	if err != nil || dir == "" {
		return nil
	}
	if err := os.WriteFile(filepath.Join(dir, "result.json"), []byte(j.Known(result)+"\n"), 0o600); err != nil || !all {
		return err
	}
	page, err := Page(ctx, &w.Recorded)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "report.html"), []byte(j.Known(string(page))), 0o600)
	}
	if err != nil {
		warn(fmt.Errorf("keep the page of the run: %w", err))
	}
	if err := KeepTalk(j, w); err != nil {
		warn(err)
	}
	return nil
}

// KeepTalk leaves there the transcripts that this machine has of the run.
func KeepTalk(j *environ.Job, w *workspace.Workspace) error {
	dir, err := j.ResultsDir()
	if err != nil || dir == "" {
		return err
	}
	left, err := agents.CopyTranscripts(agents.TranscriptsFolder(filepath.Dir(w.Repo.Dir())), agents.TranscriptsFolder(dir), resultsMostOfTalk, j.Known)
	if err != nil {
		return fmt.Errorf("keep transcripts of the run: %w", err)
	}
	if left > 0 {
		return fmt.Errorf("%d files with transcripts of the run are not uploaded: a job keeps at most %d MiB of them, the newest first", left, resultsMostOfTalk>>20)
	}
	return nil
}

// History gives the history of a run for programs, with dollars as Rounded gives them.
func History(run metadata.Run) map[string]any {
	cost := run.Cost
	cost.USD = metadata.Rounded(cost.USD)
	attempts := slices.Clone(run.Attempts)
	for i := range attempts {
		attempts[i].Usage.USD = metadata.Rounded(attempts[i].Usage.USD)
	}
	return map[string]any{
		"issue": run.IssueNumber, "pipeline": run.Pipeline, "status": run.Status, "cost": cost,
		"attempts": text.List(attempts), "decisions": text.List(run.Decisions), "rollbacks": text.List(run.RollbackHistory),
		"questions": text.List(run.Questions), "approvals": text.List(run.Approvals), "tasks": text.List(run.Tasks), "children": text.List(run.Children),
	}
}

// Part is of what the change is asked for; the zero value is the whole run.
type Part struct {
	Phase   string
	Attempt int
}

// lacking says that a run has no such part.
func (p Part) lacking(run metadata.Run) error {
	switch {
	case p.Phase != "" && run.Phase(p.Phase) == nil:
		return exit.AsUsage(command.WithNearest(&phases.UnknownPhase{Phase: p.Phase, Known: run.Phases.Names()}))
	case p.Attempt != 0 && !slices.ContainsFunc(run.Attempts, func(a metadata.Attempt) bool { return a.N == p.Attempt }):
		return exit.Usagef("there is no attempt %d; the run of issue %s has %s: see reprise history", p.Attempt, run.IssueNumber, text.Plural(len(run.Attempts), "attempt"))
	}
	return nil
}

// Change gives what a run has changed besides its own folder, or all that a part of it has.
func Change(ctx context.Context, r *workspace.Recorded, part Part) (patches []git.CommitPatch, err error) {
	key, value := workspace.PhaseTrailer, part.Phase
	switch {
	case part.Phase != "" && part.Attempt != 0:
		return nil, exit.Usagef("--phase and --attempt each name a part of the run: give one of them")
	case part.lacking(r.Run) != nil:
		return nil, part.lacking(r.Run)
	case part.Attempt != 0:
		key, value = workspace.AttemptTrailer, strconv.Itoa(part.Attempt)
	}
	if value == "" {
		patches = make([]git.CommitPatch, 1)
		patches[0], err = r.Change(ctx)
	} else {
		patches, err = r.Patches(ctx, key)
		patches = slices.DeleteFunc(patches, func(p git.CommitPatch) bool { return p.Trailer != value || p.Text == "" })
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("the commits of the run are not in this repository; fetch them first: git fetch origin heads/%s", r.Run.BranchName)
	}
	return patches, err
}

// ShowChange prints patches as git does, with colours on a terminal.
func ShowChange(out terminal.Report, patches []git.CommitPatch) {
	for _, p := range patches {
		if p.Commit != "" {
			out.Line("%s", out.Yellow("commit "+p.Commit))
		}
		hunk := false // a line of it is one of a file
		for line := range strings.Lines(p.Text) {
			line = strings.TrimSuffix(line, "\n")
			switch hunk = strings.HasPrefix(line, "@@") || hunk && !strings.HasPrefix(line, "diff --git "); {
			case strings.HasPrefix(line, "@@"):
				line = out.Cyan(line)
			case !hunk:
				line = out.Bold(line)
			case strings.HasPrefix(line, "+"):
				line = out.Green(line)
			case strings.HasPrefix(line, "-"):
				line = out.Red(line)
			}
			_, _ = fmt.Fprintln(out.W, line) // with the spaces at its end
		}
		if p.Cut {
			out.Line("%s", out.Yellow("... the rest is left out: the change is larger than 32 MB"))
		}
	}
}
