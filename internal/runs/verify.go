package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// verified is what git has of a run, held against the statement on it.
type verified struct {
	Issue  string   `json:"issue"`
	Commit string   `json:"commit"` // whose work that of the run has to be
	Record string   `json:"record"` // the commit with the newest record
	Holds  bool     `json:"holds"`
	Wrong  []string `json:"wrong"`
}

// Verify holds what git has of the run of an issue against the statement on it, and says what it found. No name: that
// of the run's branch. No id: that of the newest commit of a run in the history of what is named, else the run at hand.
func Verify(ctx context.Context, env environ.Env, src *git.Source, name, id string, asJSON bool) (err error) {
	if name == "" && id == "" {
		if id, err = workspace.CurrentRun(ctx, env, src); err != nil {
			return err
		}
	}
	names := []string{workspace.BranchesHere + name, name, workspace.BranchesAfar + name}
	if name == "" {
		names = recordsOf(env, id)
	}
	v, found := verified{}, ""
	for _, n := range names {
		if v.Commit, found, err = src.CommitOf(ctx, n); !errors.Is(err, fs.ErrNotExist) {
			break
		}
	}
	v.Issue = cmp.Or(id, found)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return exit.Usagef("there is no %s in this repository; fetch it first: git fetch origin", cmp.Or(name, "run of issue "+id))
	case err == nil && metadata.CheckID(v.Issue) != nil:
		return exit.Usagef("no commit of %s is that of a run; name the issue of one with --issue ID", name)
	case err == nil:
		err = v.compare(ctx, env, src)
	}
	switch {
	case err != nil:
	case asJSON:
		err = text.PrintJSON(env.Stdout, v)
	default:
		v.show(env)
	}
	if err == nil && !v.Holds {
		return exit.Code(exit.Failed)
	}
	return err
}

// recordsOf are the refs that may have the record of a run.
func recordsOf(env environ.Env, id string) []string {
	return []string{workspace.BranchesHere + env.Branch(id), workspace.BranchesAfar + env.Branch(id), workspace.KeptRef(id)}
}

// compare fills in what was changed, by the first record whose history is whole: what was squashed has none.
func (v *verified) compare(ctx context.Context, env environ.Env, src *git.Source) (err error) {
	folder := phases.Folder(v.Issue)
	for _, ref := range append([]string{v.Commit}, recordsOf(env, v.Issue)...) {
		record, wrong := src.Shelf(ctx, ref, folder)
		if wrong == nil {
			wrong = v.against(ctx, src, record, folder)
		}
		if !errors.Is(wrong, fs.ErrNotExist) && !errors.Is(wrong, metadata.ErrCut) {
			return wrong
		}
		if err == nil || errors.Is(wrong, metadata.ErrCut) {
			err = wrong
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return exit.Usagef("the record of the run of issue %s is not in this repository; fetch it first: git fetch origin '+%[2]s*:%[2]s*'", v.Issue, git.KeptRefs)
	}
	return err
}

// against fills in what was changed of the record at a commit, and of the work.
func (v *verified) against(ctx context.Context, src *git.Source, record, folder string) error {
	trail, work, err := src.Trail(ctx, record, v.Commit, folder)
	if err != nil {
		return err
	}
	v.Record = trail.Commits[len(trail.Commits)-1]
	stated, err := src.ReadFile(ctx, v.Record, folder+"/"+metadata.StatementFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	v.Wrong, err = trail.Verify(stated)
	if stated == nil {
		v.Wrong = append(v.Wrong, "there is no statement: the run is not completed, an older reprise completed it, or somebody took it away; its record was checked alone")
	}
	if work != trail.Work {
		v.Wrong = append(v.Wrong, fmt.Sprintf("the work of commit %s is tree %s, and that of the run %s: see git log %[4]s...%[1]s", v.Commit, work, trail.Work, v.Record))
	}
	v.Wrong, v.Holds = text.List(v.Wrong), len(v.Wrong) == 0
	return err
}

func (v *verified) show(env environ.Env) {
	out, of := terminal.NewReport(env.Stdout, terminal.ShowOptions(env)), "the run of issue "+text.Flat(v.Issue)
	if v.Holds {
		out.Line("The statement on %s holds: record, history and work are as it says.", of)
	} else {
		out.Line("What is recorded of %s does not hold:", of)
	}
	for _, what := range v.Wrong {
		out.Line("  %s", text.Flat(what))
	}
}
