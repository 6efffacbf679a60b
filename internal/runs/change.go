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

// Part is of what the change is asked for; the zero value is the whole run.
type Part struct {
	Phase   string
	Attempt int
}

// Change gives what a run has changed besides its own folder, or all that a part of it has.
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

// inHunk says whether a line of a patch is one of a file, given whether the one before it is.
func inHunk(line string, before bool) bool {
	return strings.HasPrefix(line, "@@") || before && !strings.HasPrefix(line, "diff --git ")
}
