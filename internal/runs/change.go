package runs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Part says of which part of a run the change is asked for. The zero value is the
// whole run.
type Part struct {
	Phase   string
	Attempt int
}

// Change gives what a run has changed besides its own folder, or what the commits of
// a phase or an attempt have changed, artifacts included.
func Change(ctx context.Context, r *workspace.Recorded, part Part) ([]git.CommitPatch, error) {
	patches, err := change(ctx, r, part)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("the commits of the run are not in this repository; fetch them first: git fetch origin %s", r.Run.BranchName)
	}
	return patches, err
}

func change(ctx context.Context, r *workspace.Recorded, part Part) ([]git.CommitPatch, error) {
	key, value := workspace.PhaseTrailer, part.Phase
	switch {
	case part.Phase != "" && part.Attempt != 0:
		return nil, exit.Usagef("--phase and --attempt each name a part of the run: give one of them")
	case part.Phase != "" && r.Run.Phase(part.Phase) == nil:
		return nil, exit.AsUsage(command.WithNearest(&phases.UnknownPhase{Phase: part.Phase, Known: names(r.Run)}))
	case part.Attempt != 0 && !slices.ContainsFunc(r.Run.Attempts, func(a metadata.Attempt) bool { return a.N == part.Attempt }):
		return nil, exit.Usagef("there is no attempt %d; the run of issue %s has %s: see reprise history", part.Attempt, r.Run.IssueNumber, text.Plural(len(r.Run.Attempts), "attempt"))
	case part.Attempt != 0:
		key, value = workspace.AttemptTrailer, strconv.Itoa(part.Attempt)
	case part.Phase == "":
		whole, err := r.Change(ctx)
		return []git.CommitPatch{whole}, err
	}
	patches, err := r.Patches(ctx, key)
	return slices.DeleteFunc(patches, func(p git.CommitPatch) bool { return p.Trailer != value || p.Text == "" }), err
}

func names(run metadata.Run) (all []string) {
	for _, p := range run.Phases {
		all = append(all, p.Name)
	}
	return all
}

// ShowChange prints patches as git does, with colours on a terminal.
func ShowChange(out terminal.Report, patches []git.CommitPatch) {
	for _, p := range patches {
		if p.Commit != "" {
			out.Line("%s", out.Yellow("commit "+p.Commit))
		}
		hunk := false
		for line := range strings.Lines(p.Text) {
			line = strings.TrimSuffix(line, "\n")
			switch hunk = inHunk(line, hunk); {
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

// inHunk says whether a line of a patch belongs to a hunk, given whether the one
// before it does. Only there it is a line of a file.
func inHunk(line string, before bool) bool {
	return strings.HasPrefix(line, "@@") || before && !strings.HasPrefix(line, "diff --git ")
}

// FileChange is how much of a file was changed.
type FileChange struct {
	File    string `json:"file"`
	Added   int    `json:"added"`   // lines
	Deleted int    `json:"deleted"` // lines
	Binary  bool   `json:"binary,omitempty"`
}

// Stat counts what patches change, by file in the order in which they come.
func Stat(patches []git.CommitPatch) []FileChange {
	all, at := []FileChange{}, map[string]int{}
	for _, p := range patches {
		now, hunk := -1, false
		for line := range strings.Lines(p.Text) {
			line = strings.TrimSuffix(line, "\n")
			hunk = inHunk(line, hunk)
			if name, is := strings.CutPrefix(line, "diff --git "); is {
				name, now = newName(name), len(all)
				if before, is := at[name]; is {
					now = before
				} else {
					at[name], all = now, append(all, FileChange{File: name})
				}
			}
			if now < 0 {
				continue
			}
			switch {
			case !hunk && strings.HasPrefix(line, "Binary files "):
				all[now].Binary = true
			case hunk && strings.HasPrefix(line, "+"):
				all[now].Added++
			case hunk && strings.HasPrefix(line, "-"):
				all[now].Deleted++
			}
		}
	}
	return all
}

// newName reads the name of a file after a change out of "a/OLD b/NEW". Where a name
// has " b/" in it both are the same, unless the file was renamed.
func newName(names string) string {
	if half := len(names) / 2; len(names)%2 == 1 && names[half] == ' ' {
		if a, b := strings.Trim(names[:half], `"`), strings.Trim(names[half+1:], `"`); strings.TrimPrefix(a, "a/") == strings.TrimPrefix(b, "b/") {
			return strings.TrimPrefix(b, "b/")
		}
	}
	if i := strings.LastIndex(names, " b/"); i >= 0 {
		return names[i+len(" b/"):]
	}
	if i := strings.LastIndex(names, ` "b/`); i >= 0 {
		return strings.TrimSuffix(names[i+len(` "b/`):], `"`)
	}
	return names
}

// ShowStat prints how much of each file was changed.
func ShowStat(out terminal.Report, all []FileChange) {
	t, added, deleted := text.Table{Align: "rrl"}, 0, 0
	for _, c := range all {
		if c.Binary {
			t.Add("", "binary", text.Flat(c.File))
			continue
		}
		t.Add("+"+strconv.Itoa(c.Added), "-"+strconv.Itoa(c.Deleted), text.Flat(c.File))
		added, deleted = added+c.Added, deleted+c.Deleted
	}
	out.Fitted(&t, nil)
	out.Line("%s, +%d -%d", text.Plural(len(all), "file"), added, deleted)
}
